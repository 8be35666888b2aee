import { assertEquals, assertStrictEquals } from "@std/assert";
import {
  assistantMessage,
  text,
  thinking,
  toolCall,
  toolResultMessage,
} from "../../testing/messages.ts";
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

Deno.test("repairHistory() returns the same array for a valid history", () => {
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

Deno.test("repairHistory() adds an error result for a call without one [B39]", () => {
  const callMessage = assistantMessage([createCall("a"), createCall("b")], { timestamp: 7 });
  assertEquals(repairHistory([user, callMessage, createResult("b"), user]), {
    messages: [user, callMessage, createLostResult("a", 7), createResult("b"), user],
    repairs: [{ type: "missing_result_added", index: 1, toolCallId: "a" }],
  });
});

Deno.test("repairHistory() drops a result without a preceding call", () => {
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

Deno.test("repairHistory() moves results directly after their call, in call order", () => {
  const callMessage = assistantMessage([createCall("a"), createCall("b")]);
  assertEquals(repairHistory([callMessage, user, createResult("b"), note, createResult("a")]), {
    messages: [callMessage, createResult("a"), createResult("b"), user, note],
    repairs: [
      { type: "result_moved", index: 4, toolCallId: "a" },
      { type: "result_moved", index: 2, toolCallId: "b" },
    ],
  });
  assertEquals(repairHistory([callMessage, createResult("b"), createResult("a")]), {
    messages: [callMessage, createResult("a"), createResult("b")],
    repairs: [{ type: "result_moved", index: 2, toolCallId: "a" }],
  });
});

Deno.test("repairHistory() renames a duplicate call id together with its result [B22]", () => {
  const callMessage = assistantMessage([createCall("a", { n: 1 }), createCall("a", { n: 2 })]);
  assertEquals(
    repairHistory([callMessage, createResult("a", "first"), createResult("a", "second")]),
    {
      messages: [
        assistantMessage([createCall("a", { n: 1 }), createCall("a_1", { n: 2 })]),
        createResult("a", "first"),
        { ...createResult("a", "second"), toolCallId: "a_1" },
      ],
      repairs: [{ type: "duplicate_call_renamed", index: 0, toolCallId: "a_1" }],
    },
  );
});

Deno.test("repairHistory() assigns a result to the nearest preceding call with its id", () => {
  const callMessage = assistantMessage([createCall("a")]);
  const { messages, repairs } = repairHistory([
    callMessage,
    user,
    callMessage,
    createResult("a", "second"),
  ]);
  assertEquals(messages, [
    callMessage,
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

Deno.test("repairHistory() does not rename a call to the id of a later call", () => {
  const callMessage = assistantMessage([createCall("a"), createCall("a"), createCall("a_1")]);
  const { messages } = repairHistory([
    callMessage,
    createResult("a"),
    createResult("a"),
    createResult("a_1"),
  ]);
  assertEquals(
    messages[0],
    assistantMessage([createCall("a"), createCall("a_2"), createCall("a_1")]),
  );
});

Deno.test("repairHistory() assigns an id to a call without one", () => {
  const { messages } = repairHistory([assistantMessage([createCall("")]), createResult("")]);
  assertEquals(messages, [
    assistantMessage([createCall("call_1")]),
    { ...createResult(""), toolCallId: "call_1" },
  ]);
});

Deno.test("repairHistory() drops an empty assistant message", () => {
  const empty = [[], [text("")], [text(" \n")], [thinking("")]];
  for (const content of empty) {
    assertEquals(repairHistory([user, assistantMessage(content), user]), {
      messages: [user, user],
      repairs: [{ type: "empty_assistant_dropped", index: 1 }],
    });
  }
});

Deno.test("repairHistory() removes only `partialJson` from a call [A41, B39]", () => {
  const partial = { ...createCall("a"), signature: "s", partialJson: '{"n":' };
  const { messages, repairs } = repairHistory([
    assistantMessage([text("x"), partial]),
    createResult("a"),
  ]);
  assertEquals(messages[0], assistantMessage([text("x"), { ...createCall("a"), signature: "s" }]));
  assertEquals(repairs, [{ type: "scratch_field_dropped", index: 0, toolCallId: "a" }]);
});

Deno.test("repairHistory() replaces arguments that are not an object with an empty one [A40, A41]", () => {
  for (const args of [null, "{", 5, [1], undefined]) {
    const invalid = { ...createCall("a"), arguments: args } as unknown as ToolCallBlock;
    const first = repairHistory([
      assistantMessage([invalid, createCall("b")]),
      createResult("a"),
      createResult("b"),
    ]);
    const [repaired] = first.messages;
    assertEquals(
      repaired,
      assistantMessage([{ ...createCall("a"), arguments: {} }, createCall("b")]),
    );
    assertEquals(first.repairs, [{ type: "arguments_emptied", index: 0, toolCallId: "a" }]);
    assertEquals(repairHistory(first.messages).repairs, []);
  }
});

Deno.test("repairHistory() treats a repeated message object as two messages", () => {
  const callMessage = assistantMessage([createCall("a")]);
  const result = createResult("a");
  assertEquals(repairHistory([callMessage, result, callMessage, result]).messages, [
    callMessage,
    result,
    assistantMessage([createCall("a_1")]),
    { ...result, toolCallId: "a_1" },
  ]);
  const twin = createCall("b");
  assertEquals(repairHistory([assistantMessage([twin, twin])]).messages.slice(1), [
    createLostResult("b"),
    { ...createLostResult("b"), toolCallId: "b_1" },
  ]);
});

Deno.test("repairHistory() does not modify the original history", () => {
  const history = Object.freeze([
    Object.freeze(
      assistantMessage(Object.freeze([Object.freeze({ ...createCall("a"), partialJson: "{" })])),
    ),
  ]);
  repairHistory(history);
  assertEquals(history.length, 1);
});

Deno.test("hasContent() is true for text, signatures, calls, images and extensions, and false for blank text", () => {
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
  assertEquals(hasContent([text(" \n"), thinking("")]), false);
});

Deno.test("repairHistory() leaves pending calls without results when only custom messages follow", () => {
  const pendingCalls = new Set(["b"]);
  const calls = assistantMessage([createCall("a"), createCall("b")]);
  const history = [user, calls, note, note];
  assertEquals(repairHistory(history, { pendingCalls }), { messages: history, repairs: [] });
  assertEquals(repairHistory([...history, user], { pendingCalls }), {
    messages: [user, calls, createLostResult("a"), createLostResult("b"), note, note, user],
    repairs: [
      { type: "missing_result_added", index: 1, toolCallId: "a" },
      { type: "missing_result_added", index: 1, toolCallId: "b" },
    ],
  });
});
