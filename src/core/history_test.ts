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

function call(id: string, args = { n: 1 }): ToolCallBlock {
  return toolCall("bash", args, { id });
}

function result(id: string, content = `result of ${id}`): ToolResultMessage {
  return toolResultMessage(call(id), content);
}

function lost(id: string, timestamp = 0): ToolResultMessage {
  return toolResultMessage(call(id), LOST_RESULT_TEXT, { isError: true, timestamp });
}

Deno.test("a valid history is given back as it is", () => {
  const history = [
    user,
    assistantMessage([thinking("Hm"), call("a"), call("b")]),
    result("a"),
    result("b"),
    note,
    assistantMessage("Done"),
    user,
  ];
  const { messages, repairs } = repairHistory(history);
  assertStrictEquals(messages, history);
  assertEquals(repairs, []);
});

Deno.test("B 39 a call that has no result gets one that says so", () => {
  const asking = assistantMessage([call("a"), call("b")], { timestamp: 7 });
  assertEquals(repairHistory([user, asking, result("b"), user]), {
    messages: [user, asking, lost("a", 7), result("b"), user],
    repairs: [{ type: "missing_result_added", index: 1, toolCallId: "a" }],
  });
});

Deno.test("a result that has no call before it is dropped", () => {
  assertEquals(
    repairHistory([result("a"), user, assistantMessage([call("a")]), result("a"), result("a")]),
    {
      messages: [user, assistantMessage([call("a")]), result("a")],
      repairs: [
        { type: "orphan_result_dropped", index: 0, toolCallId: "a" },
        { type: "orphan_result_dropped", index: 4, toolCallId: "a" },
      ],
    },
  );
});

Deno.test("results that stand elsewhere come directly after their call, in call order", () => {
  const asking = assistantMessage([call("a"), call("b")]);
  assertEquals(repairHistory([asking, user, result("b"), note, result("a")]), {
    messages: [asking, result("a"), result("b"), user, note],
    repairs: [
      { type: "result_moved", index: 4, toolCallId: "a" },
      { type: "result_moved", index: 2, toolCallId: "b" },
    ],
  });
  assertEquals(repairHistory([asking, result("b"), result("a")]), {
    messages: [asking, result("a"), result("b")],
    repairs: [{ type: "result_moved", index: 2, toolCallId: "a" }],
  });
});

Deno.test("B 22 two calls of one id are told apart, each with its result", () => {
  const asking = assistantMessage([call("a", { n: 1 }), call("a", { n: 2 })]);
  assertEquals(repairHistory([asking, result("a", "first"), result("a", "second")]), {
    messages: [
      assistantMessage([call("a", { n: 1 }), call("a_1", { n: 2 })]),
      result("a", "first"),
      { ...result("a", "second"), toolCallId: "a_1" },
    ],
    repairs: [{ type: "duplicate_call_renamed", index: 0, toolCallId: "a_1" }],
  });
});

Deno.test("a result belongs to the nearest call of its id, not to a lost one long before", () => {
  const asking = assistantMessage([call("a")]);
  const { messages, repairs } = repairHistory([asking, user, asking, result("a", "second")]);
  assertEquals(messages, [
    asking,
    lost("a"),
    user,
    assistantMessage([call("a_1")]),
    { ...result("a", "second"), toolCallId: "a_1" },
  ]);
  assertEquals(repairs.map(({ type, index }) => [type, index]), [
    ["missing_result_added", 0],
    ["duplicate_call_renamed", 2],
  ]);
});

Deno.test("a new id is never one that a later call has", () => {
  const asking = assistantMessage([call("a"), call("a"), call("a_1")]);
  const { messages } = repairHistory([asking, result("a"), result("a"), result("a_1")]);
  assertEquals(messages[0], assistantMessage([call("a"), call("a_2"), call("a_1")]));
});

Deno.test("a call without an id gets one", () => {
  const { messages } = repairHistory([assistantMessage([call("")]), result("")]);
  assertEquals(messages, [
    assistantMessage([call("call_1")]),
    { ...result(""), toolCallId: "call_1" },
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
  const partial = { ...call("a"), signature: "s", partialJson: '{"n":' };
  const { messages, repairs } = repairHistory([
    assistantMessage([text("x"), partial]),
    result("a"),
  ]);
  assertEquals(messages[0], assistantMessage([text("x"), { ...call("a"), signature: "s" }]));
  assertEquals(repairs, [{ type: "scratch_field_dropped", index: 0, toolCallId: "a" }]);
});

Deno.test("A 40, A 41 arguments that are no object become an empty one; objects stay untouched", () => {
  for (const args of [null, "{", 5, [1], undefined]) {
    const spoiled = { ...call("a"), arguments: args } as unknown as ToolCallBlock;
    const first = repairHistory([assistantMessage([spoiled, call("b")]), result("a"), result("b")]);
    const [asking] = first.messages;
    assertEquals(asking, assistantMessage([{ ...call("a"), arguments: {} }, call("b")]));
    assertEquals(first.repairs, [{ type: "arguments_emptied", index: 0, toolCallId: "a" }]);
    assertEquals(repairHistory(first.messages).repairs, []);
  }
});

Deno.test("one message object that stands twice is two messages", () => {
  const asking = assistantMessage([call("a")]);
  const answer = result("a");
  assertEquals(repairHistory([asking, answer, asking, answer]).messages, [
    asking,
    answer,
    assistantMessage([call("a_1")]),
    { ...answer, toolCallId: "a_1" },
  ]);
  const twin = call("b");
  assertEquals(repairHistory([assistantMessage([twin, twin])]).messages.slice(1), [
    lost("b"),
    { ...lost("b"), toolCallId: "b_1" },
  ]);
});

Deno.test("the history that was given is not changed", () => {
  const history = Object.freeze([
    Object.freeze(
      assistantMessage(Object.freeze([Object.freeze({ ...call("a"), partialJson: "{" })])),
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
    [call("a")],
    [{ type: "image", source: { type: "url", url: "u" } }],
    [{ type: "extension", typeName: "x", data: null }],
  ];
  for (const blocks of content) assertEquals(hasContent(blocks), true);
});
