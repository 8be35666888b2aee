import { assertEquals, assertThrows } from "@std/assert";
import { NetworkError, StreamError } from "../errors/errors.ts";
import type { ThinkingBlock } from "../messages/content.ts";
import { zeroUsage } from "../models/usage.ts";
import { ReplyAccumulator } from "./accumulate.ts";
import type { AssistantMessageEvent } from "./stream.ts";

const usage = zeroUsage();
const done: AssistantMessageEvent = { type: "done", stopReason: "stop", usage };
const lengthStop: AssistantMessageEvent = { type: "done", stopReason: "length", usage };
const failed: AssistantMessageEvent = {
  type: "error",
  stopReason: "error",
  error: new NetworkError("reset"),
};

function accumulate(...events: AssistantMessageEvent[]): ReplyAccumulator {
  const reply = new ReplyAccumulator();
  for (const event of events) reply.apply(event);
  return reply;
}

function createBlockEvents(
  contentIndex: number,
  type: "text" | "thinking",
  ...deltas: string[]
): AssistantMessageEvent[] {
  return [
    { type: `${type}_start`, contentIndex },
    ...deltas.map((delta): AssistantMessageEvent => ({
      type: `${type}_delta`,
      contentIndex,
      delta,
    })),
    { type: `${type}_end`, contentIndex },
  ];
}

function createCallEvents(contentIndex: number, ...deltas: string[]): AssistantMessageEvent[] {
  return [
    { type: "tool_call_start", contentIndex, id: `c${contentIndex}`, name: "read_file" },
    ...deltas.map((delta): AssistantMessageEvent => ({
      type: "tool_call_delta",
      contentIndex,
      delta,
    })),
    { type: "tool_call_end", contentIndex },
  ];
}

Deno.test("ReplyAccumulator: builds blocks from text and tool calls [2.5]", () => {
  const reply = accumulate(
    { type: "start" },
    ...createBlockEvents(0, "text", "Rea", "ding"),
    ...createCallEvents(1, '{"path":', '"a.txt"}'),
    { type: "done", stopReason: "tool_use", usage },
  );
  const read = {
    type: "tool_call",
    id: "c1",
    name: "read_file",
    arguments: { path: "a.txt" },
  } as const;
  assertEquals(reply.finish(), {
    content: [{ type: "text", text: "Reading" }, read],
    calls: [{ block: read, state: { type: "complete" } }],
  });
});

Deno.test("ReplyAccumulator: deltas of several open blocks interleave [2.6]", () => {
  const reply = accumulate(
    { type: "text_start", contentIndex: 0 },
    { type: "tool_call_start", contentIndex: 1, id: "a", name: "bash" },
    { type: "tool_call_start", contentIndex: 2, id: "b", name: "bash" },
    { type: "tool_call_delta", contentIndex: 2, delta: '{"n":' },
    { type: "text_delta", contentIndex: 0, delta: "Now" },
    { type: "tool_call_delta", contentIndex: 1, delta: '{"n":1}' },
    { type: "tool_call_delta", contentIndex: 2, delta: "2}" },
    { type: "tool_call_end", contentIndex: 2 },
    { type: "text_end", contentIndex: 0 },
    { type: "tool_call_end", contentIndex: 1 },
    done,
  );
  assertEquals(reply.finish().content, [
    { type: "text", text: "Now" },
    { type: "tool_call", id: "a", name: "bash", arguments: { n: 1 } },
    { type: "tool_call", id: "b", name: "bash", arguments: { n: 2 } },
  ]);
});

Deno.test("ReplyAccumulator: keeps signatures, `redacted` and extensions", () => {
  const reply = accumulate(
    { type: "thinking_start", contentIndex: 0 },
    { type: "thinking_end", contentIndex: 0, signature: "secret", redacted: true },
    { type: "text_start", contentIndex: 1 },
    { type: "text_delta", contentIndex: 1, delta: "Hi" },
    { type: "text_end", contentIndex: 1, signature: "s1" },
    { type: "tool_call_start", contentIndex: 2, id: "a", name: "bash" },
    { type: "tool_call_end", contentIndex: 2, signature: "s2" },
    { type: "extension", contentIndex: 3, typeName: "openai.reasoning", data: { id: "rs_1" } },
    done,
  );
  assertEquals(reply.finish().content, [
    { type: "thinking", thinking: "", signature: "secret", redacted: true },
    { type: "text", text: "Hi", signature: "s1" },
    { type: "tool_call", id: "a", name: "bash", arguments: {}, signature: "s2" },
    { type: "extension", typeName: "openai.reasoning", data: { id: "rs_1" } },
  ]);
});

