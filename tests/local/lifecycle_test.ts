import {
  assert,
  assertEquals,
  assertRejects,
  assertStringIncludes,
  assertThrows,
} from "@std/assert";
import { AgentError } from "../../mod.ts";
import { useModel } from "../../src/local/local_model.ts";
import {
  createEmbedder,
  createLocal,
  LocalModel,
  type LocalModelOptions,
  type LocalModelState,
} from "../../src/local/mod.ts";
import { ManualClock } from "../../src/testing/manual_clock.ts";
import { createFakeLlama, type FakeLlama } from "./fake_llama.ts";
import { startHub, toSha256 } from "./hub_server.ts";
import { createTinyModel } from "./tiny_model.ts";

interface Lifecycle extends AsyncDisposable {
  readonly model: LocalModel;
  readonly llama: FakeLlama;
  readonly states: LocalModelState[];
  readonly path: string;
}

type LifecycleOptions = Partial<LocalModelOptions> & {
  readonly free?: number;
  /** Number of tokens that the model was trained on. */
  readonly contextLength?: number;
};

async function createLifecycle(
  { free, contextLength, ...options }: LifecycleOptions = {},
): Promise<Lifecycle> {
  const directory = await Deno.makeTempDir();
  const path = `${directory}/tiny.gguf`;
  await Deno.writeFile(path, createTinyModel(contextLength === undefined ? {} : { contextLength }));
  const llama = createFakeLlama(free === undefined ? {} : { free });
  const states: LocalModelState[] = [];
  const onState = (state: LocalModelState) => states.push(state);
  const model = new LocalModel({ model: path, llama, onState, idleMs: Infinity, ...options });
  return {
    model,
    llama,
    states,
    path,
    async [Symbol.asyncDispose]() {
      await model.unload();
      await Deno.remove(directory, { recursive: true });
    },
  };
}

function types(states: readonly LocalModelState[]): string[] {
  return states.map(({ type }) => type);
}

Deno.test("LocalModel: reports each state from unloaded to ready, and back", async () => {
  await using test = await createLifecycle();
  assertEquals(test.model.state, { type: "unloaded" });
  const loading = test.model.load();
  const load = await test.llama.nextLoad();
  load.options.onLoadProgress(0.5);
  load.resolve();
  await loading;
  await test.model.unload();
  const [, , ready] = test.states;
  assertEquals(test.states, [
    { type: "loading", progress: 0 },
    { type: "loading", progress: 0.5 },
    { type: "ready", contextSize: 2048, memory: ready?.type === "ready" ? ready.memory : 0 },
    { type: "unloaded" },
  ]);
  assertEquals(test.llama.loaded, 0);
});

Deno.test("createLocal(): knows the context window of a model that was unloaded", async () => {
  await using test = await createLifecycle();
  const streamFn = createLocal(test.model);
  const spec = { provider: "local", modelId: "tiny", thinkingLevel: "off" } as const;
  assertEquals(streamFn.contextWindow?.(spec), undefined);
  const loading = test.model.load();
  (await test.llama.nextLoad()).resolve();
  await loading;
  await test.model.unload();
  assertEquals(streamFn.contextWindow?.(spec), 2_048);
});

Deno.test("LocalModel: callers share one load", async () => {
  await using test = await createLifecycle();
  const loading = [test.model.load(), test.model.load(), test.model.load()];
  (await test.llama.nextLoad()).resolve();
  await Promise.all(loading);
  await test.model.load();
  assertEquals(test.llama.loads.length, 1);
});

Deno.test("LocalModel: a load continues while one caller waits for it", async () => {
  await using test = await createLifecycle();
  const controller = new AbortController();
  const first = test.model.load(controller.signal);
  const second = test.model.load();
  const load = await test.llama.nextLoad();
  controller.abort("enough");
  const error = await assertRejects(() => first, AgentError);
  assertEquals([error.code, error.cause], ["aborted", "enough"]);
  assertEquals(load.options.loadSignal.aborted, false);
  load.resolve();
  await second;
  assertEquals(test.model.state.type, "ready");
});

Deno.test("LocalModel: an aborted load passes no listener, which llama.cpp would keep with the process", async () => {
  await using test = await createLifecycle();
  const controller = new AbortController();
  const loading = test.model.load(controller.signal);
  const { options } = await test.llama.nextLoad();
  assertEquals(typeof options.onLoadProgress, "function");
  controller.abort();
  await assertRejects(() => loading, AgentError);
  assertEquals({ ...options }.onLoadProgress, undefined);
});

