/**
 * Escapes texts for HTML.
 *
 * @module
 */

const ENTITIES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

/** Escapes a text for HTML, and replaces the control characters that HTML does not allow. */
export function escapeHtml(text: string): string {
  return text.toWellFormed()
    .replaceAll(/(?![\t\n\r])\p{Cc}/gu, "\ufffd")
    .replaceAll(/[&<>"']/g, (character) => ENTITIES[character] ?? character);
}
