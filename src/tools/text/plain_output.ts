/**
 * The output of a program as plain text: without colours and cursor movements, progress bars as their last state.
 *
 * @module
 */

const ESCAPE_SEQUENCES =
  // deno-lint-ignore no-control-regex -- escape sequences are what must be found
  /\u001b(?:\[[0-?]*[ -/]*[@-~]|[\]P^_][^\u0007\u001b]*(?:\u0007|\u001b\\)|[ -/]*[0-~])/g;

/** Everything but tab, newline and return. */
const CONTROL_CHARACTERS = /(?![\t\n\r])\p{Cc}/gu;

/** Takes everything out that is not text. */
export function toPlainOutput(text: string): string {
  return text
    .replace(ESCAPE_SEQUENCES, "")
    .replace(/\r+\n/g, "\n")
    .replace(/^[^\n]*\r(?=[^\n])/gm, "")
    .replace(CONTROL_CHARACTERS, "");
}
