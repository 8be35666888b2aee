import { assert, assertEquals } from "@std/assert";
import { createAnthropic } from "../../adapters/anthropic/mod.ts";
import { createBedrock } from "../../adapters/bedrock/mod.ts";
import { createGoogle } from "../../adapters/google/mod.ts";
import { createOpenAI } from "../../adapters/openai/mod.ts";
import type { JsonObject, JsonSchema } from "../../src/core/json/json.ts";
import type { ContentBlock } from "../../src/core/messages/content.ts";
import type { LlmMessage } from "../../src/core/messages/message.ts";
import { modelSpec } from "../../src/core/models/model.ts";
import { providerTool, webSearch } from "../../src/core/streams/server_tool.ts";
import type {
  StreamFn,
  StreamOptions,
  StreamRequest,
  ToolChoice,
  ToolSpec,
} from "../../src/core/streams/stream.ts";
import { readReply } from "../../src/testing/read_reply.ts";
import { replayFetch } from "../../src/testing/replay_fetch.ts";
import { startThreadTimer } from "../thread_time.ts";
import { createReply, createToolResult, PIXEL, prompt, richRequest } from "./rich_conversation.ts";
import { captureRequest } from "./sent_request.ts";

const apiKey = "sk-test";
const CLAUDE = "anthropic/claude-sonnet-4-5";
const VERTEX =
  "https://europe-west4-aiplatform.googleapis.com/v1/projects/p/locations/europe-west4/publishers/google";

type Create = (fetch: typeof globalThis.fetch) => StreamFn;

interface RequestParts {
  readonly messages?: readonly LlmMessage[];
  readonly tools?: readonly ToolSpec[];
  readonly options?: StreamOptions;
}

function createRequest(name: string, parts: RequestParts): StreamRequest {
  const { messages = [prompt("Hi")], tools = [], options = {} } = parts;
  return {
    model: modelSpec(name),
    context: { systemPrompt: "", messages, tools },
    options: { apiKey, ...options },
    signal: new AbortController().signal,
  };
}

function send(create: Create, name: string, parts: RequestParts = {}) {
  return captureRequest(create, createRequest(name, parts));
}

const toClaude: Create = (fetch) => createAnthropic({ fetch });
const toChat: Create = (fetch) => createOpenAI({ fetch, api: "chat" });
const toResponses: Create = (fetch) => createOpenAI({ fetch, api: "responses" });
const toBedrock: Create = (fetch) =>
  createBedrock({ fetch, region: "us-east-1", bearerToken: apiKey });

function createBatch(name: string, results: readonly (readonly [ContentBlock[], boolean])[]) {
  const ids = results.map((_, index) => `call_${index}`);
  const calls = ids.map((id): ContentBlock => ({
    type: "tool_call",
    id,
    name: "look",
    arguments: {},
  }));
  return [
    prompt("Look."),
    createReply(modelSpec(name), calls),
    ...results.map(([content, isError], index) =>
      createToolResult(`call_${index}`, "look", content, isError)
    ),
  ];
}

Deno.test("createGoogle(): sends calls and results without ids to Vertex AI, with ids to the Gemini API", async () => {
  const request = richRequest(modelSpec("google/gemini-2.5-flash"));
  const countIds = async (baseUrl?: string) => {
    const { body } = await captureRequest(
      (fetch) => createGoogle({ fetch, ...(baseUrl !== undefined && { baseUrl }) }),
      request,
    );
    return JSON.stringify(body).split('"id":').length - 1;
  };
  assertEquals(await countIds(VERTEX), 0);
  assertEquals(await countIds(), 4);
});

Deno.test("createGoogle(): refuses a model id that is a path to another resource", async () => {
  for (
    const modelId of ["../v1beta/cachedContents?x=/", "models/../files", "cachedContents/a", ".."]
  ) {
    const fetch = replayFetch([]);
    const request = createRequest("google/x", {});
    const reply = await readReply(
      createGoogle({ fetch })({ ...request, model: { ...request.model, modelId } }),
    );
    assertEquals([reply.error?.code, fetch.requests.length], ["bad_request", 0], modelId);
  }
  const tuned = await send((fetch) => createGoogle({ fetch }), "google/tunedModels/my-model");
  assert(tuned.url.includes("/v1beta/tunedModels/my-model:streamGenerateContent"));
});

Deno.test("createOpenAI(): calls the Responses API of hosts with data residency", async () => {
  const getPath = async (baseUrl: string) => {
    const { url } = await send((fetch) => createOpenAI({ fetch, baseUrl }), "openai/gpt-5.4");
    return new URL(url).pathname;
  };
  assertEquals(await getPath("https://eu.api.openai.com/v1"), "/v1/responses");
  assertEquals(await getPath("https://api.openai.com/v1/"), "/v1/responses");
  assertEquals(await getPath("https://api.openai.com.example.com/v1"), "/v1/chat/completions");
});

