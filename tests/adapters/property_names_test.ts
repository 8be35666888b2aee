import { assertEquals } from "@std/assert";
import { createAnthropic } from "../../adapters/anthropic/mod.ts";
import { createBedrock } from "../../adapters/bedrock/mod.ts";
import { createOpenAI } from "../../adapters/openai/mod.ts";
import type { JsonObject } from "../../src/core/json/json.ts";
import { type ModelSpec, modelSpec } from "../../src/core/models/model.ts";
import type { StreamFn, StreamRequest } from "../../src/core/streams/stream.ts";
import { readReply } from "../../src/testing/read_reply.ts";
import { replayFetch } from "../../src/testing/replay_fetch.ts";
import { encodeEventStream, EVENT_STREAM_TYPE } from "./bedrock_frames.ts";
import { NINE_PROVIDERS } from "./nine_providers.ts";
import { createReply, createToolResult, prompt } from "./rich_conversation.ts";
import { captureRequest } from "./sent_request.ts";

const LONG_NAME = "x".repeat(70);

/** A tool such as MCP servers have. */
const LIST_APPS = {
  name: "list_apps",
  description: "Lists apps.",
  parameters: {
    $schema: "http://json-schema.org/draft-07/schema#",
    type: "object",
    properties: {
      "filter[id]": { type: "string", description: "Id of an app." },
      $top: { type: "integer", minimum: 0, exclusiveMinimum: true },
      größe: { type: "object", properties: { "in €": { type: "number" } } },
      [LONG_NAME]: {},
      tags: { type: "array" },
      range: { type: "array", items: [{ type: "number" }, { type: "number" }] },
      any: true,
      flag: { type: "boolean", required: true },
    },
    required: ["$top", "tags"],
  },
};

const CLAUDE = modelSpec("anthropic/claude-sonnet-4-5");
const GATEWAY = modelSpec("openrouter/anthropic/claude-sonnet-4.5");
const RESPONSES = modelSpec("gateway/anthropic/claude-sonnet-4.5");
const BEDROCK = modelSpec("bedrock/us.anthropic.claude-sonnet-4-5-20250929-v1:0");
const INPUT = { $top: 5, "filter[id]": "$top", größe: { "in €": 1 }, other: [], tags: ["$top"] };
function createRequest(model: ModelSpec): StreamRequest {
  return {
    model,
    context: {
      systemPrompt: "",
      messages: [
        prompt("List."),
        createReply(model, [{ type: "tool_call", id: "1", name: "list_apps", arguments: INPUT }]),
        createToolResult("1", "list_apps", [{ type: "text", text: "none" }]),
      ],
      tools: [LIST_APPS, { name: "other", description: "", parameters: { type: "object" } }],
    },
    options: { apiKey: "sk-test" },
    signal: new AbortController().signal,
  };
}

/** The parts of a request to Claude that contain names of parameters. */
interface SentNames {
  readonly schema: JsonObject;
  readonly input: JsonObject;
}

function asObject(value: unknown): JsonObject {
  return Object(value);
}

async function sendToAnthropic(): Promise<SentNames> {
  const { body } = await captureRequest(
    (fetch) => createAnthropic({ fetch }),
    createRequest(CLAUDE),
  );
  const { tools, messages } = body as {
    tools: JsonObject[];
    messages: { content: JsonObject[] }[];
  };
  return {
    schema: asObject(tools[0]?.["input_schema"]),
    input: asObject(messages[1]?.content[0]?.["input"]),
  };
}

async function sendToBedrock(): Promise<SentNames> {
  const { body } = await captureRequest(
    (fetch) => createBedrock({ fetch, region: "us-east-1" }),
    createRequest(BEDROCK),
  );
  const { toolConfig, messages } = body as {
    toolConfig: { tools: { toolSpec: { inputSchema: { json: JsonObject } } }[] };
    messages: { content: { toolUse: { input: JsonObject } }[] }[];
  };
  return {
    schema: asObject(toolConfig.tools[0]?.toolSpec.inputSchema.json),
    input: asObject(messages[1]?.content[0]?.toolUse.input),
  };
}

