import { assertEquals } from "@std/assert";
import fc from "fast-check";
import { PromptTokens, type Tokenizer } from "./prompt_tokens.ts";

/** Splits texts into these special tokens, the longest first, and into characters. */
function createTokenizer(special: readonly string[]): Tokenizer & { calls: number } {
  const isAt = (text: string, index: number) => (token: string) => text.startsWith(token, index);
  return {
    calls: 0,
    tokenize(text) {
      this.calls++;
      if (text.length > 1_000_000) return [];
      const tokens: number[] = [];
      for (let index = 0; index < text.length;) {
        const found = special.findIndex(isAt(text, index));
        tokens.push(found >= 0 ? -1 - found : text.charCodeAt(index));
        index += special[found]?.length ?? 1;
      }
      return tokens;
    },
    detokenize: (tokens) =>
      tokens.map((token) => special[-1 - token] ?? String.fromCharCode(token)).join(""),
    isSpecialToken: (token) => token !== undefined && token < 0,
  };
}

function countSpecial(tokens: readonly number[]): number {
  return tokens.filter((token) => token < 0).length;
}

Deno.test("PromptTokens: no text contains special tokens, also where others were divided", () => {
  const special = ["<|end|>", "<|start|>", "|><|", "end|>", "[A]", "]["];
  const piece = fc.constantFrom(
    "<|",
    "|>",
    "end",
    "start",
    "[",
    "A",
    "]",
    "<",
    ">",
    "|",
    "\u{10fffe}",
  );
  fc.assert(fc.property(fc.array(piece), (parts) => {
    const tokens = new PromptTokens(createTokenizer(special));
    const text = parts.join("");
    const prompt = tokens.protect(text);
    assertEquals(countSpecial(tokens.tokenize(prompt, true)), 0, text);
    // Nothing but the separator changes the text.
    assertEquals(prompt.replaceAll("\u{10fffe}", ""), text.replaceAll("\u{10fffe}", ""));
  }));
});

Deno.test("PromptTokens: searches long texts in parts, and finds special tokens where parts meet", () => {
  const tokenizer = createTokenizer(["<|start_of_a_message|>", "<|end|>"]);
  let longest = 0;
  const tokens = new PromptTokens({
    ...tokenizer,
    tokenize: (text) => {
      longest = Math.max(longest, text.length);
      return tokenizer.tokenize(text);
    },
  });
  for (let index = 1_700; index < 2_100; index++) {
    const text = `${"x".repeat(index)}<|start_of_a_message|>`.padEnd(6_000, "y");
    const parts = tokens.protect(text).split("\u{10fffe}");
    assertEquals(parts.map((part) => part.length), [index + 1, 5_999 - index]);
  }
  tokens.protect("<|end|>".repeat(10_000));
  assertEquals(longest, 2_048);
});

Deno.test("PromptTokens: keeps protected texts, up to a number of characters", () => {
  const tokenizer = createTokenizer(["<|end|>"]);
  const tokens = new PromptTokens(tokenizer);
  tokens.protect("a <|end|>");
  const { calls } = tokenizer;
  tokens.protect("a <|end|>");
  assertEquals(tokenizer.calls, calls);
  for (let index = 0; index < 3; index++) tokens.protect(`${index}<${"x".repeat(2_000_000)}`);
  const before = tokenizer.calls;
  tokens.protect("a <|end|>");
  assertEquals(tokenizer.calls > before, true);
});
