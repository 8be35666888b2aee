/**
 * A pause in which other tasks run.
 *
 * @module
 */

// The timer of the runtime, also while a test replaces timers by those of a fake clock: the pause measures no time, and a test
// that advances its clock for a deletion by age would otherwise wait for itself.
const startTimer = globalThis.setTimeout;

/** Resolves when timers, streams and other events of the program that are due have been handled. */
export async function runOtherTasks(): Promise<void> {
  await new Promise<void>((resolve) => {
    startTimer(resolve, 0);
  });
}