async function sendToGateway(): Promise<SentNames> {
  const { body } = await captureRequest(
    (fetch) => createOpenAI({ fetch, baseUrl: "https://openrouter.ai/api/v1" }),
    createRequest(GATEWAY),
  );
  const { tools, messages } = body as {
    tools: { function: { parameters: JsonObject } }[];
    messages: { tool_calls: { function: { arguments: string } }[] }[];
  };
  return {
    schema: asObject(tools[0]?.function.parameters),
    input: asObject(JSON.parse(messages[1]?.tool_calls[0]?.function.arguments ?? "")),
  };
}

async function sendToResponses(): Promise<SentNames> {
  const { body } = await captureRequest(
    (fetch) => createOpenAI({ fetch, baseUrl: "https://openrouter.ai/api/v1", api: "responses" }),
    createRequest(RESPONSES),
  );
  const { tools, input } = body as {
    tools: { parameters: JsonObject }[];
    input: { arguments: string }[];
  };
  return {
    schema: asObject(tools[0]?.parameters),
    input: asObject(JSON.parse(input[1]?.arguments ?? "")),
  };
}

/** Splits the JSON text of an input into pieces of 7 characters, with one number that has many digits. */
function toPieces(input: JsonObject): string[] {
  return JSON.stringify(input).replace(":5,", ":12345678901234567890,").match(/.{1,7}/gs) ?? [];
}

function createAnthropicReply(input: JsonObject, stopReason: string): StreamFn {
  const start = { type: "tool_use", id: "1", name: "list_apps", input: {} };
  const events = [
    { type: "message_start", message: { id: "m" } },
    { type: "content_block_start", index: 0, content_block: start },
    ...toPieces(input).map((partial_json) => ({
      type: "content_block_delta",
      index: 0,
      delta: { type: "input_json_delta", partial_json },
    })),
    ...(stopReason === "tool_use" ? [{ type: "content_block_stop", index: 0 }] : []),
    { type: "message_delta", delta: { stop_reason: stopReason } },
    { type: "message_stop" },
  ];
  const body = events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join("");
  return createAnthropic({ fetch: replayFetch(body) });
}

function createBedrockReply(input: JsonObject, stopReason: string): StreamFn {
  const toolUse = { toolUseId: "1", name: "list_apps" };
  const body = encodeEventStream([
    { messageStart: { role: "assistant" } },
    { contentBlockStart: { contentBlockIndex: 0, start: { toolUse } } },
    ...toPieces(input).map((input) => ({
      contentBlockDelta: { contentBlockIndex: 0, delta: { toolUse: { input } } },
    })),
    ...(stopReason === "tool_use" ? [{ contentBlockStop: { contentBlockIndex: 0 } }] : []),
    { messageStop: { stopReason } },
    { metadata: { usage: { inputTokens: 1, outputTokens: 1, totalTokens: 2 } } },
  ]);
  const headers = { "content-type": EVENT_STREAM_TYPE };
  const fetch = replayFetch({ status: 200, headers, body });
  return createBedrock({ fetch, region: "us-east-1", bearerToken: "sk-test" });
}

