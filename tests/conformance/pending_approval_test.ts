import { assertEquals, assertRejects, assertStringIncludes, assertThrows } from "@std/assert";
import { Agent } from "../../src/agent/agent.ts";
import type { AgentOptions } from "../../src/agent/options.ts";
import type { ApprovalAnswer, Approve } from "../../src/core/approve.ts";
import { BadRequestError, InvalidContinueError } from "../../src/core/errors.ts";
import { repairHistory } from "../../src/core/history.ts";
import { userMessage } from "../../src/core/message.ts";
import type { Policy } from "../../src/core/policy.ts";
import { checkEvents } from "../../src/testing/event_grammar.ts";
import { type FakeTool, fakeTool } from "../../src/testing/fake_tool.ts";
import { toolCall } from "../../src/testing/messages.ts";
import { reply, type ScriptedStep } from "../../src/testing/script.ts";
import { eventsOfType, outlineAllEvents, outlineMessages } from "./outline.ts";
import { settle } from "./ports.ts";
import { atFirst, type TestAgent, testAgent } from "./test_agent.ts";

/** Answers by the id of the call; `undefined` approves. */
function answering(answers: Readonly<Record<string, ApprovalAnswer>>): Approve {
  return ({ toolCallId }) => answers[toolCallId] ?? true;
}

const pending = { type: "pending" } as const;

const BATCH = reply([
  toolCall("look"),
  toolCall("write", { path: "a" }),
  toolCall("write", { path: "b" }),
  toolCall("lok"),
]);

interface PendingTest extends TestAgent {
  readonly look: FakeTool;
  readonly write: FakeTool;
}

/** Creates an agent whose first batch has a pending, an approved, a denied and an unknown call. */
function pendingAgent(
  steps: readonly ScriptedStep[] = [BATCH, reply("Done")],
  options: Partial<AgentOptions> = {},
): PendingTest {
  const look = fakeTool({ name: "look", readOnly: true });
  const write = fakeTool({
    name: "write",
    parameters: { type: "object", properties: { path: { type: "string" } }, required: ["path"] },
  });
  const test = testAgent(steps, {
    tools: [look, write],
    approve: answering({ call_2: pending, call_3: { type: "denied", reason: "not b" } }),
    ...options,
  });
  return { ...test, look, write };
}

function ranCalls({ look, write }: PendingTest): string[] {
  return [...look.calls, ...write.calls].map(({ toolCallId }) => toolCallId);
}

const PENDING = [{ toolCallId: "call_2", name: "write", arguments: { path: "a" } }];

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

Deno.test("continue({ approvals }): opens a turn without a model call, runs the batch and goes on", async () => {
  const test = pendingAgent();
  const { agent, streamFn } = test;
  const first = await agent.prompt("Go");
  assertEquals([first.turns, first.text, streamFn.calls.length], [1, "", 1]);
  const events = await checkEvents(
    agent.continueStream({ approvals: { call_2: { type: "approved", origin: "person" } } }),
  );
  assertEquals(outlineAllEvents(events), [
    "agent_start",
    "turn_start 1",
    "tool_approval_resolved call_2 approved",
    "tool_execution_start call_3",
    "tool_execution_end call_3",
    "tool_execution_start call_4",
    "tool_execution_end call_4",
    "tool_execution_start call_1",
    "tool_execution_start call_2",
    "tool_execution_end call_1",
    "tool_execution_end call_2",
    ...Array(4).fill(["message_start tool_result", "message_end tool_result"]).flat(),
    "turn_end tools_executed",
    "turn_start 2",
    "message_start assistant",
    "model_call_start 1",
    "message_update text_delta",
    "model_call_end 1",
    "message_end assistant",
    "turn_end complete",
    "agent_end",
  ]);
  assertEquals(eventsOfType(events, "tool_approval_resolved")[0]?.decision, {
    type: "approved",
    origin: "person",
  });
  assertEquals(ranCalls(test), ["call_1", "call_2"]);
  assertEquals(outlineMessages(agent.state.messages).slice(2), [
    "tool_result: ok",
    "tool_result: ok",
    "tool_result: Tool call rejected by approval: not b",
    'tool_result: Tool "lok" not found. Available tools: look, write.',
    "assistant: Done",
  ]);
  const [turn] = eventsOfType(events, "turn_end");
  assertEquals([turn?.message, turn?.toolResults.length], [agent.state.messages[1] as never, 4]);
  assertEquals(agent.state.pendingApprovals, []);
  const end = events.at(-1);
  assertEquals(end?.type === "agent_end" && "pendingApprovals" in end, false);
  assertEquals(repairHistory(agent.state.messages).repairs, []);
  streamFn.assertDone();
});

