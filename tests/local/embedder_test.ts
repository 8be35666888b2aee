import { assert, assertAlmostEquals, assertEquals, assertRejects } from "@std/assert";
import { AgentError } from "../../mod.ts";
import { createEmbedder, createLocal, type Embedder, ModelStore } from "../../src/local/mod.ts";
import { readReply } from "../../src/testing/read_reply.ts";
import { createFixture, untilThreadsAreFree } from "./local_fixture.ts";
import { createTinyModel, type TinyModelOptions } from "./tiny_model.ts";
import { llama } from "./tiny_models.ts";

const ignore = llama === undefined;

interface EmbedderFixture extends AsyncDisposable {
  readonly embedder: Embedder;
  readonly path: string;
}

async function createEmbedderFixture(
  options: Pick<TinyModelOptions, "addsEnds"> = {},
): Promise<EmbedderFixture> {
  const directory = await Deno.makeTempDir();
  const path = `${directory}/embed.gguf`;
  await Deno.writeFile(path, createTinyModel({ pooling: "mean", ...options }));
  const embedder = createEmbedder({
    model: path,
    llama,
    gpu: false,
    threads: 1,
    contextSize: 256,
    idleMs: Infinity,
  });
  return {
    embedder,
    path,
    async [Symbol.asyncDispose]() {
      await embedder[Symbol.asyncDispose]();
      await Deno.remove(directory, { recursive: true });
      await untilThreadsAreFree();
    },
  };
}

function multiply(first: Float32Array, second: Float32Array): number {
  return first.reduce((sum, component, index) => sum + component * (second[index] ?? 0), 0);
}

Deno.test(
  { name: "createEmbedder(): returns a vector of length 1 for each text", ignore },
  async () => {
    await using fixture = await createEmbedderFixture();
    const texts = ["the cat", "the dog", "", "the cat"].filter((text) => text !== "");
    const vectors = await fixture.embedder.embed(texts);
    assertEquals(vectors.map(({ length }) => length), [32, 32, 32]);
    for (const vector of vectors) assertAlmostEquals(multiply(vector, vector), 1, 1e-5);
    const [cat, dog, again] = vectors;
    assert(cat && dog && again);
    assertAlmostEquals(multiply(cat, again), 1, 1e-5);
    assert(multiply(cat, dog) < 0.999);
    // A batch gives the same vectors as single texts.
    const [single] = await fixture.embedder.embed(["the dog"]);
    assert(single);
    assertAlmostEquals(multiply(dog, single), 1, 1e-5);
  },
);

Deno.test({
  name: "createEmbedder(): refuses empty and too long texts, and works afterwards",
  ignore,
}, async () => {
  await using fixture = await createEmbedderFixture();
  const { embedder } = fixture;
  await assertRejects(() => embedder.embed(["a", ""]), AgentError, "Text 1 is empty");
  const error = await assertRejects(() => embedder.embed(["x".repeat(400)]), AgentError);
  assertEquals(error.code, "context_window_overflow");
  await assertRejects(() => embedder.embed("text" as never), AgentError, "Pass an array of texts");
  const aborted = await assertRejects(
    () => embedder.embed(["a"], { signal: AbortSignal.abort() }),
    AgentError,
  );
  assertEquals(aborted.code, "aborted");
  const controller = new AbortController();
  const texts = Array.from({ length: 500 }, () => "hello world");
  const embedding = embedder.embed(texts, { signal: controller.signal });
  setTimeout(() => controller.abort("enough"), 2);
  const interrupted = await assertRejects(() => embedding, AgentError);
  assertEquals([interrupted.code, interrupted.cause], ["aborted", "enough"]);
  assertEquals((await embedder.embed([])).length, 0);
  assertEquals((await embedder.embed(["a"])).length, 1);
});

Deno.test({
  name:
    "createEmbedder(): accepts texts up to the size of the context, with the tokens at their ends",
  ignore,
}, async () => {
  await using fixture = await createEmbedderFixture({ addsEnds: true });
  for (let length = 250; length < 258; length++) {
    const embedded = fixture.embedder.embed(["x".repeat(length)]);
    if (length < 254) assertEquals((await embedded).length, 1);
    else {
      const { code } = await assertRejects(() => embedded, AgentError);
      assertEquals([length, code], [length, "context_window_overflow"]);
    }
  }
});

Deno.test({ name: "createLocal(): refuses a model for embeddings", ignore }, async () => {
  await using fixture = await createEmbedderFixture();
  const streamFn = createLocal({ model: fixture.path, llama, gpu: false });
  const model = { provider: "local", modelId: "tiny", thinkingLevel: "off" } as const;
  const context = { systemPrompt: "", messages: [], tools: [] };
  const { signal } = new AbortController();
  const { error } = await readReply(streamFn({ model, context, options: {}, signal }));
  assertEquals(error?.code, "bad_request");
  assert(error?.message.includes("createEmbedder()"));
});

Deno.test({ name: "ModelStore: an imported model runs under its name", ignore }, async () => {
  await using fixture = await createFixture();
  const directory = await Deno.makeTempDir();
  const store = new ModelStore({ directory });
  const { name, profile } = await store.importFile(fixture.path);
  assertEquals([name, profile.architecture], ["tiny", "llama"]);
  await assertRejects(() => store.importFile(fixture.path), AgentError, "already a model tiny");
  await using streamFn = createLocal({
    directory,
    llama: fixture.counts.package,
    gpu: false,
    threads: 1,
    contextSize: 512,
    idleMs: Infinity,
  });
  const { text } = await readReply(streamFn(fixture.request("!hello")));
  assertEquals(text, "Hello world, dear user");
  await streamFn.unload();
  await Deno.remove(directory, { recursive: true });
});

Deno.test("ModelStore: imports neither other files nor a file that claims to be a preset", async () => {
  const directory = await Deno.makeTempDir();
  const store = new ModelStore({ directory: `${directory}/models` });
  const text = `${directory}/a.gguf`;
  await Deno.writeTextFile(text, "no model");
  await assertRejects(() => store.importFile(text), AgentError, "it is no GGUF file");
  for (const name of ["qwen3-4b.gguf", "my model.gguf"]) {
    const file = `${directory}/${name}`;
    await Deno.writeFile(file, createTinyModel());
    await assertRejects(() => store.importFile(file), AgentError, "rename it");
  }
  assertEquals(await store.list(), []);
  await Deno.remove(directory, { recursive: true });
});
