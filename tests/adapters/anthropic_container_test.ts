import { assertEquals } from "@std/assert";
import { createAnthropic } from "../../adapters/anthropic/mod.ts";
import type { ContentBlock } from "../../src/core/messages/content.ts";
import type { LlmMessage } from "../../src/core/messages/message.ts";
import type { ModelSpec } from "../../src/core/models/model.ts";
import { codeExecution } from "../../src/core/streams/server_tool.ts";
import type { StreamOptions } from "../../src/core/streams/stream.ts";
import { readReply } from "../../src/testing/read_reply.ts";
import { replayFetch } from "../../src/testing/replay_fetch.ts";
import { createReply, createToolResult, prompt, TOOLS } from "./rich_conversation.ts";
import { captureRequest, type SentRequest } from "./sent_request.ts";

const MODEL: ModelSpec = {
  provider: "anthropic",
  modelId: "claude-sonnet-4-5",
  thinkingLevel: "off",
};
const EXPIRY = "2026-04-24T11:14:33.385496Z";
const CONTAINER = { id: "container_1", expires_at: EXPIRY };
const CALLER = { type: "code_execution_20250825", tool_id: "srvtoolu_1" };
const EXECUTION = { type: "server_tool_use", id: "srvtoolu_1", name: "code_execution" };
const OUTCOME = {
  type: "code_execution_tool_result",
  tool_use_id: "srvtoolu_1",
  content: { type: "code_execution_result", stdout: "2", stderr: "", return_code: 0, content: [] },
};
const serverTools = [codeExecution()];

function block(index: number, content_block: object, ...deltas: object[]): object[] {
  return [
    { type: "content_block_start", index, content_block },
    ...deltas.map((delta) => ({ type: "content_block_delta", index, delta })),
    { type: "content_block_stop", index },
  ];
}

/** Reads a reply and returns its content. */
async function readContent(stop_reason: string, ...blocks: object[]): Promise<ContentBlock[]> {
  const events = [
    { type: "message_start", message: { id: "m", container: null } },
    ...blocks,
    { type: "message_delta", delta: { stop_reason, container: CONTAINER } },
    { type: "message_stop" },
  ];
  const body = events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join("");
  const reply = await readReply(
    createAnthropic({ fetch: replayFetch(body) })({
      model: MODEL,
      context: { systemPrompt: "", messages: [prompt("Add.")], tools: TOOLS },
      options: { apiKey: "k", serverTools },
      signal: new AbortController().signal,
    }),
  );
  assertEquals(reply.error, undefined);
  return [...reply.content];
}

/** Sends a conversation; the time is one second before the container expires. */
function send(
  messages: readonly LlmMessage[],
  options: StreamOptions = { serverTools },
  now = Date.parse(EXPIRY) - 1000,
): Promise<SentRequest> {
  const clock = { now: () => now, sleep: () => new Promise<void>(() => {}) };
  return captureRequest((fetch) => createAnthropic({ fetch, clock }), {
    model: MODEL,
    context: { systemPrompt: "", messages, tools: TOOLS },
    options: { apiKey: "k", ...options },
    signal: new AbortController().signal,
  });
}

/** Returns the blocks of the replies of a request, as type and id or caller. */
function summarizeReplies({ body }: SentRequest): unknown[] {
  const messages = body["messages"] as { role: string; content: Record<string, unknown>[] }[];
  return messages.filter(({ role }) => role === "assistant").map(({ content }) =>
    content.map(({ type, id, tool_use_id, caller }) => [
      type,
      id ?? tool_use_id,
      ...caller ? [caller] : [],
    ])
  );
}

/** A reply whose code waits for the result of a tool. */
function readWaitingReply(): Promise<ContentBlock[]> {
  return readContent(
    "tool_use",
    ...block(0, { ...EXECUTION, input: {} }, {
      type: "input_json_delta",
      partial_json: '{"code":"await add_numbers()"}',
    }),
    ...block(1, {
      type: "tool_use",
      id: "toolu_1",
      name: "add_numbers",
      input: { numbers: [1, 1] },
      caller: CALLER,
    }),
  );
}

const RESULT = createToolResult("toolu_1", "add_numbers", [{ type: "text", text: "2" }]);

Deno.test("createAnthropic(): a call from executed code is answered in its container, with its caller", async () => {
  const waiting = createReply(MODEL, await readWaitingReply());
  const sent = await send([prompt("Add."), waiting, RESULT]);
  assertEquals(sent.body["container"], "container_1");
  const pending = [
    ["server_tool_use", "srvtoolu_1"],
    ["tool_use", "toolu_1", CALLER],
  ];
  assertEquals(summarizeReplies(sent), [pending]);
  const options = { serverTools, extra: { container: "own" } };
  const own = await send([prompt("Add."), waiting, RESULT], options);
  assertEquals([own.body["container"], summarizeReplies(own)], ["own", [pending]]);
  const content = await readContent("end_turn", ...block(0, OUTCOME));
  const next = [prompt("Add."), waiting, RESULT, createReply(MODEL, content), prompt("Thanks.")];
  assertEquals(summarizeReplies(await send(next)), [
    pending,
    [["code_execution_tool_result", "srvtoolu_1"]],
  ]);
});

