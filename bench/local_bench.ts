/**
 * Measures what `createLocal()` adds to each token of a model on this device, over the token loop of `node-llama-cpp` with
 * the same model; and counts the tokens that the second turn of a conversation evaluates.
 *
 * The time is that of the thread of the program; llama.cpp computes in others. The model is tiny, so that a token takes less
 * time than in any other one.
 *
 * @module
 */

import type { LlmMessage } from "../mod.ts";
import { userMessage } from "../mod.ts";
import { type LlamaPackage, loadLlamaPackage } from "../src/local/llama/llama_runtime.ts";
import { createLocal } from "../src/local/mod.ts";
import { createTinyModel } from "../tests/local/tiny_model.ts";
import { startThreadTimer } from "../tests/thread_time.ts";
import { printReport } from "./report.ts";

const TOKENS = 300;
const RUNS = 40;
const WARMUP = 10;
const CONTEXT = 1_024;
/** Never ends, so that each run has as many tokens. */
const SCRIPTS = [["<|loop|>", "la", " la", "la"]];

/** The usual token loop of the package. */
interface TokenLoop {
  evaluate(tokens: readonly number[], options: object): AsyncIterable<number>;
}

/** Creates the token loop of the package, without anything else. */
async function createTokenLoop(llama: LlamaPackage, modelPath: string) {
  const instance = await llama.getLlama({ gpu: false, build: "never", logLevel: "error" });
  const model = await instance.loadModel({ modelPath });
  const context = await model.createContext({ contextSize: CONTEXT, threads: 1 });
  const sequence = context.getSequence();
  const prompt = model.tokenize(
    "<|im_start|>user\n!loop<|im_end|>\n<|im_start|>assistant\n<|loop|>",
    true,
  );
  const options = { temperature: 0, topP: 0.95, topK: 40, minP: 0.05 };
  return {
    async run() {
      const end = sequence.nextTokenIndex;
      await sequence.eraseContextTokenRanges([{ start: 0, end }]);
      let getTime = startThreadTimer();
      let count = 0;
      for await (const _token of (sequence as unknown as TokenLoop).evaluate(prompt, options)) {
        if (count++ === 0) getTime = startThreadTimer();
        if (count > TOKENS) break;
      }
      return getTime() * 1_000 / TOKENS;
    },
    dispose: () => instance.dispose(),
  };
}

function createStreamLoop(llama: LlamaPackage, path: string) {
  const streamFn = createLocal({
    model: path,
    llama,
    gpu: false,
    threads: 1,
    contextSize: CONTEXT,
  });
  const ask = (messages: readonly LlmMessage[], maxTokens: number) =>
    streamFn({
      model: { provider: "local", modelId: "tiny", thinkingLevel: "off" },
      context: { systemPrompt: "", messages, tools: [] },
      options: { temperature: 0, maxTokens },
      signal: new AbortController().signal,
    });
  return {
    ask,
    async run() {
      let getTime: ReturnType<typeof startThreadTimer> | undefined;
      for await (const { type } of ask([userMessage("!loop", 0)], TOKENS + 1)) {
        if (type === "text_delta") getTime ??= startThreadTimer();
      }
      return (getTime?.() ?? 0) * 1_000 / TOKENS;
    },
    dispose: () => streamFn.unload(),
  };
}

/** Returns the tokens of the prompt of a second turn, and those that were evaluated. */
async function countSecondTurn({ ask }: ReturnType<typeof createStreamLoop>) {
  const question = userMessage("!loop", 0);
  const content: { type: "text"; text: string } = { type: "text", text: "" };
  for await (const event of ask([question], TOKENS)) {
    if (event.type === "text_delta") content.text += event.delta;
  }
  const usage = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 };
  const facts = { provider: "local", modelId: "tiny", stopReason: "stop", timestamp: 0 } as const;
  const reply: LlmMessage = { role: "assistant", content: [content], usage, cost: usage, ...facts };
  for await (const event of ask([question, reply, question], 1)) {
    if (event.type === "done") return event.usage;
  }
  return usage;
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

const path = await Deno.makeTempFile({ suffix: ".gguf" });
await Deno.writeFile(path, createTinyModel({ scripts: SCRIPTS }));
const llama = await loadLlamaPackage();
const tokens = await createTokenLoop(llama, path);
const stream = createStreamLoop(llama, path);
const baselines: number[] = [];
const times: number[] = [];
for (let run = 0; run < RUNS + WARMUP; run++) {
  const [baseline, time] = [await tokens.run(), await stream.run()];
  if (run < WARMUP) continue;
  baselines.push(baseline);
  times.push(time);
}
const { input, cacheRead } = await countSecondTurn(stream);
// Means: the system measures the time of a thread in steps of several milliseconds.
const [baseline, time] = [mean(baselines), mean(times)];
printReport("Models on this device, microseconds of the program per token", [
  ["token loop of node-llama-cpp", `${baseline.toFixed(1)} us`, "", ""],
  ["createLocal()", `${time.toFixed(1)} us`, `${(time - baseline).toFixed(1)} us more`, "+20 us"],
  ["second turn", `${input} evaluated`, `${cacheRead} kept`, ""],
]);
await stream.dispose();
await tokens.dispose();
await Deno.remove(path);
