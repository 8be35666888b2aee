import { assert } from "@std/assert";
import {
  addSeq,
  assertBreaks,
  assertLegal,
  callA,
  callB,
  callingReply,
  createApproval,
  createApprovalRequest,
  createAttempt,
  createCallDelta,
  createMessageEvents,
  createReplyEvents,
  createToolEnd,
  createToolStart,
  findEventIndex,
  pendingRun,
  plainRun,
  replaceEvents,
  results,
  resumedRun,
  runStart,
  toolRun,
  user,
} from "../../tests/testing/event_sequences.ts";
import type { AgentEvent, AgentEventBody } from "../core/events/event.ts";
import { toolCall } from "./messages.ts";

Deno.test("ToolsGrammar: requires approvals before any call, in call order, each followed by its decision", () => {
  const index = findEventIndex(toolRun, "tool_approval_requested");
  const swap = (insert: AgentEventBody[]): AgentEvent[] =>
    replaceEvents(toolRun, index, { remove: 2, insert });
  const approve = (id: string): AgentEventBody[] => [createApprovalRequest(id), createApproval(id)];
  assertLegal(swap([]));
  assertLegal(swap(approve("b")));
  assertLegal(swap([...approve("a"), ...approve("b")]));
  assertBreaks("approval", swap([...approve("b"), ...approve("a")]), index + 2);
  assertBreaks("approval", swap([...approve("a"), createApproval("a")]), index + 2);
  assertBreaks("approval", swap([createApproval("a")]), index);
  assertBreaks("approval", swap([createToolStart(callA), ...approve("b")]), index + 1);
  assertBreaks("tool", swap([createApprovalRequest("c")]), index);
  const interleaved = [createApprovalRequest("a"), createApprovalRequest("b"), createApproval("a")];
  assertBreaks("approval", swap(interleaved), index + 2);
});

Deno.test("ToolsGrammar: rejects a call that runs although an approval is pending or was denied", () => {
  const from = findEventIndex(toolRun, "tool_approval_requested");
  const failed = [callA, callB].flatMap((call) => [
    createToolStart(call),
    createToolEnd(call, true),
  ]);
  const succeeded = [...failed.slice(0, 3), createToolEnd(callB)];
  const swap = (approvals: AgentEventBody[], calls: AgentEventBody[]): AgentEvent[] =>
    replaceEvents(toolRun, from, { remove: 7, insert: [...approvals, ...calls] });
  for (
    const approvals of [
      [createApprovalRequest("a")],
      [createApprovalRequest("b"), createApproval("b", "denied")],
    ]
  ) {
    assertLegal(swap(approvals, failed));
    assertBreaks("approval", swap(approvals, succeeded), from + approvals.length + 3);
  }
});

Deno.test("ToolsGrammar: accepts a turn that ends pending without executions and results", () => {
  const end = findEventIndex(pendingRun, "turn_end");
  assertLegal(addSeq(pendingRun));
  const decided = replaceEvents(pendingRun, end - 3, { remove: 1 });
  assertBreaks("approval", decided, end - 1);
  const noneIsPending = replaceEvents(pendingRun, end - 2, { insert: [createApproval("a")] });
  assertBreaks("approval", noneIsPending, end + 1);
  const calls = [createToolStart(callA), createToolEnd(callA, true)];
  assertBreaks("approval", replaceEvents(pendingRun, end, { insert: calls }), end + 2);
  const [result] = results;
  assert(result);
  const messages = createMessageEvents(result);
  assertBreaks("tool", replaceEvents(pendingRun, end, { insert: messages }), end);
});

Deno.test("ToolsGrammar: accepts a first turn that runs the calls of an earlier reply", () => {
  const decision = findEventIndex(resumedRun, "tool_approval_resolved");
  const end = findEventIndex(resumedRun, "turn_end");
  const after = (run: AgentEvent[]): AgentEvent[] => [...addSeq(pendingRun), ...run];
  const offset = pendingRun.length;
  const both = replaceEvents(resumedRun, decision + 1, { insert: [createApproval("b")] });
  assertLegal(both);
  assertBreaks("approval", after(both), offset + decision + 1);
  const undecided = replaceEvents(resumedRun, decision, { remove: 1 });
  // The run may have been interrupted, and its call allowed by the mode.
  assertLegal(undecided);
  assertBreaks("approval", after(undecided), offset + decision + 3);
  const denied = replaceEvents(resumedRun, decision, {
    remove: 1,
    insert: [createApproval("a", "denied")],
  });
  assertBreaks("approval", denied, end);
  assertBreaks("approval", after(denied), offset + decision + 5);
  const requested = replaceEvents(resumedRun, decision + 1, {
    insert: [createApprovalRequest("b")],
  });
  assertBreaks("approval", requested, end + 1);
  assertBreaks("approval", after(requested), offset + decision + 1);
});

Deno.test("ToolsGrammar: rejects calls of an earlier reply after input, in a later turn, and of another reply", () => {
  const decision = findEventIndex(resumedRun, "tool_approval_resolved");
  const steered = replaceEvents(resumedRun, decision, { insert: createMessageEvents(user) });
  assertBreaks("message", steered, decision + 2);
  const secondTurn = findEventIndex(toolRun, "turn_start", 1) + 1;
  assertBreaks(
    "tool",
    replaceEvents(toolRun, secondTurn, { insert: [createApproval("a")] }),
    secondTurn,
  );
  const otherReply = { ...callingReply, id: "message_9" };
  const end = findEventIndex(resumedRun, "turn_end");
  const renamed = replaceEvents(resumedRun, end, {
    remove: 1,
    insert: [{ ...resumedRun[end], message: otherReply } as AgentEventBody],
  });
  assertLegal(renamed);
  assertBreaks("summary", [...addSeq(pendingRun), ...renamed], pendingRun.length + end);
  assertBreaks(
    "message",
    replaceEvents(resumedRun, end, { insert: createMessageEvents({ ...user, id: "message_8" }) }),
    end,
  );
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
  const reply = findEventIndex(plainRun, "message_update");
  assertBreaks(
    "tool",
    replaceEvents(plainRun, reply, { insert: [createToolStart(callA)] }),
    reply,
  );
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
    replaceEvents(toolRun, from + 4, {
      insert: createMessageEvents({ ...first, id: "message_9" }),
    }),
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
    const message = { ...callingReply, content: [callA, { ...callB, id }] };
    assertBreaks(
      "tool",
      addSeq([
        ...runStart,
        ...createReplyEvents(
          message,
          createAttempt([createCallDelta(0), createCallDelta(1, { ...callB, id })]),
        ),
      ]),
    );
  }
});
