/**
 * Lines of JSON that every client can parse.
 *
 * @module
 */

const BACKSLASH = 0x5c;
const U = 0x75;
const D = 0x64;

/**
 * Returns an output whose lines have U+FFFD instead of lone surrogates. A model may write half of a character, which
 * `JSON.stringify()` escapes; parsers in other languages refuse the whole line, so that a request would get no answer.
 */
export function toWellFormedOutput(
  output: WritableStream<Uint8Array>,
): WritableStream<Uint8Array> {
  const writer = output.getWriter();
  return new WritableStream({
    write: (line) => writer.write(replaceSurrogates(line)),
    close: () => writer.close(),
    abort: (reason) => writer.abort(reason),
  });
}

/** Replaces the escapes of surrogates, of which `JSON.stringify()` escapes only lone ones. */
function replaceSurrogates(line: Uint8Array): Uint8Array {
  if (!mayHaveEscape(line)) return line;
  const text = new TextDecoder().decode(line);
  // An escaped backslash is read as a whole: the text behind it is no escape.
  const replaced = text.replace(
    /\\(?:(ud[89a-f][0-9a-f]{2})|.)/g,
    (escape, surrogate) => surrogate === undefined ? escape : "\\ufffd",
  );
  return new TextEncoder().encode(replaced);
}

function mayHaveEscape(line: Uint8Array): boolean {
  for (let at = line.indexOf(BACKSLASH); at >= 0; at = line.indexOf(BACKSLASH, at + 1)) {
    if (line[at + 1] === U && line[at + 2] === D) return true;
  }
  return false;
}
