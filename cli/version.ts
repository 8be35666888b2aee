/**
 * The version of the program.
 *
 * @module
 */

/** The version of `swink` and of the library, as in `deno.json`. */
export const VERSION = "0.1.0";
