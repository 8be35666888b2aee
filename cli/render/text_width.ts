/**
 * The width of text on a terminal, in columns.
 *
 * @module
 */

/** Characters of two columns: East Asian wide characters and emoji. */
const WIDE =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\u33ff\u3400-\u4dbf\u4e00-\u9fff\ua000-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{20000}-\u{3fffd}]|\p{Emoji_Presentation}|\p{Extended_Pictographic}\ufe0f/u;

/** Whether a character takes two columns. */
export function isWide(character: string): boolean {
  return character > "\u10ff" && WIDE.test(character);
}

let graphemes: Intl.Segmenter | undefined;

/** Returns the number of columns that a text without line breaks takes. */
export function getTextWidth(text: string): number {
  const isAscii = /^[ -~]*$/.test(text);
  if (isAscii) return text.length;
  return measureGraphemes(text).reduce((sum, [, width]) => sum + width, 0);
}

/** Truncates a text to a number of columns. A truncated text ends with `…`; with less than one column it is empty. */
export function truncateToWidth(text: string, columns: number): string {
  if (getTextWidth(text) <= columns) return text;
  let truncated = "";
  let available = columns - 1;
  for (const [grapheme, width] of measureGraphemes(text)) {
    available -= width;
    if (available < 0) break;
    truncated += grapheme;
  }
  return columns < 1 ? "" : `${truncated}…`;
}

function measureGraphemes(text: string): (readonly [grapheme: string, width: number])[] {
  graphemes ??= new Intl.Segmenter();
  return Array.from(
    graphemes.segment(text),
    ({ segment }) => [segment, getGraphemeWidth(segment)] as const,
  );
}

function getGraphemeWidth(grapheme: string): number {
  if (WIDE.test(grapheme)) return 2;
  return /^[\p{Mn}\p{Me}\p{Cf}]+$/u.test(grapheme) ? 0 : 1;
}
