import { assertEquals } from "@std/assert";
import { createAnthropic } from "../../adapters/anthropic/mod.ts";
import { createBedrock } from "../../adapters/bedrock/mod.ts";
import { catalog, findModelRates } from "../../adapters/catalog/catalog.ts";
import { createGoogle } from "../../adapters/google/mod.ts";
import { createMistral } from "../../adapters/mistral/mod.ts";
import { createOpenAI } from "../../adapters/openai/mod.ts";
import { modelSpec } from "../../src/core/models/model.ts";
import { priceUsage } from "../../src/core/models/price_usage.ts";
import { webSearch } from "../../src/core/streams/server_tool.ts";
import type { StreamFn, StreamOptions } from "../../src/core/streams/stream.ts";
import { readReply } from "../../src/testing/read_reply.ts";
import { replayFetch } from "../../src/testing/replay_fetch.ts";
import { encodeEventStream } from "./bedrock_frames.ts";
import { createMinimalRequest } from "./wire_tests.ts";

type Create = (options: { fetch: typeof globalThis.fetch; apiKey: string }) => StreamFn;

/** A reply, and how to read it. */
interface Subject {
  readonly name: string;
  readonly create: Create;
  readonly body: string | Uint8Array;
  readonly options?: StreamOptions;
}

/** Reads a reply and returns the counts of its requests with fees, and their price. */
async function readFees({ name, create, body, options = {} }: Subject): Promise<unknown[]> {
  const model = modelSpec(name);
  const request = createMinimalRequest(model.provider, model.modelId);
  const { usage } = await readReply(
    create({ fetch: replayFetch(body), apiKey: "sk-test" })({
      ...request,
      options: { ...request.options, ...options },
    }),
  );
  const rates = findModelRates(catalog, model);
  const { reasoning: _reasoning, ...extra } = usage?.extra ?? {};
  return [extra, usage && rates && priceUsage(usage, rates).extra];
}

function toSse(...events: readonly object[]): string {
  return events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join("");
}

function createClaudeReply(counts: object, ...calls: readonly string[]): string {
  return toSse(
    { type: "message_start", message: { id: "m", usage: { input_tokens: 1 } } },
    ...calls.flatMap((name, index) => [
      {
        type: "content_block_start",
        index,
        content_block: { type: "server_tool_use", id: `srvtoolu_${index}`, name, input: {} },
      },
      { type: "content_block_stop", index },
    ]),
    {
      type: "message_delta",
      delta: { stop_reason: "end_turn" },
      usage: { output_tokens: 1, ...counts },
    },
    { type: "message_stop" },
  );
}

Deno.test("anthropic: searches have their fee, pages have none, and the price of executed code is not known", async () => {
  const name = "anthropic/claude-sonnet-5";
  const read = (counts: object, ...calls: readonly string[]) =>
    readFees({ name, create: createAnthropic, body: createClaudeReply(counts, ...calls) });
  const searches = { server_tool_use: { web_search_requests: 3, web_fetch_requests: 2 } };
  assertEquals(await read(searches, "web_search", "web_fetch"), [
    { webSearchRequests: 3 },
    { webSearchRequests: 0.03 },
  ]);
  assertEquals(await read({}, "code_execution", "bash_code_execution"), [
    { codeExecutionRequests: 2 },
    { codeExecutionRequests: null },
  ]);
  assertEquals(await read({ server_tool_use: null }), [{}, undefined]);
});

/** Tokens of one model call within a request, as Anthropic reports them. */
function createIteration(type: string, counts: object = {}): object {
  return { type, input_tokens: 2, output_tokens: 1, cache_creation: null, ...counts };
}

Deno.test("anthropic: the tokens of a compaction within a request are added, since its sums exclude them", async () => {
  const iterations = [
    createIteration("compaction", {
      input_tokens: 180_000,
      output_tokens: 3500,
      cache_read_input_tokens: 1000,
      cache_creation_input_tokens: 200,
      cache_creation: { ephemeral_1h_input_tokens: 200 },
    }),
    createIteration("message", { input_tokens: 23_000, output_tokens: 1000 }),
  ];
  const body = createClaudeReply({ input_tokens: 23_000, output_tokens: 1000, iterations });
  const streamFn = createAnthropic({ fetch: replayFetch(body), apiKey: "sk-test" });
  const { usage } = await readReply(streamFn(createMinimalRequest("anthropic", "claude-sonnet-5")));
  assertEquals(usage, {
    input: 203_000,
    output: 4500,
    cacheRead: 1000,
    cacheWrite: 200,
    total: 208_700,
    extra: { cacheWriteLong: 200, compaction: 184_700 },
  });
});

