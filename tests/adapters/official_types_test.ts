/**
 * Compiles request bodies against the types of the official SDKs.
 *
 * `tests/adapters/official_types/` is a project of its own, so that the SDKs are no dependencies of this one.
 *
 * @module
 */

import { assert, assertEquals, assertMatch } from "@std/assert";
import { createAnthropic } from "../../adapters/anthropic/mod.ts";
import { createBedrock } from "../../adapters/bedrock/mod.ts";
import { createGoogle } from "../../adapters/google/mod.ts";
import { createMistral } from "../../adapters/mistral/mod.ts";
import { createOllama } from "../../adapters/ollama/mod.ts";
import { createOpenAI } from "../../adapters/openai/mod.ts";
import type { JsonObject } from "../../src/core/json/json.ts";
import type { ContentBlock, ToolCallBlock } from "../../src/core/messages/content.ts";
import type { LlmMessage } from "../../src/core/messages/message.ts";
import { type ModelSpec, modelSpec } from "../../src/core/models/model.ts";
import {
  codeExecution,
  fileSearch,
  webFetch,
  webSearch,
} from "../../src/core/streams/server_tool.ts";
import type { StreamFn, StreamOptions } from "../../src/core/streams/stream.ts";
import { REPLY_NAMES } from "./reply_names.ts";
import {
  createConversation,
  createReply,
  createToolResult,
  PIXEL,
  prompt,
  TOOLS,
} from "./rich_conversation.ts";
import { captureRequest } from "./sent_request.ts";

/** Type in `official_types/bodies.ts`, model, and the adapter that sends its requests. */
type Subject = readonly [string, string, (fetch: typeof globalThis.fetch) => StreamFn];

const apiKey = "sk-test";
const SUBJECTS: readonly Subject[] = [
  ["AnthropicBody", "anthropic/claude-sonnet-4-5:low", (fetch) => createAnthropic({ fetch })],
  ["AnthropicBody", "anthropic/claude-opus-4-8:high", (fetch) => createAnthropic({ fetch })],
  [
    "BedrockBody",
    "bedrock/anthropic.claude-sonnet-4-5-20250929-v1:0:low",
    (fetch) => createBedrock({ fetch, region: "us-east-1", bearerToken: apiKey, guardrail }),
  ],
  [
    "BedrockBody",
    "bedrock/amazon.nova-2-lite-v1:0",
    (fetch) => createBedrock({ fetch, region: "us-east-1", bearerToken: apiKey }),
  ],
  ["ChatBody", "openai/gpt-4o", (fetch) => createOpenAI({ fetch, api: "chat" })],
  ["GoogleBody", "google/gemini-2.5-flash:low", (fetch) => createGoogle({ fetch })],
  ["GoogleBody", "google/gemini-3.8-flash:low", (fetch) => createGoogle({ fetch })],
  ["MistralBody", "mistral/mistral-medium-latest:low", (fetch) => createMistral({ fetch })],
  ["OllamaBody", "ollama/qwen3:8b", (fetch) => createOllama({ fetch, contextWindow: 8192 })],
  ["ResponsesBody", "openai/gpt-5.4:high", (fetch) => createOpenAI({ fetch, api: "responses" })],
  ["ResponsesBody", "openai/gpt-4o", (fetch) => createOpenAI({ fetch, api: "responses" })],
];
const guardrail = { id: "gr-1", version: "1", trace: true, processing: "async" } as const;

const SCHEMA = {
  type: "object",
  properties: {
    city: { type: "string", minLength: 1 },
    size: { oneOf: [{ type: "number", minimum: 0 }, { type: "null" }] },
  },
  required: ["city", "size"],
  additionalProperties: false,
};

const OPTIONS: readonly StreamOptions[] = [
  {},
  { topP: 0.99, stop: ["STOP"], seed: 7, maxTokens: 9000, cache: "long", serviceTier: "priority" },
  { temperature: 0.5, cache: "off", toolChoice: { name: "read_file" }, sessionId: "s".repeat(100) },
  { toolChoice: "required", verbosity: "low", reasoningSummary: "concise" },
  { responseSchema: SCHEMA, toolChoice: "none", reasoningSummary: "off" },
  {
    serverTools: [
      webSearch({ allowedDomains: ["deno.com"], userLocation: { country: "CH" } }),
      webFetch(),
      codeExecution(),
      fileSearch(["store_1"]),
    ],
  },
];

