/**
 * The arguments of the helper process that confines a command. They are not in its module, so that programs can start it
 * without loading its code.
 *
 * @module
 */

/** First argument that makes a compiled program run as the helper. */
export const HELPER_ARGUMENT = "--swink-confined-exec";

/** Argument that makes the helper print what the kernel supports and exit. */
export const PROBE_ARGUMENT = "--probe";

/** Argument that makes the helper, in a user namespace, report whether it can mount, and exit. */
export const PROBE_MOUNTS_ARGUMENT = "--probe-mounts";

/** Argument that makes the helper pass its standard streams on; the request then begins with a line with its length. */
export const PIPED_ARGUMENT = "--piped";
