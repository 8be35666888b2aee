import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import type { CollectedReply } from "../../src/testing/read_reply.ts";
import { HANDMADE_APIS, readHandmade } from "./handmade_streams.ts";
import { type Handling, REPLY_NAMES } from "./reply_names.ts";

/** The events of a reply with a part of some name, and of one without it. */
interface NamedPart {
  readonly api: string;
  readonly create: (name: string) => readonly object[];
  readonly baseline: readonly object[];
}

/** A text in every part, by which its content is found in the reply. */
const MARK = "4711";

// Anthropic

const MESSAGE_START = { type: "message_start", message: { id: "m", usage: {} } };
const MESSAGE_END = [
  { type: "message_delta", delta: { stop_reason: "end_turn" }, usage: {} },
  { type: "message_stop" },
];
const BLOCK_FIELDS = {
  id: MARK,
  name: "read_file",
  input: { path: MARK },
  text: MARK,
  thinking: MARK,
  signature: MARK,
  data: MARK,
  content: MARK,
};
const DELTA_BLOCKS: Readonly<Record<string, string>> = {
  text_delta: "text",
  citations_delta: "text",
  thinking_delta: "thinking",
  signature_delta: "thinking",
  input_json_delta: "tool_use",
  compaction_delta: "compaction",
};
const DELTA_FIELDS = {
  text: MARK,
  thinking: MARK,
  signature: MARK,
  partial_json: `{"path":"${MARK}"}`,
  citation: { type: "page_location", cited_text: MARK },
  content: MARK,
};

function createBlock(type: string, fields: object, deltas: readonly object[] = []): object[] {
  return [
    { type: "content_block_start", index: 0, content_block: { type, ...fields } },
    ...deltas.map((delta) => ({ type: "content_block_delta", index: 0, delta })),
    { type: "content_block_stop", index: 0 },
  ];
}

const ANTHROPIC_EVENTS: Readonly<Record<string, readonly object[]>> = {
  message_start: [],
  message_delta: [{ type: "message_delta", delta: {}, usage: {} }],
  message_stop: [MESSAGE_START, ...MESSAGE_END],
  content_block_start: createBlock("text", BLOCK_FIELDS),
  content_block_delta: createBlock("text", {}, [{ type: "text_delta", text: MARK }]),
  content_block_stop: [{ type: "content_block_stop", index: 9 }],
};

const anthropic = (events: readonly object[]) => [MESSAGE_START, ...events, ...MESSAGE_END];

// OpenAI

const chat = (delta: object, finish_reason = "stop") => [
  { choices: [{ index: 0, delta }] },
  { choices: [{ index: 0, delta: {}, finish_reason }] },
];
const CHAT_DELTAS: Readonly<Record<string, unknown>> = {
  content: MARK,
  function_call: { name: "read_file", arguments: "{}" },
  refusal: MARK,
  role: "assistant",
  tool_calls: [{ index: 0, id: MARK, function: { name: "read_file", arguments: "{}" } }],
};

const COMPLETED = { type: "response.completed", response: { status: "completed", output: [] } };
const ITEM = {
  id: MARK,
  call_id: MARK,
  name: "read_file",
  arguments: "{}",
  content: [{ type: "output_text", text: MARK }],
  summary: [{ type: "summary_text", text: MARK }],
};
const createItem = (type: string) => ({
  type: "response.output_item.done",
  output_index: 0,
  item: { ...ITEM, ...(type === "reasoning" && { content: undefined }), type },
});
const ADDED = {
  type: "response.output_item.added",
  output_index: 0,
  item: { ...ITEM, type: "function_call" },
};
const EVENT_FIELDS = {
  output_index: 0,
  delta: MARK,
  text: MARK,
  refusal: MARK,
  arguments: `{"path":"${MARK}"}`,
  annotation: { type: "url_citation", url: MARK },
  item: { ...ITEM, type: "message" },
  part: { type: "output_text", text: MARK },
};

function createResponsesEvent(type: string): object[] {
  const event = { ...EVENT_FIELDS, type };
  switch (type) {
    case "response.completed":
    case "response.failed":
    case "response.incomplete":
      return [{ type, response: { output: [EVENT_FIELDS.item] } }];
    case "response.output_item.added":
      return [ADDED, COMPLETED];
    case "response.function_call_arguments.delta":
    case "response.function_call_arguments.done":
      return [ADDED, event, COMPLETED];
    case "response.output_text.annotation.added": {
      const item = { type: "message", content: [{ type: "output_text", text: MARK }] };
      return [event, { type: "response.output_item.done", output_index: 0, item }, COMPLETED];
    }
    default:
      return [event, COMPLETED];
  }
}

// Google, Mistral, Bedrock, Ollama