const PDF: ContentBlock = {
  type: "document",
  mediaType: "application/pdf",
  name: "Größe.pdf",
  source: { type: "base64", data: "AAAA" },
};
const TEXT: ContentBlock = {
  type: "document",
  mediaType: "text/plain",
  name: "notes",
  source: { type: "base64", data: "AAAA" },
  citations: true,
};
const AUDIO: ContentBlock = {
  type: "audio",
  mediaType: "audio/wav",
  source: { type: "base64", data: "AAAA" },
};
const LINK: ContentBlock = {
  type: "image",
  source: { type: "url", url: "https://example.com/a.png" },
};

/** Creates a document and an image that were uploaded to the provider. */
function createUploads({ provider }: ModelSpec): ContentBlock[] {
  const source = { type: "provider_file", provider, id: "file_1" } as const;
  return [
    { type: "document", mediaType: "application/pdf", source },
    { type: "image", source },
  ];
}

function createMessages(model: ModelSpec): LlmMessage[] {
  const call = (id: string): ToolCallBlock => ({
    type: "tool_call",
    id,
    name: "read_file",
    arguments: { path: "ü😀.txt" },
  });
  const cited = { cited_text: "", start_char_index: 0, end_char_index: 1, file_id: null };
  const location = { type: "char_location", document_index: 0, document_title: "notes", ...cited };
  const sources = [
    { type: "url", url: "https://deno.com" },
    { type: "document", data: location },
  ] as const;
  const execution = { type: "server_tool_use", id: "x1", name: "code_execution", input: {} };
  const caller = { type: "code_execution_20250825", tool_id: "x1" };
  const data = { id: "container_1", expires_at: "2100-01-01T00:00:00Z" };
  const executedCode: readonly ContentBlock[] = [
    { type: "extension", typeName: "anthropic.server_tool_use", data: execution },
    { ...call("c6"), signature: JSON.stringify({ caller }) },
    { type: "extension", typeName: "anthropic.container", data },
  ];
  const items: readonly JsonObject[] = [
    { type: "reasoning", id: "rs_2", summary: [], encrypted_content: "ZW5j", status: "completed" },
    { type: "web_search_call", id: "ws_1", status: "completed", action: { type: "search" } },
    { type: "image_generation_call", id: "ig_1", status: "completed", result: "iVBORw0KGgo=" },
    { type: "file_search_call", id: "fs_1", status: "completed", queries: ["Deno"], results: null },
    {
      type: "code_interpreter_call",
      id: "ci_1",
      status: "completed",
      code: "1",
      container_id: "c",
      outputs: null,
    },
  ];
  const serverCalls = items.map((item): ContentBlock => ({
    type: "extension",
    typeName: `openai.${item["type"]}`,
    data: item,
  }));
  return [
    prompt("Read this.", TEXT),
    ...createConversation(model),
    createReply(model, [
      { type: "text", text: "Deno.", citations: sources },
      ...["c1", "c2", "c3", "c4", "c5"].map(call),
    ]),
    createToolResult("c1", "read_file", [{ type: "text", text: "No such file" }, PIXEL], true),
    createToolResult("c2", "read_file", [], true),
    createToolResult("c3", "read_file", []),
    createToolResult("c4", "read_file", [PDF, PIXEL]),
    createToolResult("c5", "read_file", [{ type: "text", text: "日本語" }]),
    prompt("Compare these: ✓", PDF, TEXT, AUDIO, PIXEL, LINK),
    createReply(model, [...serverCalls, { type: "text", text: "They differ." }]),
    prompt("Read the second.", ...createUploads(model)),
    createReply(model, model.provider === "anthropic" ? executedCode : [call("c6")]),
    createToolResult("c6", "read_file", [{ type: "text", text: "ü" }]),
  ];
}

async function createBodies([, name, create]: Subject): Promise<JsonObject[]> {
  const model = modelSpec(name);
  return await Promise.all(OPTIONS.map(async (options) => {
    const messages = createMessages(model);
    const context = { systemPrompt: "Be brief.", messages, tools: TOOLS };
    const signal = new AbortController().signal;
    const request = { model, context, options: { apiKey, ...options }, signal };
    return (await captureRequest(create, request)).body;
  }));
}

const project = new URL("official_types/", import.meta.url);