Deno.test("LocalModel: a load is cancelled when all callers have given up, and the next one starts again", async () => {
  await using test = await createLifecycle();
  const controller = new AbortController();
  const first = test.model.load(controller.signal);
  const second = test.model.load(controller.signal);
  const load = await test.llama.nextLoad();
  controller.abort();
  await assertRejects(() => first, AgentError);
  await assertRejects(() => second, AgentError);
  const third = test.model.load();
  assertEquals(load.options.loadSignal.aborted, true);
  (await test.llama.nextLoad()).resolve();
  await third;
  assertEquals(types(test.states), ["loading", "unloaded", "loading", "ready"]);
});

Deno.test("LocalModel: a model that is loaded in spite of an abort is released", async () => {
  await using test = await createLifecycle();
  const controller = new AbortController();
  const loading = test.model.load(controller.signal);
  const load = await test.llama.nextLoad();
  load.resolve();
  controller.abort();
  await assertRejects(() => loading, AgentError);
  await test.model.unload();
  assertEquals(test.llama.loaded, 0);
});

Deno.test("LocalModel: reports the reason of a failure that llama.cpp logs", async () => {
  await using test = await createLifecycle();
  const fail = async (...messages: readonly string[]) => {
    const loading = test.model.load();
    const load = await test.llama.nextLoad();
    for (const message of messages) test.llama.log(message);
    load.reject(new Error("Failed to load model"));
    return (await assertRejects(() => loading, AgentError)).message;
  };
  const start = "llama.cpp cannot load the model tiny.gguf: ";
  assertEquals(
    await fail(
      "llama_model_load: error loading model: unknown model architecture: 'new'",
      "llama_model_load_from_file_impl: failed to load model",
    ),
    `${start}unknown model architecture: 'new'; a newer version of node-llama-cpp may support it`,
  );
  assertEquals(await fail(), `${start}Failed to load model`);
  assertEquals(await fail("error loading model: no data"), `${start}no data`);
});

Deno.test("LocalModel: a failure is a state, and the next use tries again", async () => {
  await using test = await createLifecycle();
  const loading = test.model.load();
  (await test.llama.nextLoad()).reject(new Error("bad tensor"));
  const error = await assertRejects(() => loading, AgentError);
  assertEquals(error.code, "bad_request");
  assertStringIncludes(error.message, "llama.cpp cannot load the model tiny.gguf: bad tensor");
  assertEquals(test.model.state, { type: "failed", error });
  const again = test.model.load();
  (await test.llama.nextLoad()).resolve();
  await again;
  assertEquals(test.model.state.type, "ready");
});

Deno.test("LocalModel: an aborted signal loads nothing", async () => {
  await using test = await createLifecycle();
  await assertRejects(() => test.model.load(AbortSignal.abort()), AgentError);
  assertEquals(test.states, []);
});

Deno.test("LocalModel: is unloaded after idleMs without use", async () => {
  const clock = new ManualClock();
  await using test = await createLifecycle({ idleMs: 1_000, sleep: clock.sleep });
  const loading = test.model.load();
  (await test.llama.nextLoad()).resolve();
  await loading;
  await clock.advance(600);
  await test.model.load();
  await clock.advance(600);
  assertEquals(test.model.state.type, "ready", "each use starts the time again");
  await clock.advance(600);
  assertEquals(test.model.state.type, "unloaded");
  assertEquals(test.llama.loaded, 0);
});

Deno.test("LocalModel: is unloaded at the end of its last use if unload() was called during it", async () => {
  await using test = await createLifecycle();
  const { signal } = new AbortController();
  const ends = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const [first, second] = ends.map(({ promise }) => useModel(test.model, signal, () => promise));
  (await test.llama.nextLoad()).resolve();
  await test.model.load();
  await test.model.unload();
  assertEquals([test.model.state.type, test.llama.loaded], ["ready", 1]);
  ends[0]?.resolve();
  await first;
  assertEquals([test.model.state.type, test.llama.loaded], ["ready", 1]);
  ends[1]?.resolve();
  await second;
  assertEquals([test.model.state.type, test.llama.loaded], ["unloaded", 0]);
});

Deno.test("LocalModel: unload() waits for uses that were aborted, and not if another one begins meanwhile", async () => {
  await using test = await createLifecycle();
  const loading = test.model.load();
  (await test.llama.nextLoad()).resolve();
  await loading;
  for (const isUsedAgain of [true, false]) {
    const { promise, resolve } = Promise.withResolvers<void>();
    const use = useModel(test.model, AbortSignal.abort(), () => promise);
    const unloaded = test.model.unload();
    if (isUsedAgain) await test.model.load();
    resolve();
    await unloaded;
    const expected = isUsedAgain ? ["ready", 1] : ["unloaded", 0];
    assertEquals([test.model.state.type, test.llama.loaded], expected);
    await use;
  }
});

