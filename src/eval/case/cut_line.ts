/**
 * Lines that a killed process or a full disk has left incomplete.
 *
 * @module
 */

/** Whether a text is the start of a line with a known start. Other programs can have files with other lines. */
export function isCutLine(text: string, lineStart: string): boolean {
  return text !== "" && (text.startsWith(lineStart) || lineStart.startsWith(text));
}
