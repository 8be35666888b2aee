/**
 * The handles that this process has given to tools.
 *
 * @module
 */

/** All handles of runs. In a module of its own, so that options are checked without the code of runs. */
export const knownRuns: WeakSet<object> = new WeakSet();