/** A constant in the compiled module: its type in a module of `official_types/`, and whether it must compile. */
interface TypedConstant {
  readonly module: "bodies" | "replies";
  readonly type: string;
  readonly value: JsonObject;
  readonly isValid: boolean;
}

interface TypeReport {
  /** Output of the compiler. */
  readonly output: string;
  /** Constants that are rejected. */
  readonly rejected: readonly TypedConstant[];
}

/** Compiles a module with one constant a line, since each run of the compiler reads the types of all SDKs. */
async function checkTypes(constants: readonly TypedConstant[]): Promise<TypeReport> {
  const directory = await Deno.makeTempDir({ prefix: "swink_types_" });
  const imports = ["bodies", "replies"].map((name) =>
    `import type * as ${name} from "${new URL(`${name}.ts`, project)}";`
  );
  const lines = constants.map(({ module, type, value }, index) =>
    `export const c${index}: ${module}.${type} = ${JSON.stringify(value)};`
  );
  const module = `${directory}/constants.ts`;
  await Deno.writeTextFile(module, [...imports, ...lines].join("\n"));
  const { stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["check", "--quiet", "-c", new URL("deno.json", project).pathname, module],
    env: { NO_COLOR: "1" },
    stdout: "null",
    stderr: "piped",
  }).output();
  await Deno.remove(directory, { recursive: true });
  const output = new TextDecoder().decode(stderr);
  const rejected = [...output.matchAll(/constants\.ts:(\d+):/g)].map(([, line]) =>
    constants[Number(line) - 1 - imports.length]
  );
  return { output, rejected: rejected.filter((constant) => constant !== undefined) };
}

async function createConstants(): Promise<TypedConstant[]> {
  const constants: TypedConstant[] = [];
  const add = (
    isValid: boolean,
    module: TypedConstant["module"],
    values: Record<string, readonly JsonObject[]>,
  ) => {
    for (const [type, list] of Object.entries(values)) {
      constants.push(...list.map((value) => ({ module, type, value, isValid })));
    }
  };
  for (const subject of SUBJECTS) {
    add(true, "bodies", { [subject[0]]: await createBodies(subject) });
  }
  const [{ value: body } = { value: {} }] = constants;
  add(false, "bodies", {
    AnthropicBody: [{ ...body, max_tokens: "many" }, { ...body, top_q: 1 }],
    ChatBody: [{ model: "m", stream: true, messages: [{ role: "robot", content: "" }] }],
    BedrockBody: [{ messages: [{ role: "user", content: [{ text: 1 }] }] }],
  });
  const { "bedrock blocks": blocks, ...others } = REPLY_NAMES;
  add(true, "replies", { ReplyTable: [REPLY_NAMES] });
  add(false, "replies", {
    ReplyTable: [
      { ...others, "bedrock blocks": {} },
      { ...others, "bedrock blocks": { ...blocks, video: "read" } },
    ],
  });
  return constants;
}

let compiled: Promise<{ constants: TypedConstant[]; report: TypeReport }> | undefined;

/** Compiles all constants, once for all tests. */
function compileConstants(): NonNullable<typeof compiled> {
  return compiled ??= createConstants().then(async (constants) => ({
    constants,
    report: await checkTypes(constants),
  }));
}

async function assertTypes(module: TypedConstant["module"], isValid: boolean): Promise<void> {
  const { constants, report } = await compileConstants();
  const subjects = constants.filter((constant) =>
    constant.module === module && constant.isValid === isValid
  );
  assert(subjects.length > 0);
  for (const subject of subjects) {
    const message = `${JSON.stringify(subject)}\n${report.output}`;
    assertEquals(report.rejected.includes(subject), !isValid, message);
  }
}

Deno.test("official types: the compiler rejects nothing but the constants", async () => {
  const { report } = await compileConstants();
  // Deeper lines name the place of the expected type.
  const errors = report.output.match(/^ {4}at .*$/gm) ?? [];
  assert(errors.length > 0, report.output);
  for (const error of errors) assertMatch(error, /constants\.ts:\d+:/);
});

Deno.test("adapters: bodies of rich conversations have the types of the official SDKs", async () => {
  await assertTypes("bodies", true);
});

Deno.test("official types: a body with an unknown field or a value of another type does not compile", async () => {
  await assertTypes("bodies", false);
});

Deno.test("official types: the names of events, blocks and reasons are those that the readers are tested with", async () => {
  await assertTypes("replies", true);
  await assertTypes("replies", false);
});