for (
  const [answer, result] of [
    [true, "tool_result: ok"],
    [false, "tool_result: Tool call rejected by approval"],
    [
      { type: "denied", reason: "too risky" },
      "tool_result: Tool call rejected by approval: too risky",
    ],
    [
      { type: "approved", arguments: { path: "c" } },
      'tool_result: The arguments were changed before the call ran: {"path":"c"}ok',
    ],
    [
      { type: "approved", arguments: { path: 5 } },
      'tool_result: Invalid arguments for "write":\n- /path: must be string',
    ],
  ] as const
) {
  Deno.test(`continue({ approvals }): the answer ${JSON.stringify(answer)} gives the result of the call`, async () => {
    const { agent } = pendingAgent();
    await agent.prompt("Go");
    await agent.continue({ approvals: { call_2: answer } });
    assertEquals(outlineMessages(agent.state.messages)[3], result);
  });
}

Deno.test("continue({ approvals }): works in a new agent, from the JSON of the result", async () => {
  const first = pendingAgent();
  const result = await first.agent.prompt("Go");
  const { pendingApprovals, decidedCalls } = JSON.parse(JSON.stringify(result));
  const messages = JSON.parse(JSON.stringify(first.agent.state.messages));
  const asked: string[] = [];
  const second = pendingAgent([reply("Done")], {
    messages,
    pendingApprovals,
    decidedCalls,
    approve: ({ toolCallId }) => (asked.push(toolCallId), true),
  });
  assertEquals(second.agent.state.pendingApprovals, PENDING);
  assertEquals(second.agent.state.messages, messages);
  const events = await checkEvents(second.agent.continueStream({ approvals: { call_2: true } }));
  assertEquals(eventsOfType(events, "warning"), []);
  assertEquals([asked, ranCalls(second)], [[], ["call_1", "call_2"]]);
  assertEquals(outlineMessages(second.agent.state.messages).slice(2), [
    "tool_result: ok",
    "tool_result: ok",
    "tool_result: Tool call rejected by approval: not b",
    'tool_result: Tool "lok" not found. Available tools: look, write.',
    "assistant: Done",
  ]);
});

Deno.test("continue({ approvals }): without decidedCalls, the other calls of the reply are refused", async () => {
  const first = pendingAgent();
  const { pendingApprovals } = await first.agent.prompt("Go");
  const second = pendingAgent([reply("Done")], {
    messages: first.agent.state.messages,
    pendingApprovals,
  });
  await second.agent.continue({ approvals: { call_2: true } });
  assertEquals(ranCalls(second), ["call_2"]);
  const lines = outlineMessages(second.agent.state.messages);
  assertStringIncludes(lines[2] ?? "", "Tool call not run: its state was lost");
  assertEquals(lines[3], "tool_result: ok");
});

Deno.test("new Agent({ pendingApprovals }): throws for calls that the last message does not make", () => {
  const options = { model: "test/model", pendingApprovals: PENDING };
  for (const messages of [[], [userMessage("Hi", 0)]]) {
    assertThrows(
      () => new Agent({ ...options, messages }),
      BadRequestError,
      'does not make the pending tool call "call_2"',
    );
  }
});

