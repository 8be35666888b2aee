import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { createAnthropic } from "../../adapters/anthropic/mod.ts";
import { createOllama } from "../../adapters/ollama/mod.ts";
import { createOpenAI } from "../../adapters/openai/mod.ts";
import { Agent, type AgentEvent, type StreamFn } from "../../mod.ts";
import { recordFetch, replayCassette } from "../../src/cassettes/mod.ts";
import { fakeTool, seededRandom } from "../../src/testing/mod.ts";
import { type LoopbackServer, serveLoopback } from "../adapters/loopback.ts";
import { createTemporaryDirectory } from "../cli/temporary_directory.ts";
import { InstantClock, scriptedPorts } from "../conformance/ports.ts";

/** A provider and the fixtures that its server sends. */
interface Provider {
  readonly name: string;
  readonly model: string;
  readonly fixtures: readonly string[];
  readonly createStreamFn: (fetch: typeof globalThis.fetch, baseUrl: string) => StreamFn;
}

const KEY = "sk-test-abcdefghijklmnop";

const PROVIDERS: readonly Provider[] = [
  {
    name: "Anthropic",
    model: "anthropic/claude-sonnet-4-6:high",
    fixtures: ["anthropic/thinking", "anthropic/tool_calls", "anthropic/text"],
    createStreamFn: (fetch, baseUrl) => createAnthropic({ fetch, baseUrl, apiKey: KEY }),
  },
  {
    name: "OpenAI's chat completions",
    model: "openai/gpt-4o",
    fixtures: ["openai/chat_tool_calls", "openai/chat_interleaved", "openai/chat_text"],
    createStreamFn: (fetch, baseUrl) => createOpenAI({ fetch, baseUrl, apiKey: KEY, api: "chat" }),
  },
  {
    name: "OpenAI's responses",
    model: "openai/gpt-5:high",
    fixtures: ["openai/responses_tools", "openai/responses_text"],
    createStreamFn: (fetch, baseUrl) =>
      createOpenAI({ fetch, baseUrl, apiKey: KEY, api: "responses" }),
  },
];

for (const provider of PROVIDERS) {
  Deno.test(`replayCassette() replays a recorded run with ${provider.name} with the same events`, async () => {
    await using directory = await createTemporaryDirectory();
    const file = `${directory.path}/run.jsonl`;
    const { live, url } = await recordRun(provider, file);
    const cassette = directory.read("run.jsonl");
    // The server is closed.
    const [first, second] = [
      await replayRun(provider, { file, url }),
      await replayRun(provider, { file, url }),
    ];
    assertEquals(first, live);
    assertEquals(second, first);
    assertEquals(live.filter((line) => line.includes('"type":"retry"')).length, 2);
    assert(live.length > 30, `${live.length} events`);
    assertStringIncludes(live.at(-1) ?? "", '"stopReason":"stop"');
    assert(!cassette.includes(KEY));
    assertEquals(cassette.split("\n").length, provider.fixtures.length + 4);
  });
}

Deno.test("replayCassette() ends a changed run with bad_request, without a retry", async () => {
  const [provider] = PROVIDERS;
  assert(provider);
  await using directory = await createTemporaryDirectory();
  const file = `${directory.path}/run.jsonl`;
  const { url } = await recordRun(provider, file);
  const streamFn = provider.createStreamFn(replayCassette(file), url);
  const agent = new Agent({ ...createOptions(provider, streamFn), systemPrompt: "Be kind." });
  const { error, messages } = await agent.prompt("What is in the files?");
  assertEquals(error?.code, "bad_request");
  assertStringIncludes(
    error?.message ?? "",
    `system[0].text\n    recorded  "Be brief."\n    actual    "Be kind."\n`,
  );
  assertEquals(messages.length, 1);
});

Deno.test("replayCassette() replays a run with a server whose tool calls have no ids", async () => {
  await using directory = await createTemporaryDirectory();
  const file = `${directory.path}/run.jsonl`;
  const call = { function: { name: "list", arguments: {} } };
  const messages = [
    { content: "", tool_calls: [call, call] },
    { content: "", tool_calls: [call] },
    { content: "Two files." },
  ];
  const network = () =>
    Promise.resolve(
      new Response(
        `${JSON.stringify({ message: messages.shift(), done: true, done_reason: "stop" })}\n`,
      ),
    );
  const prompt = async (fetch: typeof globalThis.fetch) => {
    const agent = new Agent({
      model: "ollama/llama",
      streamFn: createOllama({ fetch }),
      tools: [fakeTool({ name: "list", result: "a b" })],
    });
    const { text, error } = await agent.prompt("What is in the files?");
    return error ?? text;
  };
  {
    await using fetch = recordFetch(network, file);
    assertEquals(await prompt(fetch), "Two files.");
  }
  const fetch = replayCassette(file);
  assertEquals(await prompt(fetch), "Two files.");
  fetch.assertDone();
});

/** Records a run against a new server; returns its events and the URL of the server. */
async function recordRun(
  provider: Provider,
  file: string,
): Promise<{ readonly live: string[]; readonly url: string }> {
  await using server = startFixtureServer(provider.fixtures);
  await using fetch = recordFetch(globalThis.fetch, file);
  const live = await runAgent(provider, provider.createStreamFn(fetch, server.url));
  return { live, url: server.url };
}

async function replayRun(
  provider: Provider,
  { file, url }: { readonly file: string; readonly url: string },
): Promise<string[]> {
  const fetch = replayCassette(file);
  const events = await runAgent(provider, provider.createStreamFn(fetch, url));
  fetch.assertDone();
  return events;
}

async function runAgent(provider: Provider, streamFn: StreamFn): Promise<string[]> {
  const agent = new Agent(createOptions(provider, streamFn));
  const events: AgentEvent[] = [];
  for await (const event of agent.promptStream("What is in the files?")) events.push(event);
  return events.map((event) => JSON.stringify(event));
}

function createOptions({ model }: Provider, streamFn: StreamFn) {
  const names = ["read_file", "list_all", "list", "get_weather", "search", "a", "b"];
  const tools = names.map((name) => fakeTool({ name, result: `${name} has been called` }));
  return {
    model,
    streamFn,
    tools,
    systemPrompt: "Be brief.",
    ...scriptedPorts(new InstantClock()),
  };
}

/** Starts a server that throttles the first request, truncates the second response, and sends fixtures in chunks to the others. */
function startFixtureServer(fixtures: readonly string[]): LoopbackServer {
  let requestCount = 0;
  return serveLoopback(() => {
    requestCount++;
    if (requestCount === 1) {
      return Response.json({ error: { message: "slow down", type: "rate_limit_error" } }, {
        status: 429,
        headers: { "retry-after": "2" },
      });
    }
    const name = fixtures[Math.max(0, requestCount - 3)];
    const bytes = Deno.readFileSync(new URL(`../fixtures/${name}.sse`, import.meta.url));
    return new Response(
      createChunkedBody(requestCount === 2 ? bytes.slice(0, 700) : bytes, requestCount),
      {
        headers: { "content-type": "text/event-stream", "set-cookie": `session=${KEY}` },
      },
    );
  });
}

function createChunkedBody(
  bytes: Uint8Array<ArrayBuffer>,
  seed: number,
): ReadableStream<Uint8Array> {
  const random = seededRandom(seed);
  let offset = 0;
  return new ReadableStream({
    pull(controller) {
      const end = offset + 1 + Math.floor(random() * 200);
      controller.enqueue(bytes.slice(offset, end));
      offset = end;
      if (offset >= bytes.length) controller.close();
    },
  });
}
