import { assertEquals, assertStrictEquals } from "@std/assert";
import {
  assistantMessage,
  text,
  thinking,
  toolCall,
  toolResultMessage,
} from "../testing/messages.ts";
import type { ContentBlock, ToolCallBlock } from "./content.ts";
import { hasContent, LOST_RESULT_TEXT, repairHistory } from "./history.ts";
import { type AgentMessage, type ToolResultMessage, userMessage } from "./message.ts";

const user = userMessage("Hi", 1);
const note: AgentMessage = { role: "custom", type: "note", data: 1, timestamp: 1 };

function createCall(id: string, args = { n: 1 }): ToolCallBlock {
  return toolCall("bash", args, { id });
}

function createResult(id: string, content = `result of ${id}`): ToolResultMessage {
  return toolResultMessage(createCall(id), content);
}

function createLostResult(id: string, timestamp = 0): ToolResultMessage {
  return toolResultMessage(createCall(id), LOST_RESULT_TEXT, { isError: true, timestamp });
}

Deno.test("a valid history is given back as it is", () => {
  const history = [
    user,
    assistantMessage([thinking("Hm"), createCall("a"), createCall("b")]),
    createResult("a"),
    createResult("b"),
    note,
    assistantMessage("Done"),
    user,
  ];
  const { messages, repairs } = repairHistory(history);
  assertStrictEquals(messages, history);
  assertEquals(repairs, []);
});

Deno.test("B 39 a call that has no result gets one that says so", () => {
  const asking = assistantMessage([createCall("a"), createCall("b")], { timestamp: 7 });
  assertEquals(repairHistory([user, asking, createResult("b"), user]), {
    messages: [user, asking, createLostResult("a", 7), createResult("b"), user],
    repairs: [{ type: "missing_result_added", index: 1, toolCallId: "a" }],
  });
});

Deno.test("a result that has no call before it is dropped", () => {
  assertEquals(
    repairHistory([
      createResult("a"),
      user,
      assistantMessage([createCall("a")]),
      createResult("a"),
      createResult("a"),
    ]),
    {
      messages: [user, assistantMessage([createCall("a")]), createResult("a")],
      repairs: [
        { type: "orphan_result_dropped", index: 0, toolCallId: "a" },
        { type: "orphan_result_dropped", index: 4, toolCallId: "a" },
      ],
    },
  );
});

Deno.test("results that stand elsewhere come directly after their call, in call order", () => {
  const asking = assistantMessage([createCall("a"), createCall("b")]);
  assertEquals(repairHistory([asking, user, createResult("b"), note, createResult("a")]), {
    messages: [asking, createResult("a"), createResult("b"), user, note],
    repairs: [
      { type: "result_moved", index: 4, toolCallId: "a" },
      { type: "result_moved", index: 2, toolCallId: "b" },
    ],
  });
  assertEquals(repairHistory([asking, createResult("b"), createResult("a")]), {
    messages: [asking, createResult("a"), createResult("b")],
    repairs: [{ type: "result_moved", index: 2, toolCallId: "a" }],
  });
});

Deno.test("B 22 two calls of one id are told apart, each with its result", () => {
  const asking = assistantMessage([createCall("a", { n: 1 }), createCall("a", { n: 2 })]);
  assertEquals(repairHistory([asking, createResult("a", "first"), createResult("a", "second")]), {
    messages: [
      assistantMessage([createCall("a", { n: 1 }), createCall("a_1", { n: 2 })]),
      createResult("a", "first"),
      { ...createResult("a", "second"), toolCallId: "a_1" },
    ],
    repairs: [{ type: "duplicate_call_renamed", index: 0, toolCallId: "a_1" }],
  });
});

Deno.test("a result belongs to the nearest call of its id, not to a lost one long before", () => {
  const asking = assistantMessage([createCall("a")]);
  const { messages, repairs } = repairHistory([asking, user, asking, createResult("a", "second")]);
  assertEquals(messages, [
    asking,
    createLostResult("a"),
    user,
    assistantMessage([createCall("a_1")]),
    { ...createResult("a", "second"), toolCallId: "a_1" },
  ]);
  assertEquals(repairs.map(({ type, index }) => [type, index]), [
    ["missing_result_added", 0],
    ["duplicate_call_renamed", 2],
  ]);
});

