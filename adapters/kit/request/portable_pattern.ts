/**
 * Patterns in schemas that the regular expressions of all providers support.
 *
 * OpenAI checks the patterns of tools with those of Python, Google with RE2 and others with those of Rust. A request with
 * another pattern fails with all of its tools: "'^[\p{L}\p{N}_.-]+$' is not a 'regex'".
 *
 * @module
 */

/** Matches the escapes that all of them have; those of several characters are in a group. */
const ESCAPES = /\\(?:([dDsSwW])|[bBfnrtv]|x[\dA-Fa-f]{2}|u[\dA-Fa-f]{4}|[^\dA-Za-z])/g;

/** Stands in for an escape of several characters. */
const SET = "\u00a7";

/**
 * Matches what is not portable in a pattern whose escapes are replaced: other escapes, such as references to groups and
 * properties of characters; look-around and named groups; in a class, no character, an open bracket, and a range with an
 * end that is several characters, as in the usual pattern of e-mail addresses, `[\w-.]+`.
 */
const NOT_PORTABLE = new RegExp(
  String.raw`\\|\(\?[=!<]|\[\^?\]|\[\^?[^\]]*(?:\[(?!:)|${SET}-[^\]]|[^[^]-${SET})`,
);

/** Whether the regular expressions of all providers support a pattern. */
export function isPortablePattern(pattern: string): boolean {
  return !NOT_PORTABLE.test(
    pattern.replace(ESCAPES, (_escape, set: string | undefined) => set ? SET : "x"),
  );
}