Deno.test("ReplyAccumulator: keeps `redacted` if it is given, as a boolean", () => {
  const keep = (redacted: unknown) =>
    accumulate(
      { type: "thinking_start", contentIndex: 0 },
      { type: "thinking_end", contentIndex: 0, signature: "s", redacted: redacted as boolean },
    ).finish().content;
  const block: ThinkingBlock = { type: "thinking", thinking: "", signature: "s" };
  assertEquals([true, false, 1, undefined].map(keep), [
    [{ ...block, redacted: true }],
    [{ ...block, redacted: false }],
    [{ ...block, redacted: false }],
    [block],
  ]);
});

Deno.test("ReplyAccumulator: omits empty text and thinking blocks", () => {
  const reply = accumulate(
    ...createBlockEvents(0, "thinking"),
    ...createBlockEvents(1, "text", ""),
    ...createBlockEvents(2, "text", "x"),
  );
  assertEquals(reply.finish().content, [{ type: "text", text: "x" }]);
});

Deno.test("ReplyAccumulator: keeps an empty text with citations", () => {
  const citations = [{ type: "url", url: "https://deno.com" }] as const;
  const reply = accumulate(
    { type: "start" },
    { type: "text_start", contentIndex: 0 },
    { type: "text_end", contentIndex: 0, citations },
  );
  assertEquals(reply.finish().content, [{ type: "text", text: "", citations }]);
});

Deno.test("ReplyAccumulator: counts the characters of text, thinking and arguments", () => {
  const reply = accumulate(
    ...createBlockEvents(0, "thinking", "abc"),
    ...createBlockEvents(1, "text", "de"),
    ...createCallEvents(2, "{}"),
  );
  assertEquals(reply.characters, 7);
  assertEquals(reply.hasContent, true);
  assertEquals(accumulate({ type: "start" }).hasContent, false);
});

Deno.test("ReplyAccumulator: reports arguments that are not a JSON object with their text and a reason [B34]", () => {
  const states = ['{"path": "a', "[1]", '"x"', "null"].map((text) =>
    accumulate(...createCallEvents(0, text), done).finish().calls[0]
  );
  assertEquals(states.map((call) => call?.block.arguments), [{}, {}, {}, {}]);
  assertEquals(
    states.map((call) => call?.state.type === "invalid" ? call.state.text : call?.state.type),
    ['{"path": "a', "[1]", '"x"', "null"],
  );
  const reasons = states.map((call) => call?.state.type === "invalid" ? call.state.reason : "");
  assertEquals(reasons.slice(1), Array(3).fill("The arguments must be a JSON object"));
});

Deno.test("ReplyAccumulator: parses empty arguments as an empty object", () => {
  for (const text of ["", " \n"]) {
    const [call] = accumulate(...createCallEvents(0, text), done).finish().calls;
    assertEquals([call?.block.arguments, call?.state], [{}, { type: "complete" }]);
  }
});

Deno.test("ReplyAccumulator: parses `__proto__` in arguments as an own property", () => {
  const [call] =
    accumulate(...createCallEvents(0, '{"__proto__": {"polluted": 1}}'), done).finish().calls;
  assertEquals(call?.block.arguments["polluted"], undefined);
  assertEquals(JSON.stringify(call?.block.arguments), '{"__proto__":{"polluted":1}}');
});

Deno.test("ReplyAccumulator: treats tool calls left open by a length stop as truncated [A44]", () => {
  const [start, delta] = createCallEvents(1, '{"path":"a.txt"}');
  const reply = accumulate(
    ...createCallEvents(0, "{}"),
    ...(start && delta ? [start, delta] : []),
    lengthStop,
  );
  assertEquals(reply.finish().calls.map(({ block, state }) => [block.arguments, state.type]), [
    [{}, "complete"],
    [{}, "truncated"],
  ]);
});

Deno.test("ReplyAccumulator: treats the arguments at the end of a reply that the token limit cut off as truncated, though the call has ended", () => {
  const path = '{"path":"a.txt"';
  const item: AssistantMessageEvent = {
    type: "extension",
    contentIndex: 2,
    typeName: "x",
    data: 1,
  };
  const cases: readonly (readonly [AssistantMessageEvent[], string[]])[] = [
    [[...createCallEvents(0, path), ...createCallEvents(1, path)], ["invalid", "truncated"]],
    [[...createCallEvents(0, path), ...createCallEvents(1, path), item], ["invalid", "truncated"]],
    [[...createCallEvents(0, path), ...createBlockEvents(1, "text", "x")], ["invalid"]],
    [createCallEvents(0, `${path}}`), ["complete"]],
  ];
  for (const [events, states] of cases) {
    const { calls } = accumulate(...events, lengthStop).finish();
    assertEquals(calls.map(({ state }) => state.type), states);
  }
  const { calls } = accumulate(...createCallEvents(0, path), done).finish();
  assertEquals(calls.map(({ state }) => state.type), ["invalid"]);
});

