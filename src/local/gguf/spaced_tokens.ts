/**
 * Texts of tokens with a space before a punctuation mark.
 *
 * llama.cpp removes that space from the text of a token for vocabularies such as those of Llama 3, which would make
 * `git add .` to `git add.`: https://github.com/ggml-org/llama.cpp/blob/master/src/llama-vocab.cpp (`clean_spaces`)
 *
 * @module
 */

/** A space before a mark, in an entry of a vocabulary. Those of GPT-2 have one character for each byte, and `Ġ` for a space. */
const SPACED = /[Ġ ][?!.,']/;

/** Returns the text of an entry of a vocabulary of GPT-2 that has such a space; `undefined` for any other entry. */
export function decodeSpacedToken(entry: string): string | undefined {
  if (!SPACED.test(entry)) return undefined;
  // Entries that were added to the vocabulary are texts.
  if (entry.includes(" ")) return entry;
  const bytes = Array.from(entry, (character) => BYTES.get(character));
  if (!bytes.every((byte) => byte !== undefined)) return undefined;
  const text = new TextDecoder().decode(Uint8Array.from(bytes));
  return text.includes("\ufffd") ? undefined : text;
}

/** The byte of each character: itself if it is visible in Latin-1, else one of the next 68 characters, in order. */
const BYTES: ReadonlyMap<string, number> = createBytes();

function createBytes(): Map<string, number> {
  const bytes = new Map<string, number>();
  let hidden = 0;
  for (let byte = 0; byte < 256; byte++) {
    const isVisible = byte > 32 && byte < 127 || byte > 160 && byte !== 173;
    bytes.set(String.fromCharCode(isVisible ? byte : 256 + hidden++), byte);
  }
  return bytes;
}