Deno.test("anthropic: the price of calls of other models within a request is not known", async () => {
  const name = "anthropic/claude-sonnet-5";
  const read = (...types: readonly string[]) => {
    const iterations = types.map((type) => createIteration(type));
    return readFees({ name, create: createAnthropic, body: createClaudeReply({ iterations }) });
  };
  assertEquals(await read("message", "advisor_message", "message", "advisor_message"), [
    { advisorRequests: 2 },
    { advisorRequests: null },
  ]);
  assertEquals(await read("message", "fallback_message"), [
    { fallbackRequests: 1 },
    { fallbackRequests: null },
  ]);
  assertEquals(await read("message", "message"), [{}, undefined]);
});

Deno.test("anthropic: iterations of another type than a list are ignored", async () => {
  for (const iterations of [null, 1, "x", {}, [null, 1, { type: 2 }]]) {
    const body = createClaudeReply({ iterations });
    const fees = await readFees({
      name: "anthropic/claude-sonnet-5",
      create: createAnthropic,
      body,
    });
    assertEquals(fees, [{}, undefined]);
  }
});

Deno.test("responses: searches of the web and of files have their fees, visits of pages none, and other tools an unknown one", async () => {
  const items = [
    { type: "web_search_call", action: { type: "search", query: "Deno" }, status: "completed" },
    { type: "web_search_call", action: { type: "open_page", url: "https://deno.com" } },
    { type: "web_search_call", status: "completed" },
    { type: "file_search_call", queries: ["x"], status: "completed" },
    { type: "code_interpreter_call", container_id: "c", status: "completed" },
    { type: "image_generation_call", status: "completed" },
  ];
  const body = toSse(
    ...items.map((item, output_index) => ({
      type: "response.output_item.done",
      output_index,
      item,
    })),
    {
      type: "response.completed",
      response: { id: "r", status: "completed", output: items, usage: { input_tokens: 1 } },
    },
  );
  const counts = {
    webSearchRequests: 2,
    fileSearchRequests: 1,
    codeExecutionRequests: 1,
    imageGenerationRequests: 1,
  };
  assertEquals(await readFees({ name: "openai/gpt-5.4", create: createOpenAI, body }), [counts, {
    webSearchRequests: 0.02,
    fileSearchRequests: 0.0025,
    codeExecutionRequests: null,
    imageGenerationRequests: null,
  }]);
});

Deno.test("azure: the fees of OpenAI's server tools are not those of Azure", () => {
  const rates = findModelRates(catalog, { provider: "azure", modelId: "gpt-5.4" });
  assertEquals([rates?.input, rates?.requests], [2.5, undefined]);
});

Deno.test("google: searches cost per query, with models before Gemini 3 per prompt, and those of maps an unknown fee", async () => {
  const grounding = { webSearchQueries: ["a", "b", ""], groundingChunks: [] };
  const create = (groundingMetadata: object) =>
    toSse(
      { candidates: [{ content: { parts: [{ text: "Hi" }] }, groundingMetadata }] },
      { candidates: [{ finishReason: "STOP", groundingMetadata }], usageMetadata: {} },
    );
  const read = (name: string, metadata: object) =>
    readFees({ name, create: createGoogle, body: create(metadata) });
  const getFee = (amount: number | null) => ({ webSearchRequests: amount });
  assertEquals(await read("google/gemini-3.8-flash", grounding), [getFee(2), getFee(0.028)]);
  assertEquals(await read("google/gemini-2.5-pro", grounding), [getFee(1), getFee(0.035)]);
  assertEquals(await read("google/gemini-3.8-flash", { webSearchQueries: [""] }), [{}, undefined]);
  const maps = { groundingChunks: [{ maps: { uri: "https://maps.example" } }] };
  assertEquals(await read("google/gemini-3.8-flash", maps), [
    { mapsRequests: 1 },
    { mapsRequests: null },
  ]);
});

Deno.test("bedrock: the fees of system tools are not known", async () => {
  const body = encodeEventStream([
    ...["nova_grounding", "nova_code_interpreter"].map((name, contentBlockIndex) => ({
      contentBlockStart: {
        contentBlockIndex,
        start: { toolUse: { toolUseId: "1", name, type: "server_tool_use" } },
      },
    })),
    { messageStop: { stopReason: "end_turn" } },
    { metadata: { usage: { inputTokens: 1, outputTokens: 1, totalTokens: 2 } } },
  ]);
  const create: Create = ({ fetch }) =>
    createBedrock({ fetch, bearerToken: "k", region: "us-east-1" });
  assertEquals(await readFees({ name: "bedrock/amazon.nova-2-lite-v1:0", create, body }), [
    { webSearchRequests: 1, codeExecutionRequests: 1 },
    { webSearchRequests: null, codeExecutionRequests: null },
  ]);
});

