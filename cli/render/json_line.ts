/**
 * JSON as lines for programs.
 *
 * @module
 */

/** Serializes a value as a line. Escapes DEL and the C1 controls too, which JSON allows and terminals interpret. */
export function toJsonLine(value: unknown): string {
  return `${escapeControls(JSON.stringify(value))}\n`;
}

/** Escapes the control characters of JSON that `JSON.stringify()` leaves unchanged. */
export function escapeControls(json: string): string {
  return json.replace(
    /[\u007f-\u009f]/g,
    (control) => `\\u${control.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}
