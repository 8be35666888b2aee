/**
 * The reason why a file cannot be used.
 *
 * @module
 */

import { getErrorMessage } from "../../src/core/errors/errors.ts";

/**
 * Returns the reason in the words of the operating system: `No such file or directory`. The runtime adds the number of the
 * error, its own function and the path, which the messages of the program name already.
 */
export function getFileProblem(error: unknown): string {
  return getErrorMessage(error)
    .replace(/\(([^()]*) \(os error \d+\): .*\)$/s, "($1)")
    .replace(/ \(os error \d+\)(?:: .*)$/s, "")
    .replaceAll(/ \(os error \d+\)/g, "");
}
