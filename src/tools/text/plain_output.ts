/**
 * Converts terminal output to plain text.
 *
 * @module
 */

const ESCAPE_SEQUENCES =
  // deno-lint-ignore no-control-regex -- matches escape sequences
  /\u001b(?:\[[0-?]*[ -/]*[@-~]|[\]P^_][^\u0007\u001b]*(?:\u0007|\u001b\\)|[ -/]*[0-~])/g;

/** All control characters but tab, newline and carriage return. */
const CONTROL_CHARACTERS = /(?![\t\n\r])\p{Cc}/gu;

/** Removes escape sequences and control characters, and keeps the last state of lines that were overwritten. */
export function toPlainOutput(text: string): string {
  return text
    .replace(ESCAPE_SEQUENCES, "")
    .replace(/(?<!\r)\r+\n/g, "\n")
    .replace(/^[^\n]*\r(?=[^\n])/gm, "")
    .replace(CONTROL_CHARACTERS, "");
}