Deno.test("LocalModel: stays loaded after unload() during a use if another one begins", async () => {
  await using test = await createLifecycle();
  const { signal } = new AbortController();
  const { promise, resolve } = Promise.withResolvers<void>();
  const use = useModel(test.model, signal, () => promise);
  (await test.llama.nextLoad()).resolve();
  await test.model.load();
  await test.model.unload();
  await test.model.load();
  resolve();
  await use;
  assertEquals([test.model.state.type, test.llama.loaded], ["ready", 1]);
});

Deno.test("createEmbedder(): keeps the model until the text in progress has ended after an abort", async () => {
  const directory = await Deno.makeTempDir();
  const path = `${directory}/embed.gguf`;
  await Deno.writeFile(path, createTinyModel({ pooling: "mean" }));
  const llama = createFakeLlama();
  const embedder = createEmbedder({ model: path, llama, idleMs: Infinity });
  const loading = embedder.model.load();
  (await llama.nextLoad()).resolve();
  await loading;
  const controller = new AbortController();
  const { signal } = controller;
  const first = assertRejects(() => embedder.embed(["a", "b"], { signal }), AgentError);
  const second = assertRejects(() => embedder.embed(["c"], { signal }), AgentError);
  await new Promise((resolve) => setTimeout(resolve));
  controller.abort("enough");
  // The one that waits for the other one ends at once.
  const { code, cause } = await second;
  assertEquals([code, cause], ["aborted", "enough"]);
  const disposal = embedder[Symbol.asyncDispose]();
  assertEquals([embedder.model.state.type, llama.loaded], ["ready", 1]);
  llama.embeddings[0]?.resolve();
  await disposal;
  assertEquals((await first).code, "aborted");
  assertEquals([embedder.model.state.type, llama.loaded], ["unloaded", 0]);
  assertEquals(llama.embeddings.length, 1);
  await Deno.remove(directory, { recursive: true });
});

Deno.test("LocalModel: stays loaded with an idle time that is longer than a timer can be", async () => {
  await using test = await createLifecycle({ idleMs: 2 ** 31 });
  const loading = test.model.load();
  (await test.llama.nextLoad()).resolve();
  await loading;
  await new Promise((resolve) => setTimeout(resolve, 20));
  assertEquals(test.model.state.type, "ready");
});

Deno.test("LocalModel: refuses a model that does not fit into memory", async () => {
  await using test = await createLifecycle({ memoryLimit: 70_000_000, contextSize: 2048 });
  const loading = test.model.load();
  (await test.llama.nextLoad()).resolve();
  await loading;
  await using small = await createLifecycle({ memoryLimit: 60_000_000 });
  const error = await assertRejects(() => small.model.load(), AgentError);
  assertEquals(error.code, "bad_request");
  assertStringIncludes(error.message, "needs about");
  assertStringIncludes(error.message, "60 MB are available: use a smaller model");
  assertEquals(small.llama.loads.length, 0);
});

Deno.test("LocalModel: the memory for embeddings includes that of the longest text", async () => {
  const memoryLimit = 100_000_000;
  await using chat = await createLifecycle({ memoryLimit, contextLength: 16_384 });
  const loading = chat.model.load();
  (await chat.llama.nextLoad()).resolve();
  await loading;
  assertEquals(chat.model.contextSize, 16_384);
  const embedder = createEmbedder({ model: chat.path, llama: chat.llama, memoryLimit });
  const next = chat.llama.nextLoad();
  const loaded = embedder.model.load();
  (await next).resolve();
  await loaded;
  assertEquals(embedder.model.contextSize, 4_096);
  await embedder[Symbol.asyncDispose]();
});

Deno.test("LocalModel: models are loaded one after the other, so that each one sees the free memory", async () => {
  await using first = await createLifecycle();
  const { llama } = first;
  await using second = await createLifecycle({ llama });
  const loading = first.model.load();
  const load = await llama.nextLoad();
  const waiting = second.model.load();
  const controller = new AbortController();
  await using third = await createLifecycle({ llama });
  const aborted = third.model.load(controller.signal);
  await new Promise((resolve) => setTimeout(resolve, 20));
  assertEquals(llama.loads.length, 1);
  controller.abort();
  await assertRejects(() => aborted, AgentError, "aborted");
  const next = llama.nextLoad();
  load.reject(new Error("damaged"));
  await assertRejects(() => loading, AgentError, "damaged");
  (await next).resolve();
  await waiting;
  assertEquals([llama.loads.length, second.model.state.type], [2, "ready"]);
});