Deno.test("a new id is never one that a later call has", () => {
  const asking = assistantMessage([createCall("a"), createCall("a"), createCall("a_1")]);
  const { messages } = repairHistory([
    asking,
    createResult("a"),
    createResult("a"),
    createResult("a_1"),
  ]);
  assertEquals(
    messages[0],
    assistantMessage([createCall("a"), createCall("a_2"), createCall("a_1")]),
  );
});

Deno.test("a call without an id gets one", () => {
  const { messages } = repairHistory([assistantMessage([createCall("")]), createResult("")]);
  assertEquals(messages, [
    assistantMessage([createCall("call_1")]),
    { ...createResult(""), toolCallId: "call_1" },
  ]);
});

Deno.test("an assistant message that says nothing is dropped", () => {
  const empty = [[], [text("")], [text(" \n")], [thinking("")]];
  for (const content of empty) {
    assertEquals(repairHistory([user, assistantMessage(content), user]), {
      messages: [user, user],
      repairs: [{ type: "empty_assistant_dropped", index: 1 }],
    });
  }
});

Deno.test("A 41, B 39 no scratch field is left, other fields and blocks are", () => {
  const partial = { ...createCall("a"), signature: "s", partialJson: '{"n":' };
  const { messages, repairs } = repairHistory([
    assistantMessage([text("x"), partial]),
    createResult("a"),
  ]);
  assertEquals(messages[0], assistantMessage([text("x"), { ...createCall("a"), signature: "s" }]));
  assertEquals(repairs, [{ type: "scratch_field_dropped", index: 0, toolCallId: "a" }]);
});

Deno.test("A 40, A 41 arguments that are no object become an empty one; objects stay untouched", () => {
  for (const args of [null, "{", 5, [1], undefined]) {
    const spoiled = { ...createCall("a"), arguments: args } as unknown as ToolCallBlock;
    const first = repairHistory([
      assistantMessage([spoiled, createCall("b")]),
      createResult("a"),
      createResult("b"),
    ]);
    const [asking] = first.messages;
    assertEquals(
      asking,
      assistantMessage([{ ...createCall("a"), arguments: {} }, createCall("b")]),
    );
    assertEquals(first.repairs, [{ type: "arguments_emptied", index: 0, toolCallId: "a" }]);
    assertEquals(repairHistory(first.messages).repairs, []);
  }
});

Deno.test("one message object that stands twice is two messages", () => {
  const asking = assistantMessage([createCall("a")]);
  const answer = createResult("a");
  assertEquals(repairHistory([asking, answer, asking, answer]).messages, [
    asking,
    answer,
    assistantMessage([createCall("a_1")]),
    { ...answer, toolCallId: "a_1" },
  ]);
  const twin = createCall("b");
  assertEquals(repairHistory([assistantMessage([twin, twin])]).messages.slice(1), [
    createLostResult("b"),
    { ...createLostResult("b"), toolCallId: "b_1" },
  ]);
});

Deno.test("the history that was given is not changed", () => {
  const history = Object.freeze([
    Object.freeze(
      assistantMessage(Object.freeze([Object.freeze({ ...createCall("a"), partialJson: "{" })])),
    ),
  ]);
  repairHistory(history);
  assertEquals(history.length, 1);
});

Deno.test("text, marks, calls, images and provider items are content", () => {
  const content: ContentBlock[][] = [
    [text("x")],
    [text("", { signature: "s" })],
    [thinking("x")],
    [thinking("", { signature: "s" })],
    [createCall("a")],
    [{ type: "image", source: { type: "url", url: "u" } }],
    [{ type: "extension", typeName: "x", data: null }],
  ];
  for (const blocks of content) assertEquals(hasContent(blocks), true);
});
