import { assertEquals } from "@std/assert";
import { decodeSpacedToken } from "./spaced_tokens.ts";

Deno.test("decodeSpacedToken() returns the texts of tokens with a space before a mark", () => {
  const cases: readonly (readonly [entry: string, text: string | undefined])[] = [
    ["Ġ.", " ."],
    ["Ġ!=", " !="],
    ["ĠĠ,", "  ,"],
    ["Ġ?Ċ", " ?\n"],
    ["Ġ'Ã©", " 'é"],
    [" .", " ."],
    [" 's é", " 's é"],
    // No complete character, no character of the vocabulary, and no such space.
    ["Ġ.Ã", undefined],
    ["Ġ.中", undefined],
    ["Ġa", undefined],
    [".", undefined],
    ["", undefined],
  ];
  for (const [entry, text] of cases) assertEquals(decodeSpacedToken(entry), text, entry);
});