const google = (part: object | undefined, finishReason = "STOP") => [{
  candidates: [{ content: { parts: [{ text: "x" }, ...(part ? [part] : [])] }, finishReason }],
}];
const GOOGLE_PARTS: Readonly<Record<string, unknown>> = {
  text: MARK,
  thought: true,
  thoughtSignature: MARK,
  functionCall: { name: "read_file", args: {} },
};

const MISTRAL_FIELDS = {
  text: MARK,
  thinking: [{ type: "text", text: MARK }],
  reference_ids: [4711],
  title: MARK,
};

const block = (start: object | undefined, ...deltas: object[]) => [
  ...start ? [{ contentBlockStart: { contentBlockIndex: 0, start } }] : [],
  ...deltas.map((delta) => ({ contentBlockDelta: { contentBlockIndex: 0, delta } })),
  { contentBlockStop: { contentBlockIndex: 0 } },
];
const bedrock = (events: readonly object[], stopReason = "end_turn") => [
  ...events,
  { messageStop: { stopReason } },
  { metadata: { usage: { inputTokens: 1 } } },
];
const BEDROCK_STARTS: Readonly<Record<string, object>> = {
  toolUse: { toolUseId: MARK, name: "read_file" },
  toolResult: { toolUseId: MARK },
  image: { format: MARK },
};
const BEDROCK_DELTAS: Readonly<Record<string, unknown>> = {
  text: MARK,
  toolUse: { input: `{"path":"${MARK}"}` },
  toolResult: [{ text: MARK }],
  reasoningContent: { text: MARK },
  citation: { title: MARK },
  image: { source: { bytes: MARK } },
};
const BEDROCK_EVENTS: Readonly<Record<string, readonly object[]>> = {
  messageStart: bedrock([{ messageStart: { role: "assistant" } }]),
  contentBlockStart: bedrock(block({ toolUse: BEDROCK_STARTS["toolUse"] })),
  contentBlockDelta: bedrock(block(undefined, { text: MARK })),
  contentBlockStop: bedrock([{ contentBlockStop: { contentBlockIndex: 9 } }]),
  messageStop: [{ messageStop: { stopReason: "max_tokens" } }],
  metadata: [{ metadata: { usage: { inputTokens: 4711 } } }, {
    messageStop: { stopReason: "end_turn" },
  }],
};

const OLLAMA_MEMBERS: Readonly<Record<string, unknown>> = {
  role: "assistant",
  content: MARK,
  thinking: MARK,
  images: [MARK],
  tool_calls: [{ function: { name: "read_file", arguments: {} } }],
  tool_name: "read_file",
};
const ollama = (message: object) => [{ message, done: true, done_reason: "stop" }];

/** Parts by the names of the table. */
const PARTS: Readonly<Record<string, NamedPart>> = {
  "anthropic events": {
    api: "anthropic",
    create: (name) =>
      name === "message_stop"
        ? anthropic(createBlock("text", BLOCK_FIELDS))
        : anthropic(ANTHROPIC_EVENTS[name] ?? []),
    baseline: anthropic([]),
  },
  "anthropic blocks": {
    api: "anthropic",
    create: (name) => anthropic(createBlock(name, BLOCK_FIELDS)),
    baseline: anthropic([]),
  },
  "anthropic deltas": {
    api: "anthropic",
    create: (name) =>
      anthropic(
        createBlock(DELTA_BLOCKS[name] ?? "", { text: "x" }, [{ type: name, ...DELTA_FIELDS }]),
      ),
    baseline: anthropic(createBlock("text", { text: "x" })),
  },
  "anthropic stop reasons": {
    api: "anthropic",
    create: (name) => [
      MESSAGE_START,
      ...createBlock("text", BLOCK_FIELDS),
      { type: "message_delta", delta: { stop_reason: name } },
      { type: "message_stop" },
    ],
    baseline: anthropic([]),
  },
  "chat deltas": {
    api: "openai",
    create: (name) => chat({ [name]: CHAT_DELTAS[name] }),
    baseline: chat({}),
  },
  "chat finish reasons": {
    api: "openai",
    create: (name) => chat({ content: MARK }, name),
    baseline: chat({}),
  },
  "responses events": {
    api: "openai responses",
    create: createResponsesEvent,
    baseline: [COMPLETED],
  },
  "responses items": {
    api: "openai responses",
    create: (name) => [createItem(name), COMPLETED],
    baseline: [COMPLETED],
  },
  "responses statuses": {
    api: "openai responses",
    create: (status) => [createItem("message"), { ...COMPLETED, response: { status } }],
    baseline: [COMPLETED],
  },
  "google parts": {
    api: "google",
    create: (name) => google({ [name]: GOOGLE_PARTS[name] ?? { content: MARK } }),
    baseline: google(undefined),
  },
  "google finish reasons": {
    api: "google",
    create: (name) => google({ text: MARK }, name),
    baseline: google(undefined),
  },
  "google blocked reasons": {
    api: "google",
    create: (blockReason) => [{ promptFeedback: { blockReason } }],
    baseline: google(undefined),
  },
  "mistral content": {
    api: "mistral",
    create: (type) => chat({ content: [{ type: "text", text: "x" }, { ...MISTRAL_FIELDS, type }] }),
    baseline: chat({ content: [{ type: "text", text: "x" }] }),
  },
  "mistral finish reasons": {
    api: "mistral",
    create: (name) => chat({ content: MARK }, name),
    baseline: chat({}),
  },
  "bedrock events": {
    api: "bedrock",
    create: (name) => BEDROCK_EVENTS[name] ?? [{ [`!${name}`]: { message: MARK } }],
    baseline: bedrock([]),
  },
  "bedrock blocks": {
    api: "bedrock",
    create: (name) => {
      const delta = { [name]: BEDROCK_DELTAS[name] };
      return bedrock(block({ [name]: BEDROCK_STARTS[name] }, delta));
    },
    baseline: bedrock([]),
  },
  "bedrock deltas": {
    api: "bedrock",
    create: (name) => {
      const start = BEDROCK_STARTS[name];
      const delta = { [name]: BEDROCK_DELTAS[name] };
      return bedrock(block(start && { [name]: start }, { text: "x" }, delta));
    },
    baseline: bedrock(block(undefined, { text: "x" })),
  },
  "bedrock stop reasons": {
    api: "bedrock",
    create: (name) => bedrock(block(undefined, { text: MARK }), name),
    baseline: bedrock([]),
  },
  "ollama messages": {
    api: "ollama",
    create: (name) => ollama({ [name]: OLLAMA_MEMBERS[name] }),
    baseline: ollama({}),
  },
};