Deno.test("mistral: the fees of server tools and of the priority tier are not known, and no reply is free", async () => {
  const name = "mistral/mistral-large-latest";
  const create = (service_tier?: string) =>
    toSse(
      { choices: [{ index: 0, delta: { content: "Hi" } }] },
      {
        choices: [{ index: 0, delta: {}, finish_reason: "stop" }],
        usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2, service_tier },
      },
    ) + "data: [DONE]\n\n";
  const read = (body: string, options: StreamOptions = {}) =>
    readFees({ name, create: createMistral, body, options });
  assertEquals(await read(create("standard")), [{}, undefined]);
  assertEquals(await read(create("priority")), [
    { priorityRequests: 1 },
    { priorityRequests: null },
  ]);
  // Mistral may serve any request with this tier in the default one, and reports it.
  assertEquals(await read(create(), { serviceTier: "priority" }), [{}, undefined]);
  assertEquals(await read(create(), { serverTools: [webSearch()] }), [
    { serverToolRequests: 1 },
    { serverToolRequests: null },
  ]);
});

/** Replies with the tier that served them, as the providers report it. */
const TIER_SUBJECTS: readonly {
  readonly name: string;
  readonly create: Create;
  readonly createBody: (tier?: string) => string | Uint8Array<ArrayBuffer>;
  readonly tiers: readonly (readonly [reported: string, counted: string])[];
  /** The default tier in the words of the provider. */
  readonly standard: string;
}[] = [
  {
    name: "openai/gpt-4o",
    create: (options) => createOpenAI({ ...options, api: "chat" }),
    createBody: (service_tier) =>
      toSse(
        { choices: [{ index: 0, delta: { content: "Hi" } }], service_tier },
        { choices: [{ index: 0, delta: {}, finish_reason: "stop" }], service_tier },
        {
          choices: [],
          usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
          service_tier,
        },
      ) + "data: [DONE]\n\n",
    tiers: [["flex", "flex"], ["priority", "priority"], ["scale", "scale"]],
    standard: "default",
  },
  {
    name: "openai/gpt-5.4",
    create: (options) => createOpenAI({ ...options, api: "responses" }),
    createBody: (service_tier) =>
      toSse({
        type: "response.completed",
        response: {
          id: "r",
          status: "completed",
          output: [{
            type: "message",
            content: [{ type: "output_text", text: "Hi" }],
          }],
          usage: { input_tokens: 1, output_tokens: 1, total_tokens: 2 },
          service_tier,
        },
      }),
    tiers: [["flex", "flex"], ["priority", "priority"], ["scale", "scale"]],
    standard: "default",
  },
  {
    name: "google/gemini-3.8-flash",
    create: createGoogle,
    createBody: (serviceTier) =>
      toSse({
        candidates: [{ content: { parts: [{ text: "Hi" }] }, finishReason: "STOP" }],
        usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 1, serviceTier },
      }),
    tiers: [["flex", "flex"], ["SERVICE_TIER_PRIORITY", "priority"]],
    standard: "standard",
  },
  {
    name: "bedrock/amazon.nova-2-lite-v1:0",
    create: ({ fetch }) => createBedrock({ fetch, bearerToken: "k", region: "us-east-1" }),
    createBody: (type) =>
      encodeEventStream([
        { contentBlockDelta: { contentBlockIndex: 0, delta: { text: "Hi" } } },
        { messageStop: { stopReason: "end_turn" } },
        {
          metadata: {
            usage: { inputTokens: 1, outputTokens: 1, totalTokens: 2 },
            ...(type !== undefined && { serviceTier: { type } }),
          },
        },
      ]),
    tiers: [["flex", "flex"], ["priority", "priority"], ["reserved", "reserved"]],
    standard: "default",
  },
];

for (const { name, create, createBody, tiers, standard } of TIER_SUBJECTS) {
  Deno.test(`${name}: a reply is not priced with the default rates if another tier served it`, async () => {
    const read = (tier?: string, options: StreamOptions = {}) =>
      readFees({ name, create, body: createBody(tier), options });
    for (const [reported, counted] of tiers) {
      const expected = [{ [`${counted}Requests`]: 1 }, { [`${counted}Requests`]: null }];
      assertEquals(await read(reported), expected);
    }
    for (const serviceTier of ["flex", "priority"] as const) {
      const options: StreamOptions = { serviceTier };
      const expected = [{ [`${serviceTier}Requests`]: 1 }, { [`${serviceTier}Requests`]: null }];
      // Without a report, and with one of any tier, the requested tier counts.
      for (const unknown of [undefined, "auto"]) {
        assertEquals(await read(unknown, options), expected);
      }
      // The provider may serve a request in another tier than the requested one.
      assertEquals(await read(standard, options), [{}, undefined]);
    }
    assertEquals(await read(), [{}, undefined]);
    assertEquals(await read(standard), [{}, undefined]);
  });
}

