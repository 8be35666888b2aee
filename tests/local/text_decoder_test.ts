/**
 * The texts of tokens, compared with those of llama.cpp.
 */

import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import type { LlamaModel } from "../../src/local/llama/llama_runtime.ts";
import { TokenTextDecoder } from "../../src/local/llama/text_decoder.ts";
import { TokenTexts } from "../../src/local/llama/token_texts.ts";
import { llama, writeTinyModel } from "./tiny_models.ts";

const ignore = llama === undefined;

/** Words whose spaces llama.cpp removes from a text, and parts of characters. */
const WORDS = [
  " .",
  " '",
  "'s",
  " 's",
  "n't",
  "Ġ.",
  "Ġ!",
  "ĠĠ,",
  "Ã",
  "©",
  "ð",
  "Ł",
  "Ļ",
  "Ĥ",
  "é",
];

async function withModel(use: (model: LlamaModel) => void | Promise<void>): Promise<void> {
  assert(llama);
  const directory = await Deno.makeTempDir();
  const path = `${directory}/tiny.gguf`;
  await writeTinyModel(path, { scripts: [["<|words|>", ...WORDS, "<|im_end|>"]] });
  const instance = await llama.getLlama({ gpu: false, build: "never", logLevel: "error" });
  const model = await instance.loadModel({ modelPath: path });
  try {
    await use(model);
  } finally {
    await instance.dispose();
    await Deno.remove(directory, { recursive: true });
  }
}

Deno.test({
  name: "TokenTextDecoder: decodes tokens one by one as llama.cpp decodes all of them",
  ignore,
}, async () => {
  await withModel((model) => {
    const texts = new TokenTexts(model, new Map());
    const uncached = { get: () => undefined };
    const decode = (tokens: readonly number[], cache: Pick<TokenTexts, "get">) => {
      const decoder = new TokenTextDecoder(model, cache);
      return [...tokens.map((token) => decoder.decode(token)), decoder.end()];
    };
    // The last entry of the vocabulary.
    const [max = 0] = model.tokenize("<|im_end|>", true);
    const token = fc.oneof(fc.integer({ min: 0, max }), fc.constantFrom(46, 32, 83, 260, 262));
    fc.assert(
      fc.property(fc.array(token, { maxLength: 40 }), (tokens) => {
        assertEquals(decode(tokens, texts), decode(tokens, uncached));
      }),
      { numRuns: 500 },
    );
    const text = "Ein Wort, zwei Wörter 🙂 – and x = a && b;\n\tdone";
    const tokens = model.tokenize(text);
    const long = Array.from({ length: 20 }, () => tokens).flat();
    assertEquals(decode(long, texts), decode(long, uncached));
    assertEquals(decode(tokens, texts).join(""), model.detokenize(tokens, true));
  });
});

Deno.test({ name: "TokenTexts: asks llama.cpp once for each token", ignore }, async () => {
  await withModel((model) => {
    let calls = 0;
    const texts = new TokenTexts({
      tokenize: (text) => model.tokenize(text),
      detokenize: (...values) => (calls++, model.detokenize(...values)),
      isEogToken: (token) => (calls++, model.isEogToken(token)),
    }, new Map([[0, " ?"]]));
    assertEquals(texts.get(0), " ?");
    const [token = 0] = model.tokenize("x");
    for (let round = 0; round < 3; round++) {
      assertEquals([texts.get(token), texts.isEnd(token)], ["x", false]);
    }
    assertEquals(calls, 2);
    const [part = 0] = model.tokenize("é");
    assertEquals(texts.get(part), undefined);
    const [end = 0] = model.tokenize("<|im_end|>", true);
    assertEquals(texts.isEnd(end), true);
  });
});