Deno.test("continue({ approvals }): rejects missing, unknown and invalid decisions, and the calls stay pending", async () => {
  const test = pendingAgent();
  const { agent, streamFn } = test;
  await agent.prompt("Go");
  for (
    const [approvals, words] of [
      [{}, 'There is no decision for the tool call "call_2"'],
      [{ call_2: undefined }, 'There is no decision for the tool call "call_2"'],
      [{ call_2: true, call_1: true }, 'No approval is pending for the tool call "call_1"'],
      [{ call_9: true }, 'No approval is pending for the tool call "call_9"; pending: call_2'],
      [{ call_2: { type: "pending" } }, "decision"],
      [{ call_2: "yes" }, "decision"],
      [{ call_2: { type: "approved", arguments: { n: 5n } } }, "decision"],
      [{ call_2: { type: "approved", arguments: [1] } }, "decision"],
    ] as const
  ) {
    await assertRejects(
      () => agent.continue({ approvals: approvals as never }),
      BadRequestError,
      words,
    );
    assertEquals([agent.state.pendingApprovals, agent.state.isRunning], [PENDING, false]);
  }
  assertEquals(streamFn.calls.length, 1);
  await agent.continue({ approvals: { call_2: true } });
  assertEquals(ranCalls(test), ["call_1", "call_2"]);
});

Deno.test("continue({ approvals }): rejects when nothing is pending", async () => {
  const { agent } = pendingAgent([reply("Hello")]);
  await agent.prompt("Hi");
  await assertRejects(
    () => agent.continue({ approvals: { call_1: true } }),
    BadRequestError,
    "No approvals are pending",
  );
});

