/**
 * The version of the program.
 *
 * @module
 */

/** Version of `swink` and of the library, the same as in `deno.json`. */
export const VERSION = "0.1.0";
