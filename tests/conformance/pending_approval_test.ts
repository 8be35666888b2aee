import { assertEquals, assertRejects, assertStringIncludes, assertThrows } from "@std/assert";
import { BadRequestError } from "../../src/core/errors/errors.ts";
import type { Policy } from "../../src/core/hooks/policy.ts";
import { repairHistory } from "../../src/core/messages/history.ts";
import { userMessage } from "../../src/core/messages/message.ts";
import { checkEvents } from "../../src/testing/event_grammar.ts";
import { fakeTool } from "../../src/testing/fake_tool.ts";
import { toolCall } from "../../src/testing/messages.ts";
import { reply } from "../../src/testing/script.ts";
import { eventsOfType, outlineAllEvents, outlineMessages } from "./outline.ts";
import { BATCH, PENDING, pending, pendingAgent, ranCalls } from "./pending_agent.ts";
import { settle } from "./ports.ts";
import { atFirst, testAgent } from "./test_agent.ts";

Deno.test("approve pending: asks for all calls, runs none, and ends the run with the calls that wait", async () => {
  const test = pendingAgent();
  const events = await checkEvents(test.agent.promptStream("Go"));
  const lines = outlineAllEvents(events);
  assertEquals(lines.slice(lines.indexOf("message_end assistant")), [
    "message_end assistant",
    "tool_approval_requested call_1",
    "tool_approval_resolved call_1 approved",
    "tool_approval_requested call_2",
    "tool_approval_requested call_3",
    "tool_approval_resolved call_3 denied",
    "turn_end approval_pending",
    "agent_end",
  ]);
  const [end] = eventsOfType(events, "agent_end");
  assertEquals([end?.stopReason, end?.pendingApprovals, end?.error, end?.stoppedBy], [
    "tool_use",
    PENDING,
    undefined,
    undefined,
  ]);
  assertEquals(eventsOfType(events, "turn_end")[0]?.toolResults, []);
  assertEquals(ranCalls(test), []);
  const { agent } = test;
  assertEquals([agent.state.pendingApprovals, agent.state.isRunning], [PENDING, false]);
  assertEquals(outlineMessages(agent.state.messages).length, 2);
});

Deno.test("prompt(): answers pending calls as not approved, before the prompt", async () => {
  const test = pendingAgent();
  const { agent } = test;
  await agent.prompt("Go");
  const events = await checkEvents(agent.promptStream("Never mind"));
  const words = "tool_result: Tool call not run: not approved: the conversation went on";
  assertEquals(outlineMessages(agent.state.messages).slice(2), [
    ...Array(4).fill(words),
    "user: Never mind",
    "assistant: Done",
  ]);
  assertEquals(outlineAllEvents(events).slice(0, 12), [
    "agent_start",
    "turn_start 1",
    ...Array(4).fill(["message_start tool_result", "message_end tool_result"]).flat(),
    "message_start user",
    "message_end user",
  ]);
  assertEquals([ranCalls(test), agent.state.pendingApprovals], [[], []]);
  assertEquals(eventsOfType(events, "warning"), []);
  assertEquals(repairHistory(agent.state.messages).repairs, []);
});

Deno.test("continue(): a decision may refuse hunks, and is rejected if they are invalid", async () => {
  const write = {
    ...fakeTool({ name: "write" }),
    omitHunks: () => Promise.resolve({ text: "one" }),
  };
  const { agent } = testAgent([
    reply([toolCall("write", { text: "one two" }, { id: "a" })]),
    reply("Done"),
  ], { tools: [write], approve: () => pending });
  await agent.prompt("Go");
  const approve = (refusedHunks: unknown) =>
    agent.continue({ approvals: { a: { type: "approved", refusedHunks } as never } });
  await assertRejects(() => approve("two"), BadRequestError, "refusedHunks must be a list");
  await approve([{ path: "a.txt", hunks: ["two"] }]);
  assertEquals(write.calls.map((call) => call.arguments), [{ text: "one" }]);
  assertStringIncludes(
    outlineMessages(agent.state.messages)[2] ?? "",
    "were refused, and not made:\na.txt\ntwo",
  );
});