Deno.test("continue(): rejects while approvals are pending, and names what to pass", async () => {
  const { agent } = pendingAgent();
  await agent.prompt("Go");
  await assertRejects(
    () => agent.continue(),
    InvalidContinueError,
    "Approvals are pending: pass a decision for each of them, as approvals: { [toolCallId]: true }",
  );
  assertEquals(agent.state.pendingApprovals, PENDING);
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

for (const queue of ["steer", "followUp"] as const) {
  Deno.test(`continue() with a message of ${queue}(): answers pending calls as not approved, before the message`, async () => {
    const test = pendingAgent();
    const { agent } = test;
    await agent.prompt("Go");
    agent[queue]("Never mind");
    await checkEvents(agent.continueStream());
    assertEquals(outlineMessages(agent.state.messages).slice(5), [
      "tool_result: Tool call not run: not approved: the conversation went on",
      "user: Never mind",
      "assistant: Done",
    ]);
    assertEquals([ranCalls(test), agent.state.pendingApprovals], [[], []]);
  });

  Deno.test(`continue({ approvals }): a message of ${queue}() that is queued comes after the results`, async () => {
    const test = pendingAgent([BATCH, reply("Done"), reply("More")]);
    const { agent } = test;
    await agent.prompt("Go");
    agent[queue]("By the way");
    await checkEvents(agent.continueStream({ approvals: { call_2: true } }));
    assertEquals(ranCalls(test), ["call_1", "call_2"]);
    assertEquals(repairHistory(agent.state.messages).repairs, []);
    const lines = outlineMessages(agent.state.messages).slice(6);
    assertEquals(
      lines,
      queue === "steer"
        ? ["user: By the way", "assistant: Done"]
        : ["assistant: Done", "user: By the way", "assistant: More"],
    );
  });
}

Deno.test("continue({ approvals }): messages that preTurn injects come after the results", async () => {
  const policy: Policy = {
    name: "hint",
    preTurn: ({ messages, turn }) =>
      turn === 0 && messages.length > 0
        ? { type: "inject", messages: [userMessage("hint", 0)] }
        : undefined,
  };
  const { agent } = pendingAgent([BATCH, reply("Done")], { policies: [policy] });
  await agent.prompt("Go");
  await checkEvents(agent.continueStream({ approvals: { call_2: true } }));
  assertEquals(repairHistory(agent.state.messages).repairs, []);
  assertEquals(outlineMessages(agent.state.messages).slice(6), ["user: hint", "assistant: Done"]);
});

Deno.test("continue({ approvals }): a preTurn stop keeps the calls pending", async () => {
  let closed = false;
  const policy: Policy = {
    name: "hours",
    preTurn: () => closed ? { type: "stop", reason: "closed" } : undefined,
  };
  const test = pendingAgent(undefined, { policies: [policy] });
  const { agent } = test;
  await agent.prompt("Go");
  closed = true;
  const stopped = await agent.continue({ approvals: { call_2: true } });
  assertEquals([stopped.stoppedBy, stopped.pendingApprovals, stopped.messages], [
    { policy: "hours", reason: "closed" },
    PENDING,
    [],
  ]);
  assertEquals([agent.state.pendingApprovals, ranCalls(test)], [PENDING, []]);
  closed = false;
  await agent.continue({ approvals: { call_2: true } });
  assertEquals(ranCalls(test), ["call_1", "call_2"]);
});

Deno.test("continue({ approvals }): preDispatch runs again, but may only skip or stop", async () => {
  const seen: unknown[] = [];
  let verdict: ReturnType<NonNullable<Policy["preDispatch"]>>;
  const policy: Policy = {
    name: "watch",
    preDispatch: ({ toolCallId, arguments: args }) => {
      seen.push([toolCallId, structuredClone(args)]);
      args["path"] = `${args["path"]}!`;
      return toolCallId === "call_2" ? verdict : undefined;
    },
  };
  const create = () => pendingAgent(undefined, { policies: [policy] });
  const changed = create();
  await changed.agent.prompt("Go");
  assertEquals(changed.agent.state.pendingApprovals[0]?.arguments, { path: "a!" });
  seen.length = 0;
  await changed.agent.continue({ approvals: { call_2: true } });
  assertEquals(seen.filter((call) => Array.isArray(call) && call[0] === "call_2"), [["call_2", {
    path: "a!",
  }]]);
  assertEquals(changed.write.calls.map(({ arguments: args }) => args), [{ path: "a!" }]);
  assertStringIncludes(
    outlineMessages(changed.agent.state.messages)[3] ?? "",
    'were changed before the call ran: {"path":"a!"}',
  );
  const skipped = create();
  await skipped.agent.prompt("Go");
  verdict = { type: "skip", reason: "frozen by now" };
  await skipped.agent.continue({ approvals: { call_2: true } });
  assertEquals(
    outlineMessages(skipped.agent.state.messages)[3],
    "tool_result: Tool call refused: frozen by now",
  );
  verdict = undefined;
  const stopped = create();
  await stopped.agent.prompt("Go");
  verdict = { type: "stop", reason: "over" };
  const { stoppedBy } = await stopped.agent.continue({ approvals: { call_2: true } });
  assertEquals([stoppedBy?.reason, ranCalls(stopped)], ["over", []]);
  assertEquals(repairHistory(stopped.agent.state.messages).repairs, []);
});

Deno.test("continue({ approvals }): the tools and schemas of today apply", async () => {
  const test = pendingAgent();
  const { agent } = test;
  await agent.prompt("Go");
  const strict = fakeTool({
    name: "write",
    parameters: { type: "object", properties: { path: { const: "z" } } },
  });
  agent.setTools([strict]);
  await checkEvents(agent.continueStream({ approvals: { call_2: true } }));
  const lines = outlineMessages(agent.state.messages);
  assertEquals(lines[2], 'tool_result: Tool "look" not found. Available tools: write.');
  assertStringIncludes(lines[3] ?? "", 'Invalid arguments for "write"');
  assertEquals([ranCalls(test), strict.calls], [[], []]);
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
  assertEquals([ranCalls(test), agent.state.pendingApprovals], [[], []]);
  assertEquals(outlineMessages(agent.state.messages).slice(2), [
    ...Array(3).fill("tool_result: tool call cancelled: run aborted"),
    'tool_result: Tool "lok" not found. Available tools: look, write.',
  ]);
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
      ["call_1", { type: "denied", reason: "the run was aborted or steered" }],
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
