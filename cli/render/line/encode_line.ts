/**
 * Encoding of lines for a terminal: the only place that adds escape sequences.
 *
 * @module
 */

import { formatCodePoint } from "../code_point.ts";
import { getLookCode } from "../theme/color_code.ts";
import type { Display } from "../theme/display.ts";
import { ASCII_SYMBOLS } from "../theme/get_display.ts";
import type { Line, Span } from "./line.ts";

/** Matches characters that terminals interpret, and controls of the direction of text. */
const CONTROL =
  // deno-lint-ignore no-control-regex -- matches control characters
  /[\u0000-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g;

/** Matches addresses that cannot end the sequence of a link. */
const LINK = /^[!-~]{1,2000}$/;

/** Characters of the program that a terminal without Unicode shows as several others, with those that replace them. */
const REPLACEMENTS: Readonly<Record<string, string>> = {
  "·": "-",
  "…": "~",
  "›": ">",
  "‹": "<",
  "•": "*",
  "–": "-",
  "—": "-",
  "“": '"',
  "”": '"',
  "’": "'",
};

const REPLACED = new RegExp(`[${Object.keys(REPLACEMENTS).join("")}]`, "g");

/** Encodes a line, without a line feed. */
export type EncodeLine = (line: Line) => string;

/**
 * Creates the function that encodes lines for a display. Each line ends in the state of its beginning. Control
 * characters in the text become code points such as `<U+001B>`, which renderers have already replaced.
 */
export function createEncoder(
  { theme, colors, hasLinks, symbols, isPlain }: Display,
): EncodeLine {
  const codes = new Map<string, string>();
  const lacksUnicode = !isPlain && symbols === ASCII_SYMBOLS;

  function getCode({ role = "text", ground, bold, dim, italic, underline, strike }: Span): string {
    const flags = `${role}/${ground}/${bold}/${dim}/${italic}/${underline}/${strike}`;
    const cached = codes.get(flags);
    if (cached !== undefined) return cached;
    const style = Object.entries({ bold, dim, italic, underline, strike })
      .filter(([, value]) => value !== undefined);
    const background = ground && theme.looks[ground].background;
    const code = getLookCode({
      ...(background && { background }),
      ...theme.looks[role],
      ...Object.fromEntries(style),
    }, colors);
    codes.set(flags, code);
    return code;
  }

  function encodeSpan(span: Span): string {
    const safe = span.text.replace(CONTROL, formatCodePoint);
    const text = lacksUnicode
      ? safe.replace(REPLACED, (character) => REPLACEMENTS[character] ?? "?")
      : safe;
    const code = getCode(span);
    const painted = code === "" || text === "" ? text : `\u001b[${code}m${text}\u001b[0m`;
    if (!hasLinks || colors === "none" || !span.link || !LINK.test(span.link)) return painted;
    return `\u001b]8;;${span.link}\u001b\\${painted}\u001b]8;;\u001b\\`;
  }

  return (line) => {
    let encoded = "";
    for (const span of line) encoded += encodeSpan(span);
    return colors === "none" ? encoded.trimEnd() : encoded;
  };
}