Deno.test("createAnthropic(): without its container, the call of a tool from executed code is a direct one", async () => {
  const waiting = createReply(MODEL, await readWaitingReply());
  const direct = [[["tool_use", "toolu_1"]]];
  const expired = await send([prompt("Add."), waiting, RESULT], undefined, Date.parse(EXPIRY));
  assertEquals([expired.body["container"], summarizeReplies(expired)], [undefined, direct]);
  // Executed code waits for tool results only.
  const interrupted = await send([prompt("Add."), waiting, RESULT, prompt("Stop.")]);
  assertEquals([interrupted.body["container"], summarizeReplies(interrupted)], [
    "container_1",
    direct,
  ]);
  const content = await readContent("end_turn", ...block(0, OUTCOME));
  const compacted = await send([prompt("Add."), createReply(MODEL, content), prompt("Thanks.")]);
  assertEquals(summarizeReplies(compacted), []);
});

Deno.test("createAnthropic(): a server tool that unanswered code called is omitted with its result", async () => {
  const fetched = { type: "server_tool_use", id: "srvtoolu_2", name: "web_fetch", input: {} };
  const page = { type: "web_fetch_tool_result", tool_use_id: "srvtoolu_2", content: {} };
  const content = await readContent(
    "max_tokens",
    ...block(0, { type: "text", text: "Let me see." }),
    ...block(1, { ...EXECUTION, input: {} }),
    ...block(2, { ...fetched, caller: CALLER }),
    ...block(3, { ...page, caller: CALLER }),
    ...block(4, { type: "server_tool_use", id: "srvtoolu_3", name: "web_search", input: {} }),
    ...block(5, { type: "web_search_tool_result", tool_use_id: "srvtoolu_3", content: [] }),
  );
  const sent = await send([prompt("Hi"), createReply(MODEL, content), prompt("And?")]);
  assertEquals(sent.body["container"], "container_1");
  assertEquals(summarizeReplies(sent), [[
    ["text", undefined],
    ["server_tool_use", "srvtoolu_3"],
    ["web_search_tool_result", "srvtoolu_3"],
  ]]);
});

Deno.test("createAnthropic(): names the last container, unless the caller does or there are no server tools", async () => {
  const data = { ...CONTAINER, id: "container_0" };
  const older: ContentBlock = { type: "extension", typeName: "anthropic.container", data };
  const newer = await readContent("end_turn", ...block(0, { type: "text", text: "2" }));
  const messages = [
    prompt("Add."),
    createReply(MODEL, [{ type: "text", text: "1" }, older]),
    prompt("Add."),
    createReply(MODEL, newer),
    prompt("Thanks."),
  ];
  const getContainer = async (options: StreamOptions) => {
    const { body, warnings } = await send(messages, options);
    assertEquals(warnings, []);
    return body["container"];
  };
  const tools = [{ type: "code_execution_20250825", name: "code_execution" }];
  const skills = [{ type: "anthropic", skill_id: "pdf" }];
  assertEquals(await getContainer({}), undefined);
  assertEquals(await getContainer({ extra: { tools } }), "container_1");
  assertEquals(await getContainer({ serverTools, extra: { container: "own" } }), "own");
  assertEquals(await getContainer({ serverTools, extra: { container: null } }), null);
  const container = { id: "own", skills };
  assertEquals(await getContainer({ serverTools, extra: { container } }), container);
  assertEquals(await getContainer({ serverTools, extra: { container: { skills } } }), {
    id: "container_1",
    skills,
  });
  const other = messages.map((message) =>
    message.role === "assistant" ? { ...message, modelId: "claude-opus-4-8" } : message
  );
  assertEquals((await send(other)).body["container"], undefined);
});

Deno.test("createAnthropic(): the toolset of a call is sent back, and a damaged signature is not", async () => {
  const content = await readContent(
    "tool_use",
    ...block(0, {
      type: "tool_use",
      id: "toolu_1",
      name: "add_numbers",
      input: {},
      caller: { type: "direct" },
      toolset_name: "browser",
    }),
  );
  const getCall = async (blocks: readonly ContentBlock[]) => {
    const { body } = await send([prompt("Hi"), createReply(MODEL, blocks), RESULT]);
    const [, reply] = body["messages"] as { content: object[] }[];
    return reply?.content[0];
  };
  const call = { type: "tool_use", id: "toolu_1", name: "add_numbers", input: {} };
  assertEquals(await getCall(content), { ...call, toolset_name: "browser" });
  for (const signature of ["c2ln", "{", "[]", '{"name":"other"}']) {
    assertEquals(await getCall(content.map((part) => ({ ...part, signature }))), call);
  }
});
