import { assertEquals, assertRejects } from "@std/assert";
import type { LlamaModel, LlamaRuntime, LlamaSequence } from "./llama_runtime.ts";
import { TextEngine } from "./text_engine.ts";

/** Creates an engine with one sequence, whose tokens are the characters of a prompt. */
function createEngine(runtime: Partial<LlamaRuntime> = {}): TextEngine {
  const sequence = { contextTokens: [], nextTokenIndex: 0 } as unknown as LlamaSequence;
  const model = {
    tokens: { bosString: null, eosString: null, bos: null, shouldPrependBosToken: false },
    tokenize: (text: string) => {
      if (text === "bad") throw new Error("cannot split");
      return [...text].map((character) => character.charCodeAt(0));
    },
  } as unknown as LlamaModel;
  return new TextEngine({
    runtime: runtime as LlamaRuntime,
    model,
    context: { contextSize: 100, batchSize: 10, getSequence: () => sequence },
    sequences: 1,
    spacedTokens: new Map(),
  });
}

interface StartOptions {
  readonly signal?: AbortSignal;
  readonly onWanted?: () => void;
}

function start(
  engine: TextEngine,
  prompt: string,
  { signal = new AbortController().signal, onWanted = () => {} }: StartOptions = {},
) {
  const sampling = { temperature: 0, topP: 1, topK: 1, minP: 0 };
  const getGrammar = () => undefined;
  return engine.start({ prompt, openingLength: 0, sampling, getGrammar, onWanted }, signal);
}

/** Starts a request that is released as soon as it has a sequence. */
async function runTurn(engine: TextEngine, prompt: string, order: string[]): Promise<void> {
  const generation = await start(engine, prompt);
  order.push(prompt);
  await generation.release();
}

Deno.test("TextEngine: requests get a sequence in order, also if one arrives when it is released", async () => {
  const engine = createEngine();
  const order: string[] = [];
  const first = await start(engine, "first");
  const second = runTurn(engine, "second", order);
  const third = runTurn(engine, "third", order);
  await first.release();
  const late = runTurn(engine, "late", order);
  await Promise.all([second, third, late]);
  assertEquals(order, ["second", "third", "late"]);
});

Deno.test("TextEngine: calls onWanted of requests that have a sequence when others wait for it", async () => {
  const engine = createEngine();
  const wanted: string[] = [];
  const open = (prompt: string) => start(engine, prompt, { onWanted: () => wanted.push(prompt) });
  const first = await open("first");
  assertEquals(wanted, []);
  const second = open("second");
  const third = open("third");
  assertEquals(wanted, ["first", "first"]);
  await first.release();
  await (await second).release();
  // The third one waited when the second one began, and none waits for the third one.
  assertEquals(wanted, ["first", "first", "second"]);
  await (await third).release();
  assertEquals(wanted, ["first", "first", "second"]);
});

Deno.test("TextEngine: a request that is aborted when it gets a sequence passes it on", async () => {
  const engine = createEngine();
  const order: string[] = [];
  const first = await start(engine, "first");
  const controller = new AbortController();
  const aborted = start(engine, "aborted", controller).then((generation) => generation.release());
  const next = runTurn(engine, "next", order);
  const releasing = first.release();
  controller.abort(new Error("enough"));
  await releasing;
  await assertRejects(() => aborted, Error, "enough");
  await next;
  assertEquals(order, ["next"]);
});

Deno.test("TextEngine: an aborted request leaves the queue", async () => {
  const engine = createEngine();
  const order: string[] = [];
  const first = await start(engine, "first");
  const controller = new AbortController();
  const aborted = start(engine, "aborted", controller);
  const next = runTurn(engine, "next", order);
  controller.abort(new Error("enough"));
  await assertRejects(() => aborted, Error, "enough");
  await first.release();
  await next;
  await assertRejects(() => start(engine, "late", controller), Error, "enough");
  await runTurn(engine, "last", order);
  assertEquals(order, ["next", "last"]);
});

Deno.test("TextEngine: a prompt that cannot be split frees its sequence", async () => {
  const engine = createEngine();
  await assertRejects(() => start(engine, "bad"), Error, "cannot split");
  await runTurn(engine, "good", []);
});

Deno.test("TextEngine: parses a grammar once, and has no state for one that llama.cpp refuses", async () => {
  let parsed = 0;
  const llama = {
    createGrammar: ({ grammar }: { grammar: string }) => {
      parsed++;
      return grammar === "bad" ? Promise.reject(new Error("bad")) : Promise.resolve({ grammar });
    },
  };
  class LlamaGrammarEvaluationState {
    constructor(readonly options: unknown) {}
  }
  const engine = createEngine({ llama, package: { LlamaGrammarEvaluationState } } as never);
  const [first, second] = [await engine.createGrammar("a"), await engine.createGrammar("a")];
  assertEquals(first !== second, true, "each reply needs a state of its own");
  assertEquals(parsed, 1);
  assertEquals(await engine.createGrammar("bad"), undefined);
  for (let index = 0; index < 32; index++) await engine.createGrammar(`${index}`);
  const before = parsed;
  await engine.createGrammar("a");
  assertEquals(parsed, before + 1, "the oldest grammar was forgotten");
});