Deno.test("approve pending: two batches of one conversation may be pending one after the other", async () => {
  const test = pendingAgent([
    reply([toolCall("look", {}, { id: "a" })]),
    reply([toolCall("look", {}, { id: "b" })]),
    reply("Done"),
  ], { approve: () => pending });
  const { agent } = test;
  await agent.prompt("Go");
  const second = await agent.continue({ approvals: { a: true } });
  assertEquals(second.pendingApprovals?.map(({ toolCallId }) => toolCallId), ["b"]);
  assertEquals([second.turns, second.stopReason], [2, "tool_use"]);
  const third = await agent.continue({ approvals: { b: true } });
  assertEquals([third.text, third.pendingApprovals], ["Done", undefined]);
  assertEquals(ranCalls(test), ["a", "b"]);
});

Deno.test("abort() while an approval is asked: cancels the batch, and nothing is pending", async () => {
  const test = pendingAgent(undefined, {
    approve: ({ toolCallId }) => toolCallId === "call_1" ? pending : new Promise(() => {}),
  });
  const { agent } = test;
  const running = checkEvents(agent.promptStream("Go"));
  await settle();
  agent.abort("enough");
  const events = await running;
  const [end] = eventsOfType(events, "agent_end");
  assertEquals([end?.stopReason, end?.abortReason, end?.pendingApprovals], [
    "aborted",
    "enough",
    undefined,
  ]);
  assertEquals(eventsOfType(events, "tool_approval_resolved").map(({ decision }) => decision), [
    { type: "denied", reason: "tool call cancelled: run aborted" },
  ]);
  assertEquals([ranCalls(test), agent.state.pendingApprovals], [[], []]);
  assertEquals(outlineMessages(agent.state.messages).slice(2), [
    ...Array(3).fill("tool_result: tool call cancelled: run aborted"),
    'tool_result: Tool "lok" not found. Available tools: look, write.',
  ]);
});

Deno.test("a policy that stops the run while an approval is asked is the reason of its denial", async () => {
  const test = pendingAgent([reply([toolCall("look")])], {
    approve: () => new Promise(() => {}),
    policies: [{
      name: "hours",
      onDelta: ({ elapsedMs }) => elapsedMs > 0 ? { type: "stop", reason: "closed" } : undefined,
    }],
  });
  const running = checkEvents(test.agent.promptStream("Go"));
  await settle();
  test.clock.advance(250);
  const events = await running;
  const reason = 'tool call cancelled: the policy "hours" stopped the run: closed';
  assertEquals(eventsOfType(events, "tool_approval_resolved").map(({ decision }) => decision), [
    { type: "denied", reason, origin: "policy" },
  ]);
  assertEquals(outlineMessages(test.agent.state.messages)[2], `tool_result: ${reason}`);
});

Deno.test("approve pending: the state has what the result has, until the decisions arrive", async () => {
  const { agent } = pendingAgent();
  assertEquals([agent.state.pendingApprovals, agent.state.decidedCalls], [[], []]);
  const { pendingApprovals, decidedCalls } = await agent.prompt("Go");
  assertEquals(decidedCalls?.length, 3);
  assertEquals(
    [agent.state.pendingApprovals, agent.state.decidedCalls],
    [pendingApprovals, decidedCalls],
  );
  atFirst(agent, "agent_start", () => assertEquals(agent.state.pendingApprovals, []));
  const { messages } = await agent.continue({ approvals: { call_2: true } });
  assertEquals(messages.length, 5);
  assertEquals([agent.state.pendingApprovals, agent.state.decidedCalls], [[], []]);
});