Deno.test("createAnthropic(): sends the images of an error result after all results, and never an empty one", async () => {
  const messages = createBatch(CLAUDE, [[[PIXEL], true], [[], true], [[], false]]);
  const { body } = await send(toClaude, CLAUDE, { messages, options: { cache: "off" } });
  const text = (text: string) => ({ type: "text", text });
  const error = (id: string, text: object) => ({
    type: "tool_result",
    tool_use_id: id,
    content: [text],
    is_error: true,
  });
  assertEquals(getLast(body, "messages")["content"], [
    error("call_0", text("Error: (see the images)")),
    error("call_1", text("Error: (no output)")),
    { type: "tool_result", tool_use_id: "call_2" },
    text("Images from look:"),
    { type: "image", source: { type: "base64", media_type: "image/png", data: "iVBORw0KGgo=" } },
  ]);
});

Deno.test("createBedrock(): sends images in results only to Claude, and not in error results", async () => {
  const getContents = async (modelId: string, isError: boolean) => {
    const name = `bedrock/${modelId}`;
    const messages = createBatch(name, [[[PIXEL], isError]]);
    const { body } = await send(toBedrock, name, { messages, options: { cache: "off" } });
    const blocks = getLast(body, "messages")["content"] as JsonObject[];
    return blocks.map((block) => JSON.stringify(block).includes("bytes") ? "image" : "text");
  };
  assertEquals(await getContents("anthropic.claude-sonnet-4-5-20250929-v1:0", false), ["image"]);
  const separate = ["text", "text", "image"];
  assertEquals(await getContents("anthropic.claude-sonnet-4-5-20250929-v1:0", true), separate);
  assertEquals(await getContents("amazon.nova-2-lite-v1:0", false), separate);
});

Deno.test("adapters: strict schemas have only the keywords that the provider enforces", async () => {
  const responseSchema: JsonSchema = {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    type: "object",
    properties: {
      age: { type: "integer", minimum: 0, default: 1 },
      name: { type: "string", minLength: 1, description: "A name" },
      kind: { oneOf: [{ const: "a" }, { const: "b" }] },
    },
    required: ["age", "name", "kind"],
    additionalProperties: false,
  };
  const options = { responseSchema };
  const kind = { anyOf: [{ const: "a" }, { const: "b" }] };
  const name = { type: "string", description: "A name\n\n{minLength: 1}" };
  const { type, required, additionalProperties } = responseSchema;
  const root = { type, required, additionalProperties };
  const claude = await send(toClaude, CLAUDE, { options });
  assertEquals(claude.body["output_config"], {
    format: {
      type: "json_schema",
      schema: {
        ...root,
        properties: { age: { type: "integer", description: "{minimum: 0}" }, name, kind },
      },
    },
  });
  const openai = await send(toResponses, "openai/gpt-5.4", { options });
  assertEquals(openai.body["text"], {
    format: {
      type: "json_schema",
      name: "response",
      strict: true,
      schema: { ...root, properties: { age: { type: "integer", minimum: 0 }, name, kind } },
    },
  });
});

Deno.test("createAnthropic(): sends the caller's beta features together with its own", async () => {
  const create: Create = (fetch) =>
    createAnthropic({
      fetch,
      headers: { "Anthropic-Beta": "files-api-2025-04-14, a", "x-b": "1" },
    });
  const { headers } = await send(create, `${CLAUDE}:low`, { tools: [LOOK] });
  assertEquals(
    headers.get("anthropic-beta"),
    "interleaved-thinking-2025-05-14,files-api-2025-04-14,a",
  );
  assertEquals(headers.get("x-b"), "1");
});

const LOOK: ToolSpec = { name: "look", description: "Looks.", parameters: { type: "object" } };

Deno.test("adapters: send server tools and tools of extra fields together with the agent's own", async () => {
  const options = {
    serverTools: [
      webSearch(),
      providerTool("anthropic", { type: "computer_20251124", name: "look" }),
    ],
    extra: { tools: [{ type: "memory_20250818", name: "memory" }] },
  };
  const tools = [LOOK, { ...LOOK, name: "read" }];
  const { body } = await send(toClaude, CLAUDE, { tools, options });
  assertEquals(
    (body["tools"] as JsonObject[]).map(({ name, type }) => [name, type]),
    [
      ["read", undefined],
      ["web_search", "web_search_20250305"],
      ["look", "computer_20251124"],
      ["memory", "memory_20250818"],
    ],
  );
  const extra = { text: { verbosity: "low" }, reasoning: { summary: "detailed", context: "x" } };
  const responses = await send(toResponses, "openai/gpt-5.4:low", { options: { extra } });
  assertEquals(responses.body["text"], { verbosity: "low" });
  assertEquals(responses.body["reasoning"], { effort: "low", summary: "auto", context: "x" });
});

