/**
 * Texts of columns. Postgres refuses NUL characters, and lone surrogates have no bytes in UTF-8.
 *
 * @module
 */

const ESCAPED =
  /[\0\u001a]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;
const ESCAPE = /\u001a([0-9a-f]{4})/g;

/** Encodes a text for a column: characters that a column cannot have become the character SUB and a number. */
export function encodeText(text: string): string {
  return text.replace(ESCAPED, (character) => {
    const code = character.charCodeAt(0).toString(16).padStart(4, "0");
    return `\u001a${code}`;
  });
}

/** Decodes the text of a column. */
export function decodeText(text: string): string {
  return text.replace(ESCAPE, (_escape, code) => String.fromCharCode(parseInt(code, 16)));
}
