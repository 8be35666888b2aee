/**
 * Models for the tests, written to a temporary directory, and llama.cpp.
 *
 * @module
 */

import { type LlamaPackage, loadLlamaPackage } from "../../src/local/llama/llama_runtime.ts";
import { createTinyModel, type TinyModelOptions } from "./tiny_model.ts";

/**
 * The package `node-llama-cpp`; `undefined` where it is not installed or has no binary for this machine. It is only in the
 * configuration that `deno task test` creates for these tests; elsewhere, Deno would download it with all binaries.
 */
export const llama: LlamaPackage | undefined = await findLlama();

async function findLlama(): Promise<LlamaPackage | undefined> {
  try {
    import.meta.resolve("node-llama-cpp");
    const loaded = await loadLlamaPackage();
    const probe = await loaded.getLlama({ gpu: false, build: "never", logLevel: "error" });
    await probe.dispose();
    return loaded;
  } catch {
    return undefined;
  }
}

/** Scripts of the model: the first token is selected by the first word of a message, as in `!hello`. */
export const SCRIPTS: readonly (readonly string[])[] = [
  ["<|hello|>", "Hello", " wo", "rld", ", dear", " user", "<|im_end|>"],
  [
    "<|think|>",
    "<think>",
    "\nHmm",
    ", let me see",
    "\n",
    "</think>",
    "\n\n",
    "Done",
    " it",
    "<|im_end|>",
  ],
  [
    "<|weather|>",
    "<tool_call>",
    '\n{"name": ',
    '"weather"',
    ', "arguments": ',
    '{"city": ',
    '"Oslo"',
    "}}\n",
    "</tool_call>",
    "<|im_end|>",
  ],
  ["<|answer|>", "It", " is", " sunny", "<|im_end|>"],
  // Never ends.
  ["<|loop|>", "la", " la", "la"],
  // Bytes of "é" and "🙂".
  ["<|bytes|>", "caf", "Ã", "©", " ", "ð", "Ł", "Ļ", "Ĥ", "<|im_end|>"],
];

/** Writes a model to a file; `path` must end in `.gguf`. */
export async function writeTinyModel(path: string, options: TinyModelOptions = {}): Promise<void> {
  await Deno.writeFile(path, createTinyModel({ scripts: SCRIPTS, ...options }));
}