Deno.test("createOpenAI(): sends a cache key of at most 64 characters, the same for a conversation that grows", async () => {
  const getKey = async (options: StreamOptions, ...more: readonly LlmMessage[]) =>
    (await send(toChat, "openai/gpt-4o", { options, messages: [prompt("Hi"), ...more] }))
      .body["prompt_cache_key"];
  const long = String(await getKey({ sessionId: "s".repeat(100) }));
  assertEquals(long.length, 64);
  assert(long !== await getKey({ sessionId: "s".repeat(101) }));
  const key = await getKey({});
  assertEquals(typeof key, "string");
  assertEquals(await getKey({}, prompt("And?")), key);
  assertEquals(await getKey({ cache: "off" }), undefined);
});

Deno.test("createOpenAI(): moves the end of a description over 1024 characters to the schema of the tool", async () => {
  const description = `${"a".repeat(1024)}${"b".repeat(10)}`;
  const parameters = { type: "object", description: "The input." };
  const tools = [{ name: "look", description, parameters }];
  const { body } = await send(toChat, "openai/gpt-4o", { tools });
  assertEquals(getLast(body, "tools")["function"], {
    name: "look",
    description: "a".repeat(1024),
    parameters: { ...parameters, properties: {}, description: `${"b".repeat(10)}\n\nThe input.` },
  });
  const compatible = await send(
    (fetch) => createOpenAI({ fetch, baseUrl: "https://api.groq.com/openai/v1" }),
    "openai/llama",
    { tools },
  );
  assert(JSON.stringify(compatible.body).includes(`"description":"${description}"`));
});

Deno.test("createOpenAI(): merges prompts that follow each other, and separates replies, for compatible servers", async () => {
  const model = { provider: "openai", modelId: "gemma-3" };
  const reply = (text: string) => createReply(model, [{ type: "text", text }]);
  const call: ContentBlock = { type: "tool_call", id: "call_1", name: "look", arguments: {} };
  const { body } = await send(
    (fetch) => createOpenAI({ fetch, baseUrl: "http://localhost:8080/v1" }),
    "openai/gemma-3",
    {
      messages: [
        prompt("One"),
        prompt("Two", PIXEL),
        reply("Three"),
        createReply(model, [{ type: "text", text: "Four" }, call]),
        createToolResult("call_1", "look", [PIXEL]),
        prompt("Five"),
      ],
    },
  );
  const messages = body["messages"] as JsonObject[];
  const roles = ["user", "assistant", "user", "assistant", "tool", "user"];
  assertEquals(messages.map(({ role }) => role), roles);
  const text = (text: string) => ({ type: "text", text });
  const image = { type: "image_url", image_url: { url: "data:image/png;base64,iVBORw0KGgo=" } };
  assertEquals(messages[0]?.["content"], [text("One"), text("Two"), image]);
  const replies = messages.slice(1, 4).map(({ content }) => content);
  assertEquals(replies, ["Three", "Continue.", "Four"]);
  assertEquals(messages[5]?.["content"], [text("Images from look:"), image, text("Five")]);
});

Deno.test("createGoogle(): separates replies that follow each other, since a call must follow a user content", async () => {
  const model = { provider: "google", modelId: "gemini-2.5-flash" };
  const call: ContentBlock = { type: "tool_call", id: "call_1", name: "look", arguments: {} };
  const { body } = await send((fetch) => createGoogle({ fetch }), "google/gemini-2.5-flash", {
    messages: [
      prompt("Look."),
      createReply(model, [{ type: "text", text: "I will" }]),
      createReply(model, [call]),
      createToolResult("call_1", "look", []),
    ],
  });
  const contents = body["contents"] as JsonObject[];
  assertEquals(contents.map(({ role }) => role), ["user", "model", "user", "model", "user"]);
  assertEquals(contents.slice(1, 4).map(({ parts }) => parts), [
    [{ text: "I will" }],
    [{ text: "Continue." }],
    [{ functionCall: { id: "call_1", name: "look", args: {} } }],
  ]);
});

Deno.test("createBedrock(): forces a call only of the models that support it", async () => {
  const tools = [{ name: "look", description: "", parameters: {} }];
  const getChoice = async (modelId: string, toolChoice: ToolChoice) => {
    const { body, warnings } = await send(toBedrock, `bedrock/${modelId}`, {
      tools,
      options: { toolChoice },
    });
    const { toolChoice: sent } = body["toolConfig"] as JsonObject;
    return sent ?? warnings.map(({ code }) => code).filter((code) => /choice/.test(code));
  };
  const omitted = ["tool_choice_left_out"];
  assertEquals(await getChoice("anthropic.claude-sonnet-4-20250514-v1:0", "required"), { any: {} });
  assertEquals(await getChoice("mistral.mistral-large-2402-v1:0", "required"), { any: {} });
  assertEquals(await getChoice("mistral.mistral-large-2402-v1:0", { name: "look" }), omitted);
  assertEquals(await getChoice("us.meta.llama4-scout-17b-instruct-v1:0", "required"), omitted);
});

