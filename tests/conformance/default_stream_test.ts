import { assertEquals } from "@std/assert";
import { Agent } from "../../src/agent/agent.ts";
import { createDefaultStream } from "../../src/agent/default_stream.ts";
import { modelSpec } from "../../src/core/models/model.ts";
import { findRates } from "../../src/core/models/usage.ts";
import { checkEvents } from "../../src/testing/event_grammar.ts";
import { hang, reply } from "../../src/testing/script.ts";
import { scriptedStream } from "../../src/testing/scripted_stream.ts";
import { readImports } from "../architecture/imports.ts";
import { root } from "../project.ts";
import { outlineMessages } from "./outline.ts";
import { scriptedPorts, settle } from "./ports.ts";

/** Runs `act` while the global `fetch` answers with `respond`; returns the requests. */
async function withFetch(
  respond: (request: Request) => Response | Promise<Response>,
  act: () => Promise<void>,
): Promise<Request[]> {
  const requests: Request[] = [];
  const { fetch } = globalThis;
  globalThis.fetch = async (input, init) => {
    const request = new Request(input, init);
    requests.push(request);
    return await respond(request);
  };
  try {
    await act();
  } finally {
    globalThis.fetch = fetch;
  }
  return requests;
}

function ollamaReply(words: string): Response {
  const lines = [
    { message: { role: "assistant", content: words }, done: false },
    {
      message: { content: "" },
      done: true,
      done_reason: "stop",
      prompt_eval_count: 3,
      eval_count: 2,
    },
  ];
  return new Response(lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
}

Deno.test("new Agent() without a streamFn: the first request loads the adapter of the model's provider", async () => {
  const agent = new Agent({ model: "ollama/llama3.2", ...scriptedPorts() });
  const requests = await withFetch((_request) => ollamaReply("Hello"), async () => {
    await checkEvents(agent.promptStream("Hi"));
    await checkEvents(agent.promptStream("Again"));
  });
  assertEquals(requests.map(({ method, url }) => `${method} ${new URL(url).pathname}`), [
    "POST /api/chat",
    "POST /api/chat",
  ]);
  assertEquals(outlineMessages(agent.state.messages), [
    "user: Hi",
    "assistant: Hello",
    "user: Again",
    "assistant: Hello",
  ]);
  const [, assistant] = agent.state.messages;
  assertEquals(assistant?.role === "assistant" && assistant.usage.total, 5);
});

Deno.test("new Agent() without a streamFn: prices and context windows are known after the first request", async () => {
  const streamFn = createDefaultStream();
  const model = modelSpec("anthropic/claude-opus-4-5");
  const find = () => [findRates(streamFn.prices ?? {}, model), streamFn.contextWindow?.(model)];
  assertEquals(find(), [undefined, undefined]);
  const agent = new Agent({ model: "ollama/llama3.2", streamFn, ...scriptedPorts() });
  await withFetch((_request) => ollamaReply("Hello"), async () => void await agent.prompt("Hi"));
  assertEquals(find().map((value) => typeof value), ["object", "number"]);
});

Deno.test("new Agent() without a streamFn: an unknown provider is an error of the run that lists the known ones", async () => {
  const agent = new Agent({ model: "acme/model", ...scriptedPorts() });
  const { error } = await agent.prompt("Hi");
  assertEquals(error?.code, "bad_request");
  assertEquals(error?.message.includes("Known providers: "), true, error?.message);
});

Deno.test("new Agent() without a streamFn: abort() ends a request at once", async () => {
  const agent = new Agent({ model: "ollama/llama3.2", ...scriptedPorts() });
  await withFetch(() => new Promise(() => {}), async () => {
    const running = agent.prompt("Hi");
    await settle();
    agent.abort("enough");
    const { stopReason, abortReason } = await running;
    assertEquals([stopReason, abortReason], ["aborted", "enough"]);
  });
});

Deno.test("new Agent() without a streamFn: setModel() and fallbacks call other providers", async () => {
  const spare = scriptedStream([reply("From the spare")]);
  const agent = new Agent({
    model: "ollama/llama3.2",
    ...scriptedPorts(),
    retry: () => null,
    fallback: [{
      model: { provider: "other", modelId: "spare", thinkingLevel: "off" },
      streamFn: spare,
    }],
  });
  const requests = await withFetch(() => new Response("busy", { status: 503 }), async () => {
    assertEquals((await agent.prompt("Hi")).text, "From the spare");
  });
  assertEquals(requests.length, 1);
  spare.assertDone();
});

Deno.test("new Agent() with a streamFn calls no provider", async () => {
  const requests = await withFetch(() => ollamaReply("Hello"), async () => {
    const agent = new Agent({ model: "ollama/llama3.2", streamFn: scriptedStream([hang()]) });
    const running = agent.prompt("Hi");
    await settle();
    agent.abort();
    await running;
  });
  assertEquals(requests, []);
});

Deno.test("mod.ts: importing the library loads no adapter", async () => {
  const loaded = new Set<string>();
  const queue = ["mod.ts"];
  for (let path = queue.pop(); path !== undefined; path = queue.pop()) {
    if (loaded.has(path)) continue;
    loaded.add(path);
    const source = await Deno.readTextFile(new URL(path, root));
    const statements = source.replaceAll(/^\s*import\("|\bimport\(\s*"[^"]+"\s*\)/gm, "");
    queue.push(...readImports(path, statements).internal);
  }
  assertEquals([...loaded].filter((path) => path.startsWith("adapters/")), []);
  assertEquals(loaded.has("src/agent/default_stream.ts"), true);
});