Deno.test("a new agent has the pending and decided calls of its options in its state", async () => {
  const { agent: first } = pendingAgent();
  const { pendingApprovals, decidedCalls } = await first.prompt("Go");
  const { messages } = first.state;
  const { agent } = pendingAgent([], { messages, pendingApprovals, decidedCalls });
  assertEquals(
    [agent.state.pendingApprovals, agent.state.decidedCalls],
    [pendingApprovals, decidedCalls],
  );
});

for (const interrupt of ["cancel", "boundary", "after_batch"] as const) {
  Deno.test(`steer() while an approval is asked, with interrupt ${interrupt}`, async () => {
    const asked: string[] = [];
    const test = pendingAgent(undefined, {
      interrupt,
      approve: ({ toolCallId }) => {
        asked.push(toolCallId);
        if (toolCallId === "call_1") agent.steer("wait");
        return toolCallId === "call_2" ? pending : true;
      },
    });
    const { agent } = test;
    const events = await checkEvents(agent.promptStream("Go"));
    if (interrupt === "after_batch") {
      assertEquals(asked, ["call_1", "call_2", "call_3"]);
      assertEquals(agent.state.pendingApprovals, PENDING);
      assertEquals(agent.queued.steering.length, 1);
      return;
    }
    assertEquals(asked, ["call_1"]);
    assertEquals(eventsOfType(events, "turn_end").map(({ reason }) => reason), [
      "steering_interrupt",
      "complete",
    ]);
    assertEquals(outlineMessages(agent.state.messages).slice(2), [
      ...Array(3).fill("tool_result: tool call cancelled: user requested steering interrupt"),
      'tool_result: Tool "lok" not found. Available tools: look, write.',
      "user: wait",
      "assistant: Done",
    ]);
    assertEquals([ranCalls(test), agent.state.pendingApprovals], [[], []]);
  });
}

Deno.test("steer() while an approval hangs: denies it at once, and no further approval is asked", async () => {
  const asked: string[] = [];
  const test = pendingAgent(undefined, {
    approve: ({ toolCallId }) => (asked.push(toolCallId), new Promise(() => {})),
  });
  const { agent, clock } = test;
  const running = checkEvents(agent.promptStream("Go"));
  await settle();
  agent.steer("wait");
  const events = await running;
  assertEquals([asked, clock.waits], [["call_1"], []]);
  assertEquals(
    eventsOfType(events, "tool_approval_resolved").map(({ id, decision }) => [id, decision]),
    [
      ["call_1", {
        type: "denied",
        reason: "tool call cancelled: user requested steering interrupt",
      }],
    ],
  );
  assertEquals(ranCalls(test), []);
});

Deno.test("steer() before the approvals of a batch: asks for none of them", async () => {
  const asked: string[] = [];
  const test = pendingAgent(undefined, {
    approve: ({ toolCallId }) => (asked.push(toolCallId), true),
  });
  const { agent } = test;
  atFirst(agent, "message_update", () => agent.steer("wait"));
  await checkEvents(agent.promptStream("Go"));
  assertEquals([asked, ranCalls(test)], [[], []]);
});

Deno.test("setMessages() and clearMessages() end the wait; appendMessages() answers the calls", async () => {
  const cleared = pendingAgent();
  await cleared.agent.prompt("Go");
  cleared.agent.clearMessages();
  assertEquals(cleared.agent.state.pendingApprovals, []);
  const appended = pendingAgent();
  await appended.agent.prompt("Go");
  appended.agent.appendMessages([userMessage("More", 0)]);
  assertEquals(appended.agent.state.pendingApprovals, []);
  assertEquals(repairHistory(appended.agent.state.messages).repairs, []);
  assertEquals(appended.agent.state.messages.length, 7);
  const refused = pendingAgent();
  await refused.agent.prompt("Go");
  assertThrows(() => refused.agent.setMessages(["Hi"] as never), BadRequestError);
  assertThrows(() => refused.agent.appendMessages(["Hi"] as never), BadRequestError);
  assertEquals(refused.agent.state.pendingApprovals, PENDING);
  const reset = pendingAgent();
  await reset.agent.prompt("Go");
  reset.agent.reset();
  assertEquals(reset.agent.state.pendingApprovals, []);
});

