import { assert } from "@std/assert";
import {
  addSeq,
  assertBreaks,
  assertLegal,
  callA,
  callB,
  createCallDelta,
  createMessageEvents,
  createReplyEvents,
  createToolEnd,
  createToolStart,
  findEventIndex,
  plainRun,
  replaceEvents,
  results,
  runStart,
  toolRun,
} from "../../tests/testing/event_sequences.ts";
import type { AgentEvent, AgentEventBody } from "../core/event.ts";
import { assistantMessage, toolCall } from "./messages.ts";

Deno.test("ToolsGrammar: requires approvals before any call, in call order, each resolved", () => {
  const request = (id: string): AgentEventBody => ({
    type: "tool_approval_requested",
    id,
    name: "read_file",
    arguments: {},
  });
  const resolve = (id: string): AgentEventBody => ({
    type: "tool_approval_resolved",
    id,
    decision: { type: "denied" },
  });
  const index = findEventIndex(toolRun, "tool_approval_requested");
  const swap = (insert: AgentEventBody[]): AgentEvent[] =>
    replaceEvents(toolRun, index, { remove: 2, insert });
  assertLegal(swap([]));
  assertLegal(swap([request("b"), resolve("b")]));
  assertBreaks(
    "approval",
    swap([request("b"), resolve("b"), request("a"), resolve("a")]),
    index + 2,
  );
  assertBreaks(
    "approval",
    swap([request("a"), request("b"), resolve("a"), resolve("b")]),
    index + 1,
  );
  assertBreaks("approval", swap([request("a")]), index + 1);
  assertBreaks("approval", swap([resolve("a")]), index);
  assertBreaks("approval", swap([createToolStart(callA), request("b"), resolve("b")]), index + 1);
  assertBreaks("tool", swap([request("c")]), index);
});

Deno.test("ToolsGrammar: accepts refused calls first, and requires the others to start in call order", () => {
  const from = findEventIndex(toolRun, "tool_execution_start");
  const swap = (insert: AgentEventBody[]): AgentEvent[] =>
    replaceEvents(toolRun, from, { remove: 5, insert });
  assertLegal(
    swap([
      createToolStart(callB),
      createToolEnd(callB),
      createToolStart(callA),
      createToolEnd(callA),
    ]),
  );
  assertLegal(
    swap([
      createToolStart(callA),
      createToolEnd(callA),
      createToolStart(callB),
      createToolEnd(callB),
    ]),
  );
  assertBreaks(
    "tool",
    swap([
      createToolStart(callB),
      createToolStart(callA),
      createToolEnd(callA),
      createToolEnd(callB),
    ]),
    from + 1,
  );
});

Deno.test("ToolsGrammar: requires a call to start and end once with its own name, and updates in between", () => {
  const from = findEventIndex(toolRun, "tool_execution_start");
  const end = findEventIndex(toolRun, "tool_execution_end", 1);
  const unknown = toolCall("read_file", {}, { id: "c" });
  const renamed = { ...callA, name: "write_file" };
  assertBreaks("tool", replaceEvents(toolRun, from, { insert: [createToolStart(unknown)] }), from);
  assertBreaks("tool", replaceEvents(toolRun, from, { insert: [createToolStart(renamed)] }), from);
  assertBreaks("tool", replaceEvents(toolRun, from, { insert: [createToolEnd(callA)] }), from);
  assertBreaks(
    "tool",
    replaceEvents(toolRun, end, { remove: 1, insert: [createToolEnd(renamed)] }),
    end,
  );
  const late: AgentEventBody = { type: "tool_execution_update", id: "a", update: "late" };
  assertBreaks("tool", replaceEvents(toolRun, end + 1, { insert: [late] }), end + 1);
  assertBreaks("tool", replaceEvents(plainRun, 4, { insert: [createToolStart(callA)] }), 4);
});

Deno.test("ToolsGrammar: requires one result per call, in call order, after all calls have ended", () => {
  const from = findEventIndex(toolRun, "tool_execution_end", 1) + 1;
  const [first, second] = results;
  assert(first && second);
  assertBreaks(
    "result",
    replaceEvents(toolRun, from, {
      remove: 4,
      insert: [...createMessageEvents(second), ...createMessageEvents(first)],
    }),
    from,
  );
  assertBreaks(
    "result",
    replaceEvents(toolRun, from + 4, { insert: createMessageEvents(first) }),
    from + 4,
  );
  assertBreaks("result", replaceEvents(toolRun, from, { remove: 2 }), from);
  assertBreaks(
    "tool",
    replaceEvents(toolRun, from - 1, { insert: createMessageEvents(first) }),
    from - 1,
  );
});

Deno.test("ToolsGrammar: requires unique call ids that are not empty", () => {
  for (const id of ["", "a"]) {
    const message = assistantMessage([callA, { ...callB, id }]);
    assertBreaks(
      "tool",
      addSeq([
        ...runStart,
        ...createReplyEvents(message, [createCallDelta(0), createCallDelta(1, callB)]),
      ]),
    );
  }
});