function createGatewayReply(input: JsonObject, stopReason: string): StreamFn {
  const start = { index: 0, id: "1", function: { name: "list_apps", arguments: "" } };
  const pieces = toPieces(input).map((args) => ({ index: 0, function: { arguments: args } }));
  const end = stopReason === "tool_use" ? "tool_calls" : "length";
  const chunks = [
    ...[start, ...pieces].map((piece) => ({
      choices: [{ index: 0, delta: { tool_calls: [piece] } }],
    })),
    { choices: [{ index: 0, delta: {}, finish_reason: end }] },
  ];
  const body = chunks.map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`).join("");
  return createOpenAI({ fetch: replayFetch(body), baseUrl: "https://openrouter.ai/api/v1" });
}

function createResponsesReply(input: JsonObject, stopReason: string): StreamFn {
  const item = { type: "function_call", id: "f", call_id: "1", name: "list_apps" };
  const position = { output_index: 0, item_id: "f" };
  const pieces = toPieces(input);
  const isComplete = stopReason === "tool_use";
  const last = isComplete
    ? { type: "response.completed", response: { status: "completed" } }
    : { type: "response.incomplete", response: { status: "incomplete" } };
  const events = [
    {
      type: "response.output_item.added",
      output_index: 0,
      item: { ...item, arguments: "" },
    },
    ...pieces.map((delta) => ({
      type: "response.function_call_arguments.delta",
      ...position,
      delta,
    })),
    {
      type: "response.output_item.done",
      output_index: 0,
      item: {
        ...item,
        arguments: pieces.join(""),
        status: isComplete ? "completed" : "incomplete",
      },
    },
    last,
  ];
  const body = events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join("");
  return createOpenAI({
    fetch: replayFetch(body),
    baseUrl: "https://openrouter.ai/api/v1",
    api: "responses",
  });
}

/** Returns the text of the arguments in a reply. */
async function readArguments(streamFn: StreamFn, model: ModelSpec): Promise<string> {
  let text = "";
  for await (const event of streamFn(createRequest(model))) {
    if (event.type === "tool_call_delta") text += event.delta;
  }
  return text;
}

const SUBJECTS = [
  { model: CLAUDE, send: sendToAnthropic, createStreamFn: createAnthropicReply },
  { model: GATEWAY, send: sendToGateway, createStreamFn: createGatewayReply },
  { model: RESPONSES, send: sendToResponses, createStreamFn: createResponsesReply },
  { model: BEDROCK, send: sendToBedrock, createStreamFn: createBedrockReply },
];

for (const { model, send, createStreamFn } of SUBJECTS) {
  Deno.test(`${model.provider}: parameters have other names in requests if Claude rejects theirs`, async () => {
    const { schema, input } = await send();
    const properties = asObject(schema["properties"]);
    const [filter = "", top = "", size = "", long = "", ...others] = Object.keys(properties);
    assertEquals(others, ["tags", "range", "any", "flag"]);
    assertEquals([filter, top, size, long].map((name) => name.replace(/[a-z\d]{8}$/, "")), [
      "filter_id__",
      "_top_",
      "gr__e_",
      `${"x".repeat(55)}_`,
    ]);
    assertEquals(schema["required"], [top, "tags"]);
    assertEquals(properties[filter], {
      type: "string",
      description: 'Id of an app.\n\nCalled "filter[id]" elsewhere.',
    });
    assertEquals(properties[size], {
      type: "object",
      properties: { "in €": { type: "number" } },
      description: 'Called "größe" elsewhere.',
    });
    assertEquals(input, {
      [top]: 5,
      [filter]: "$top",
      [size]: { "in €": 1 },
      other: [],
      tags: ["$top"],
    });
  });

  Deno.test(`${model.provider}: calls have the names of the tool's own parameters`, async () => {
    const { input } = await send();
    const expected = JSON.stringify(INPUT).replace(":5,", ":12345678901234567890,");
    assertEquals(await readArguments(createStreamFn(input, "tool_use"), model), expected);
    assertEquals(await readArguments(createStreamFn(input, "max_tokens"), model), expected);
    const { calls } = await readReply(createStreamFn(input, "max_tokens")(createRequest(model)));
    assertEquals(calls.map(({ state }) => state), ["truncated"]);
  });
}

Deno.test("all providers: accept the schema of a tool that an MCP server has", async () => {
  for (const { model, createStreamFn } of NINE_PROVIDERS) {
    await captureRequest((fetch) => createStreamFn({ fetch }), createRequest(model));
  }
});