Deno.test("approve pending: the usage of the resumed run is that of its own calls", async () => {
  const usage = { input: 1, output: 1, cacheRead: 0, cacheWrite: 0, total: 2 };
  const test = pendingAgent([reply([toolCall("look")], { usage }), reply("Done", { usage })], {
    approve: () => pending,
  });
  const first = await test.agent.prompt("Go");
  const second = await test.agent.continue({ approvals: { call_1: true } });
  assertEquals([first.usage.total, second.usage.total], [2, 2]);
});

Deno.test("tool_approval_requested: the arguments that wait are those of the event", async () => {
  const test = pendingAgent();
  const events = await checkEvents(test.agent.promptStream("Go"));
  const requested = eventsOfType(events, "tool_approval_requested").find(({ id }) =>
    id === "call_2"
  );
  assertEquals(requested?.arguments, PENDING[0]?.arguments);
});

Deno.test("approve pending: a call whose edited arguments a policy refuses stays refused when the batch resumes", async () => {
  const calls = [toolCall("look", {}, { id: "a" }), toolCall("look", {}, { id: "b" })];
  let isStrict = true;
  const test = pendingAgent([reply(calls), reply("Done")], {
    approve: ({ toolCallId }) =>
      toolCallId === "a" ? { type: "approved", arguments: { path: "/etc" } } : pending,
    policies: [{
      name: "paths",
      preDispatch: ({ arguments: { path } }) =>
        isStrict && path === "/etc" ? { type: "skip", reason: "not there" } : undefined,
    }],
  });
  const { agent } = test;
  const { decidedCalls } = await agent.prompt("Go");
  const reason = "Tool call refused: not there";
  assertEquals(decidedCalls, [
    {
      toolCallId: "a",
      name: "look",
      arguments: {},
      decision: { type: "denied", reason, origin: "policy" },
    },
  ]);
  isStrict = false;
  await agent.continue({ approvals: { b: true } });
  assertEquals(ranCalls(test), ["b"]);
  assertEquals(outlineMessages(agent.state.messages)[2], `tool_result: ${reason}`);
});

Deno.test("setMessages() with pending approvals: takes those of the state of the agent", async () => {
  const { agent } = pendingAgent();
  await agent.prompt("Go");
  agent.setMessages(agent.state.messages, agent.state);
  assertEquals(agent.state.pendingApprovals, PENDING);
});

Deno.test("setMessages() with pending approvals: a custom message after the calls does not end the wait", async () => {
  const first = pendingAgent();
  const { messages, pendingApprovals = [], decidedCalls } = await first.agent.prompt("Go");
  const note = { role: "custom", type: "note", data: {}, timestamp: 0 } as const;
  const next = pendingAgent([reply("Done")]);
  next.agent.setMessages([...messages, note], { pendingApprovals, decidedCalls });
  assertEquals(next.agent.state.messages, [...messages, note]);
  const { text } = await next.agent.continue({ approvals: { call_2: true } });
  assertEquals([text, ranCalls(next)], ["Done", ["call_1", "call_2"]]);
});

Deno.test("pending approval: calls stay pending when a postTurn policy aborts the run", async () => {
  const abort: Policy = { name: "abort", postTurn: () => agent.abort("enough") };
  const test = pendingAgent([BATCH], { policies: [abort] });
  const { agent } = test;
  const events = await checkEvents(agent.promptStream("Go"));
  assertEquals(eventsOfType(events, "turn_end").map(({ reason }) => reason), ["approval_pending"]);
  assertEquals([agent.state.pendingApprovals, ranCalls(test)], [PENDING, []]);
});
