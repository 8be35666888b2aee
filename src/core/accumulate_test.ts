import { assertEquals, assertThrows } from "@std/assert";
import { ReplyAccumulator } from "./accumulate.ts";
import { NetworkError, StreamError } from "./errors.ts";
import type { AssistantMessageEvent } from "./stream.ts";
import { zeroUsage } from "./usage.ts";

const usage = zeroUsage();
const done: AssistantMessageEvent = { type: "done", stopReason: "stop", usage };
const cutOff: AssistantMessageEvent = { type: "done", stopReason: "length", usage };
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

Deno.test("2.5 text and a tool call become the blocks of a message", () => {
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

Deno.test("2.6 deltas of several open blocks may interleave", () => {
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

Deno.test("signatures, redaction and provider items are kept", () => {
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

Deno.test("blocks that say nothing are left out", () => {
  const reply = accumulate(
    ...createBlockEvents(0, "thinking"),
    ...createBlockEvents(1, "text", ""),
    ...createBlockEvents(2, "text", "x"),
  );
  assertEquals(reply.finish().content, [{ type: "text", text: "x" }]);
});

Deno.test("characters of text, reasoning and arguments are counted as they come", () => {
  const reply = accumulate(
    ...createBlockEvents(0, "thinking", "abc"),
    ...createBlockEvents(1, "text", "de"),
    ...createCallEvents(2, "{}"),
  );
  assertEquals(reply.characters, 7);
  assertEquals(reply.hasContent, true);
  assertEquals(accumulate({ type: "start" }).hasContent, false);
});

Deno.test("B 34 arguments that are no JSON object are told with their text and the reason", () => {
  const states = ['{"path": "a', "[1]", '"x"', "null"].map((text) =>
    accumulate(...createCallEvents(0, text), done).finish().calls[0]
  );
  assertEquals(states.map((found) => found?.block.arguments), [{}, {}, {}, {}]);
  assertEquals(
    states.map((found) =>
      found?.state.type === "unreadable" ? found.state.text : found?.state.type
    ),
    ['{"path": "a', "[1]", '"x"', "null"],
  );
  const reasons = states.map((found) =>
    found?.state.type === "unreadable" ? found.state.reason : ""
  );
  assertEquals(reasons.slice(1), Array(3).fill("The arguments must be a JSON object"));
});

Deno.test("no arguments at all are an empty object", () => {
  for (const text of ["", " \n"]) {
    const [found] = accumulate(...createCallEvents(0, text), done).finish().calls;
    assertEquals([found?.block.arguments, found?.state], [{}, { type: "complete" }]);
  }
});

Deno.test("arguments with a member called __proto__ change no prototype", () => {
  const [found] =
    accumulate(...createCallEvents(0, '{"__proto__": {"polluted": 1}}'), done).finish().calls;
  assertEquals(found?.block.arguments["polluted"], undefined);
  assertEquals(JSON.stringify(found?.block.arguments), '{"__proto__":{"polluted":1}}');
});

Deno.test("A 44 a length stop may leave tool calls open: they are cut, whatever has arrived", () => {
  const [start, delta] = createCallEvents(1, '{"path":"a.txt"}');
  const reply = accumulate(
    ...createCallEvents(0, "{}"),
    ...(start && delta ? [start, delta] : []),
    cutOff,
  );
  assertEquals(reply.finish().calls.map(({ block, state }) => [block.arguments, state.type]), [
    [{}, "complete"],
    [{}, "cut"],
  ]);
});

const openText: AssistantMessageEvent[] = createBlockEvents(0, "text", "x").slice(0, 2);
const openThinking: AssistantMessageEvent[] = createBlockEvents(0, "thinking", "x").slice(0, 2);
const openCall: AssistantMessageEvent[] = createCallEvents(0, "{").slice(0, 2);

const contractViolations: Record<string, [AssistantMessageEvent[], string]> = {
  "a delta after its block's end": [
    [...createBlockEvents(0, "text", "x"), { type: "text_delta", contentIndex: 0, delta: "y" }],
    `"text_delta" came for block 0, which is not open for it`,
  ],
  "a delta of another kind": [
    [...openText, { type: "thinking_delta", contentIndex: 0, delta: "y" }],
    `"thinking_delta" came for block 0, which is not open for it`,
  ],
  "a delta for a block that never began": [
    [{ type: "tool_call_delta", contentIndex: 3, delta: "y" }],
    `"tool_call_delta" came for block 3, which is not open for it`,
  ],
  "a delta for an extension": [
    [{ type: "extension", contentIndex: 0, typeName: "x", data: 1 }, {
      type: "text_delta",
      contentIndex: 0,
      delta: "y",
    }],
    `"text_delta" came for block 0, which is not open for it`,
  ],
  "a second end": [
    [...createCallEvents(0, "{}"), { type: "tool_call_end", contentIndex: 0 }],
    `"tool_call_end" came for block 0, which is not open for it`,
  ],
  "an end of another kind": [
    [...openCall, { type: "text_end", contentIndex: 0 }],
    `"text_end" came for block 0, which is not open for it`,
  ],
  "a block that skips an index": [
    [{ type: "text_start", contentIndex: 1 }],
    "Block 1 began where block 0 was next",
  ],
  "a block that comes again": [
    [...createBlockEvents(0, "text", "x"), { type: "text_start", contentIndex: 0 }],
    "Block 0 began where block 1 was next",
  ],
  "an end with open text": [[...openText, done], "The reply ended while block 0 was still open"],
  "an end with open thinking": [
    [...openThinking, done],
    "The reply ended while block 0 was still open",
  ],
  "an end with an open call": [[...openCall, done], "The reply ended while block 0 was still open"],
  "a length stop with open text": [
    [...openText, cutOff],
    "The reply ended while block 0 was still open",
  ],
  "a failure with open text": [
    [...openText, failed],
    "The reply ended while block 0 was still open",
  ],
  "a failure with an open call": [
    [...openCall, failed],
    "The reply ended while block 0 was still open",
  ],
  "a second terminal event": [[done, failed], `"error" came after the reply had ended`],
  "text after the end": [
    [done, { type: "text_start", contentIndex: 0 }],
    `"text_start" came after`,
  ],
};

for (const [name, [events, message]] of Object.entries(contractViolations)) {
  Deno.test(`A 44 ${name} breaks the contract`, () => {
    assertThrows(() => accumulate(...events), StreamError, message);
  });
}

Deno.test("a failure in mid-block keeps its own error as the cause", () => {
  const error = assertThrows(() => accumulate(...openText, failed), StreamError);
  assertEquals(error.cause, failed.error);
});