Deno.test("adapters: a data: URL of 500 KB without a comma takes seconds at most, not minutes", async () => {
  const url = `data:image/png${" ".repeat(500_000)}`;
  const messages = [prompt({ type: "image", source: { type: "url", url } })];
  const getThreadTime = startThreadTimer();
  await send(toClaude, CLAUDE, { messages });
  assert(getThreadTime() < 10_000);
});

Deno.test("adapters: data: URLs and media types with several names are sent as every provider accepts them", async () => {
  const data = "iVBORw0KGgo=";
  const messages = [prompt(
    { type: "image", source: { type: "url", url: `data:image/png;base64,${data}` } },
    { type: "image", source: { type: "base64", mediaType: "image/jpg", data } },
    { type: "image", source: { type: "base64", mediaType: "image/tiff", data } },
  )];
  const { body, warnings } = await send(toClaude, CLAUDE, { messages, options: { cache: "off" } });
  const image = (media_type: string) => ({
    type: "image",
    source: { type: "base64", media_type, data },
  });
  assertEquals(getLast(body, "messages")["content"], [
    image("image/png"),
    image("image/jpeg"),
    { type: "text", text: "(an image that this model cannot see)" },
  ]);
  assertEquals(warnings.map(({ code, message }) => [code, message]), [
    ["images_left_out", "The provider does not accept images of type image/tiff: 1 omitted"],
  ]);
});

Deno.test("adapters: a document of text becomes text where the provider has no documents", async () => {
  const messages = [prompt({
    type: "document",
    mediaType: "text/markdown",
    name: "notes.md",
    source: { type: "base64", data: btoa("# Notes") },
  })];
  const chat = await send(toChat, "openai/gpt-4o", { messages });
  assertEquals(getLast(chat.body, "messages")["content"], 'Document "notes.md":\n\n# Notes');
  const claude = await send(toClaude, CLAUDE, { messages, options: { cache: "off" } });
  assertEquals(getLast(claude.body, "messages")["content"], [{
    type: "document",
    source: { type: "text", media_type: "text/plain", data: "# Notes" },
    title: "notes.md",
  }]);
  assertEquals([...chat.warnings, ...claude.warnings], []);
});

Deno.test("adapters: merge alternatives at the root of a tool's schema, which providers reject", async () => {
  const parameters: JsonSchema = {
    oneOf: [{ $ref: "#/$defs/byId" }, {
      type: "object",
      properties: { name: { type: "string" }, limit: { type: "number" } },
      required: ["name", "limit"],
    }],
    $defs: {
      byId: {
        type: "object",
        properties: { id: { type: "string" }, limit: { type: "integer" } },
        required: ["id", "limit"],
      },
    },
  };
  const { body } = await send(toClaude, CLAUDE, { tools: [{ ...LOOK, parameters }] });
  const { $defs: _defs, ...schema } = getLast(body, "tools")["input_schema"] as JsonObject;
  assertEquals(schema, {
    type: "object",
    properties: {
      id: { type: "string" },
      limit: { anyOf: [{ type: "integer" }, { type: "number" }] },
      name: { type: "string" },
    },
    required: ["limit"],
  });
});

Deno.test("createOpenAI(): keeps the reasoning of a model that is not in the catalog", async () => {
  const getInclude = async (modelId: string) =>
    (await send(toResponses, `openai/${modelId}`)).body["include"];
  assertEquals(await getInclude("gpt-9.1-preview"), ["reasoning.encrypted_content"]);
  assertEquals(await getInclude("gpt-9-chat-latest"), undefined);
  assertEquals(await getInclude("my-model"), undefined);
});

Deno.test("createBedrock(): sends the guardrail of its options", async () => {
  const guardrail = { id: "gr-1", version: "DRAFT", trace: true } as const;
  const { body } = await send(
    (fetch) => createBedrock({ fetch, region: "us-east-1", bearerToken: apiKey, guardrail }),
    "bedrock/amazon.nova-2-lite-v1:0",
  );
  assertEquals(body["guardrailConfig"], {
    guardrailIdentifier: "gr-1",
    guardrailVersion: "DRAFT",
    trace: "enabled",
  });
});

function getLast(body: JsonObject, field: string): JsonObject {
  const list = body[field];
  return (Array.isArray(list) ? list.at(-1) : undefined) ?? {};
}
