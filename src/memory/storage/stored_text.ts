/**
 * Texts of columns of a database. Postgres refuses NUL characters, SQLite returns the text before them, and lone surrogates
 * have no bytes in UTF-8.
 *
 * @module
 */

/** Begins an escape; a character for private use. */
const ESCAPE = "\ue000";
const REFUSED = new RegExp(`[\0${ESCAPE}]`);
const LONE_SURROGATE = /\p{Cs}/gu;
const ESCAPED = new RegExp(`${ESCAPE}([0-9a-f]{4})`, "g");

/** Encodes a text for a column: a character that a column cannot have becomes an escape. */
export function encodeText(text: string): string {
  if (text.isWellFormed() && !REFUSED.test(text)) return text;
  return text.replaceAll(ESCAPE, escape).replaceAll("\0", escape).replace(LONE_SURROGATE, escape);
}

/** Decodes the text of a column. */
export function decodeText(text: string): string {
  return text.replace(ESCAPED, (_escape, code) => String.fromCharCode(parseInt(code, 16)));
}

function escape(character: string): string {
  return ESCAPE + character.charCodeAt(0).toString(16).padStart(4, "0");
}