const openText: AssistantMessageEvent[] = createBlockEvents(0, "text", "x").slice(0, 2);
const openThinking: AssistantMessageEvent[] = createBlockEvents(0, "thinking", "x").slice(0, 2);
const openCall: AssistantMessageEvent[] = createCallEvents(0, "{").slice(0, 2);

const contractViolations: Record<string, [AssistantMessageEvent[], string]> = {
  "a delta after its block's end": [
    [...createBlockEvents(0, "text", "x"), { type: "text_delta", contentIndex: 0, delta: "y" }],
    `Unexpected "text_delta" event: block 0 is not an open block of this type`,
  ],
  "a delta of another type": [
    [...openText, { type: "thinking_delta", contentIndex: 0, delta: "y" }],
    `Unexpected "thinking_delta" event: block 0 is not an open block of this type`,
  ],
  "a delta for a block that never started": [
    [{ type: "tool_call_delta", contentIndex: 3, delta: "y" }],
    `Unexpected "tool_call_delta" event: block 3 is not an open block of this type`,
  ],
  "a delta for an extension": [
    [{ type: "extension", contentIndex: 0, typeName: "x", data: 1 }, {
      type: "text_delta",
      contentIndex: 0,
      delta: "y",
    }],
    `Unexpected "text_delta" event: block 0 is not an open block of this type`,
  ],
  "a second end": [
    [...createCallEvents(0, "{}"), { type: "tool_call_end", contentIndex: 0 }],
    `Unexpected "tool_call_end" event: block 0 is not an open block of this type`,
  ],
  "an end of another type": [
    [...openCall, { type: "text_end", contentIndex: 0 }],
    `Unexpected "text_end" event: block 0 is not an open block of this type`,
  ],
  "a block that skips an index": [
    [{ type: "text_start", contentIndex: 1 }],
    "Unexpected start of block 1: the next block is 0",
  ],
  "a second start of a block": [
    [...createBlockEvents(0, "text", "x"), { type: "text_start", contentIndex: 0 }],
    "Unexpected start of block 0: the next block is 1",
  ],
  "an end of the reply with open text": [
    [...openText, done],
    "Unexpected end of the reply: block 0 is still open",
  ],
  "an end of the reply with open thinking": [
    [...openThinking, done],
    "Unexpected end of the reply: block 0 is still open",
  ],
  "an end of the reply with an open call": [
    [...openCall, done],
    "Unexpected end of the reply: block 0 is still open",
  ],
  "a length stop with open text": [
    [...openText, lengthStop],
    "Unexpected end of the reply: block 0 is still open",
  ],
  "a call without an id": [
    [{ type: "tool_call_start", contentIndex: 0, id: undefined as never, name: "look" }],
    "The id or the name of a tool call is no string",
  ],
  "a call without a name": [
    [{ type: "tool_call_start", contentIndex: 0, id: "a", name: 5 as never }],
    "The id or the name of a tool call is no string",
  ],
  "a delta that is no string": [
    [...openText.slice(0, 1), { type: "text_delta", contentIndex: 0, delta: 5 as never }],
    'The delta of "text_delta" is no string',
  ],
  "an extension without a typeName": [
    [{ type: "extension", contentIndex: 0, typeName: undefined as never, data: 1 }],
    "The typeName of an extension is no string",
  ],
  "a signature that is no string": [
    [...openText, { type: "text_end", contentIndex: 0, signature: 5 as never }],
    'The signature of "text_end" is no string',
  ],
  "citations that are no list of objects": [
    [...openText, { type: "text_end", contentIndex: 0, citations: ["a"] as never }],
    'The citations of "text_end" are no list of objects',
  ],
  "a second terminal event": [
    [done, failed],
    `Unexpected "error" event after the end of the reply`,
  ],
  "text after the terminal event": [
    [done, { type: "text_start", contentIndex: 0 }],
    `Unexpected "text_start" event after the end of the reply`,
  ],
};

for (const [name, [events, message]] of Object.entries(contractViolations)) {
  Deno.test(`ReplyAccumulator: throws on ${name} [A44]`, () => {
    assertThrows(() => accumulate(...events), StreamError, message);
  });
}

Deno.test("ReplyAccumulator: an error event interrupts open blocks, and a call among them is truncated", () => {
  const reply = new ReplyAccumulator();
  const events = [...openText, ...openCall.map((event) => ({ ...event, contentIndex: 1 })), failed];
  for (const event of events) reply.apply(event);
  const { content, calls } = reply.finish();
  assertEquals(content[0], { type: "text", text: "x" });
  assertEquals(calls.map(({ state }) => state), [{ type: "truncated" }]);
});