Deno.test("LocalModel: the memory is checked once, before the model is loaded", async () => {
  for (const options of [{ free: 1 }, { free: 1, memoryLimit: Infinity }]) {
    await using test = await createLifecycle(options);
    const loading = test.model.load();
    const load = await test.llama.nextLoad();
    // Without a graphics processor, the package would count the memory of cached files as occupied.
    assertEquals(load.options.ignoreMemorySafetyChecks, true);
    load.resolve();
    await loading;
  }
  await using limited = await createLifecycle({ memoryLimit: 1_000 });
  await assertRejects(() => limited.model.load(), AgentError, "1 KB are available");
});

Deno.test("LocalModel: downloads the model before it is loaded, and an abort ends the download", async () => {
  const content = createTinyModel();
  await using hub = await startHub(content);
  const directory = await Deno.makeTempDir();
  const env = (name: string) => name === "HF_ENDPOINT" ? hub.endpoint : undefined;
  const source = { repository: "a/b", file: "c.gguf", sha256: await toSha256(content) };
  const place = { name: "tiny", path: `${directory}/tiny.gguf`, source };
  await using test = await createLifecycle({ model: place, env });
  const { promise: stalled, resolve } = Promise.withResolvers<void>();
  hub.behavior = { stallAfter: 1_000, onStall: resolve };
  const controller = new AbortController();
  const first = test.model.load(controller.signal);
  await stalled;
  controller.abort();
  await assertRejects(() => first, AgentError);
  hub.behavior = {};
  const second = test.model.load();
  (await test.llama.nextLoad()).resolve();
  await second;
  const expected = ["downloading", "loading", "ready", "unloaded"];
  assertEquals([...new Set(types(test.states))].toSorted(), expected);
  const downloads = test.states.flatMap((state) =>
    state.type === "downloading" ? [state.receivedBytes, state.totalBytes] : []
  );
  assert(downloads.includes(content.length));
  await Deno.remove(directory, { recursive: true });
});

Deno.test("LocalModel: a listener that throws or rejects does not fail the load", async () => {
  const fail = () => {
    throw new Error("listener");
  };
  for (const onState of [fail, () => Promise.reject(new Error("listener"))]) {
    await using test = await createLifecycle({ onState });
    const loading = test.model.load();
    (await test.llama.nextLoad()).resolve();
    await loading;
  }
});

Deno.test("LocalModel: refuses invalid options", () => {
  const invalid: readonly (readonly [Record<string, unknown> | null | undefined, string])[] = [
    [undefined, "Name a model"],
    [null, "Name a model"],
    [{}, "Name a model"],
    [{ model: "" }, "Name a model"],
    [{ model: 5 }, "Name a model"],
    [{ model: { name: "a" } }, "Name a model"],
    [{ contextSize: 0 }, "contextSize must be a positive integer, not 0"],
    [{ contextSize: 1.5 }, "contextSize must be"],
    [{ parallel: -1 }, "parallel must be"],
    [{ threads: "2" }, "threads must be"],
    [{ memoryLimit: NaN }, "memoryLimit must be a number from 0 to Infinity, not NaN"],
    [{ idleMs: -1 }, "idleMs must be"],
    [{ gpu: "none" }, "gpu must be one of auto, cuda, vulkan, metal, false, not none"],
  ];
  for (const [options, message] of invalid) {
    const isModel = options && !("model" in options) && Object.keys(options).length > 0;
    const passed = (isModel ? { model: "a.gguf", ...options } : options) as never;
    for (const create of [(): unknown => new LocalModel(passed), () => createEmbedder(passed)]) {
      const error = assertThrows(create, AgentError);
      assertEquals(error.code, "bad_request");
      assertStringIncludes(error.message, message);
    }
    if (isModel) assertThrows(() => createLocal(passed), AgentError, message);
  }
  createLocal();
  new LocalModel({ model: { name: "a", path: "a.gguf" }, gpu: false, idleMs: Infinity });
});

Deno.test("LocalModel: a model whose memory cannot be released is loaded again", async () => {
  await using test = await createLifecycle();
  const loading = test.model.load();
  (await test.llama.nextLoad()).resolve();
  await loading;
  test.llama.disposeError = new Error("busy");
  await assertRejects(() => test.model.unload(), Error, "busy");
  test.llama.disposeError = undefined;
  const again = test.model.load();
  (await test.llama.nextLoad()).resolve();
  await again;
  assertEquals(test.model.state.type, "ready");
});