Deno.test("anthropic: a reply of the priority tier or of the fast mode has no known price", async () => {
  const read = (counts: object, options: StreamOptions = {}) =>
    readFees({
      name: "anthropic/claude-opus-4-8",
      create: createAnthropic,
      body: createClaudeReply(counts),
      options,
    });
  const priority = [{ priorityRequests: 1 }, { priorityRequests: null }];
  assertEquals(await read({ service_tier: "priority" }), priority);
  assertEquals(await read({ speed: "fast" }), [{ fastRequests: 1 }, { fastRequests: null }]);
  const standard = { service_tier: "standard", speed: "standard" };
  assertEquals(await read(standard, { serviceTier: "priority" }), [{}, undefined]);
});

Deno.test("priceUsage(): rates with a fee of 0 for a service tier are those of that tier", () => {
  const usage = {
    input: 1e6,
    output: 0,
    cacheRead: 0,
    cacheWrite: 0,
    total: 1e6,
    extra: { flexRequests: 1 },
  };
  assertEquals(priceUsage(usage, { input: 1, output: 1 }).total, null);
  assertEquals(priceUsage(usage, { input: 1, output: 1, requests: { flexRequests: 0 } }).total, 1);
});

Deno.test("google: Vertex AI gets no service tier, and reports the one that served a reply", async () => {
  const baseUrl = "https://aiplatform.googleapis.com/v1/projects/p/locations/l/publishers/google";
  const read = (trafficType?: string) => {
    const body = toSse({
      candidates: [{ content: { parts: [{ text: "Hi" }] }, finishReason: "STOP" }],
      usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 1, trafficType },
    });
    const create: Create = (options) => createGoogle({ ...options, baseUrl });
    const options: StreamOptions = { serviceTier: "flex" };
    return readFees({ name: "google/gemini-3.8-flash", create, body, options });
  };
  assertEquals(await read(), [{}, undefined]);
  assertEquals(await read("ON_DEMAND"), [{}, undefined]);
  assertEquals(await read("ON_DEMAND_PRIORITY"), [
    { priorityRequests: 1 },
    { priorityRequests: null },
  ]);
});

Deno.test("anthropic: a reply from one region costs a tenth more, also where only the workspace requests that", async () => {
  const read = async (inference_geo?: string) => {
    const name = "anthropic/claude-fable-5-2";
    const body = createClaudeReply({ inference_geo });
    const model = modelSpec(name);
    const create = createAnthropic({ fetch: replayFetch(body), apiKey: "sk-test" });
    const { usage } = await readReply(create(createMinimalRequest(model.provider, model.modelId)));
    const rates = findModelRates(catalog, model);
    const total = usage && rates && priceUsage(usage, rates).total;
    return [usage?.extra, Number(((total ?? 0) * 1e6).toFixed(6))];
  };
  for (const region of [undefined, "global", "not_available", ""]) {
    assertEquals(await read(region), [undefined, 48], region);
  }
  for (const region of ["us", "eu"]) {
    assertEquals(await read(region), [{ regionalRequests: 1 }, 52.8], region);
  }
});

Deno.test("openai: a reply from a region with data residency is counted, whose prices differ", async () => {
  const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 };
  const chat = toSse(
    { choices: [{ index: 0, delta: { content: "Hi" } }] },
    { choices: [{ index: 0, delta: {}, finish_reason: "stop" }], usage },
  ) + "data: [DONE]\n\n";
  const responses = toSse({
    type: "response.completed",
    response: {
      id: "r",
      status: "completed",
      output: [{ type: "message", content: [{ type: "output_text", text: "Hi" }] }],
      usage: { input_tokens: 1, output_tokens: 1, total_tokens: 2 },
    },
  });
  const regional = [{ regionalRequests: 1 }, undefined];
  for (const [api, body] of [["chat", chat], ["responses", responses]] as const) {
    const read = (baseUrl?: string) =>
      readFees({
        name: "openai/gpt-5.4",
        create: (options) => createOpenAI({ ...options, api, baseUrl }),
        body,
      });
    assertEquals(await read(), [{}, undefined], api);
    assertEquals(await read("https://api.openai.com/v1"), [{}, undefined], api);
    assertEquals(await read("https://other.example/v1"), [{}, undefined], api);
    assertEquals(await read("https://eu.api.openai.com/v1"), regional, api);
    assertEquals(await read("https://us.api.openai.com/v1"), regional, api);
  }
});