function readPart(api: string, events: readonly object[]): Promise<CollectedReply> {
  const found = HANDMADE_APIS.find(({ name }) => name === api);
  assert(found);
  return readHandmade(found, events);
}

function summarize({ content, stopReason, usage }: CollectedReply): string {
  return JSON.stringify([content, stopReason, usage]);
}

function assertHandled(
  name: string,
  handling: Handling,
  { reply, baseline }: { readonly reply: CollectedReply; readonly baseline: CollectedReply },
): void {
  const { content, error, warnings } = reply;
  const codes = ["unknown_part", "unknown_stop_reason"];
  const unknown = warnings.filter(({ code }) => codes.includes(code));
  const hasChange = summarize(reply) !== summarize(baseline);
  if (handling !== "warning") assertEquals(unknown, [], name);
  if (handling !== "error") assertEquals(error, undefined, name);
  switch (handling) {
    case "read":
      return assert(hasChange && !content.some(({ type }) => type === "extension"), name);
    case "passed": {
      const extensions = content.filter(({ type }) => type === "extension");
      return assertStringIncludes(JSON.stringify(extensions), MARK, name);
    }
    case "warning":
      return assertStringIncludes(JSON.stringify(unknown), name.split(": ").at(-1) ?? "");
    case "error":
      return assert(error, name);
    case "none":
      return assert(!hasChange, `${name}: ${summarize(reply)}`);
  }
}

for (const [kind, names] of Object.entries(REPLY_NAMES)) {
  Deno.test(`${kind}: each name in the official types is read, passed on or reported`, async () => {
    const part = PARTS[kind];
    assert(part);
    for (const [name, handling] of Object.entries(names)) {
      const reply = await readPart(part.api, part.create(name));
      const baseline = await readPart(part.api, part.baseline);
      assertHandled(`${kind}: ${name}`, handling, { reply, baseline });
    }
  });
}

Deno.test("all providers: an event or a part of an unknown type is reported once", async () => {
  const unknown: Readonly<Record<string, readonly object[]>> = {
    anthropic: anthropic([{ type: "news" }, { type: "news" }]),
    openai: chat({ images: ["x"] }),
    "openai responses": [
      { type: "response.news.delta" },
      { type: "response.news.delta" },
      COMPLETED,
    ],
    mistral: chat({ content: [{ type: "news" }, { type: "news" }] }),
    bedrock: bedrock([{ news: {} }, { news: {} }]),
  };
  for (const [api, events] of Object.entries(unknown)) {
    const { warnings, error } = await readPart(api, events);
    assertEquals(warnings.filter(({ code }) => code === "unknown_part").length, 1, api);
    assertEquals(error, undefined, api);
  }
  const names = Array.from({ length: 50 }, (_, index) => ({ type: `news ${index}` }));
  const { warnings } = await readPart("anthropic", anthropic(names));
  assertEquals(warnings.filter(({ code }) => code === "unknown_part").length, 10);
});
