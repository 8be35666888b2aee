import { assertEquals, assertRejects, assertStringIncludes, assertThrows } from "@std/assert";
import { Agent } from "../../src/agent/agent.ts";
import { BadRequestError, InvalidContinueError } from "../../src/core/errors/errors.ts";
import type { Policy } from "../../src/core/hooks/policy.ts";
import { repairHistory } from "../../src/core/messages/history.ts";
import { userMessage } from "../../src/core/messages/message.ts";
import { checkEvents } from "../../src/testing/event_grammar.ts";
import { fakeTool } from "../../src/testing/fake_tool.ts";
import { toolCall } from "../../src/testing/messages.ts";
import { reply } from "../../src/testing/script.ts";
import { eventsOfType, outlineAllEvents, outlineMessages } from "./outline.ts";

import { BATCH, PENDING, pendingAgent, ranCalls } from "./pending_agent.ts";

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

Deno.test("continue({ approvals }): runs the calls of the reply that needed no approval", async () => {
  const test = pendingAgent(undefined, { approvalMode: "smart" });
  const { decidedCalls } = await test.agent.prompt("Go");
  assertEquals(decidedCalls?.map(({ toolCallId, decision }) => [toolCallId, decision.type]), [
    ["call_1", "approved"],
    ["call_3", "denied"],
    ["call_4", "denied"],
  ]);
  await test.agent.continue({ approvals: { call_2: true } });
  assertEquals(ranCalls(test), ["call_1", "call_2"]);
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

const INTERRUPTED = [{ toolCallId: "call_2", result: { content: [] } }];

Deno.test("pending calls: new Agent() and setMessages() throw for calls that the last message does not make", () => {
  const { agent } = pendingAgent();
  for (const messages of [[], [userMessage("Hi", 0)]]) {
    for (
      const restore of [
        () => new Agent({ model: "test/model", pendingApprovals: PENDING, messages }),
        () => agent.setMessages(messages, { pendingApprovals: PENDING }),
        () => agent.setMessages(messages, { pendingApprovals: [], interruptedCalls: INTERRUPTED }),
      ]
    ) {
      assertThrows(restore, BadRequestError, 'does not make the pending tool call "call_2"');
    }
  }
});

for (
  const [invalid, words] of [
    ["call_2", 'Pass the pendingApprovals of an earlier result, not "call_2"'],
    [{}, "pendingApprovals must be"],
    [{ pendingApprovals: [null] }, "pendingApprovals must be"],
    [{ pendingApprovals: PENDING, decidedCalls: "call_1" }, "decidedCalls must be"],
    [
      { pendingApprovals: [], interruptedCalls: [{ toolCallId: "call_2" }] },
      "interruptedCalls must be",
    ],
    [
      { pendingApprovals: [], interruptedCalls: [{ toolCallId: "call_2", result: {} }] },
      "interruptedCalls must be",
    ],
    [{ pendingApprovals: PENDING, decidedCalls: PENDING }, "decidedCalls must be"],
    ...[{}, { type: "pending" }, true, "approved"].map((decision) =>
      [{
        pendingApprovals: PENDING,
        decidedCalls: [{ toolCallId: "call_1", name: "look", arguments: {}, decision }],
      }, "decidedCalls must be"] as const
    ),
  ] as const
) {
  Deno.test(`setMessages(messages, ${JSON.stringify(invalid)}) throws and changes nothing`, async () => {
    const { agent } = pendingAgent();
    await agent.prompt("Go");
    const { messages } = agent.state;
    assertThrows(() => agent.setMessages([], invalid as never), BadRequestError, words);
    assertEquals([agent.state.messages, agent.state.pendingApprovals], [messages, PENDING]);
  });
}

Deno.test("setMessages(messages, { pendingApprovals: [] }): nothing is pending", async () => {
  const { agent, streamFn } = pendingAgent([BATCH, reply("Done"), reply("Hello")], {
    approve: () => true,
  });
  const { pendingApprovals = [] } = await agent.prompt("Go");
  agent.setMessages(agent.state.messages, { pendingApprovals });
  await assertRejects(() => agent.continue(), InvalidContinueError, "finished reply");
  const events = await checkEvents(agent.promptStream("Hi"));
  assertEquals(outlineMessages(streamFn.calls[2]?.context.messages.slice(6) ?? []), [
    "assistant: Done",
    "user: Hi",
  ]);
  assertEquals(eventsOfType(events, "warning"), []);
});

Deno.test("continue({ approvals }): rejects missing, unknown and invalid decisions, and the calls stay pending", async () => {
  const test = pendingAgent();
  const { agent, streamFn } = test;
  await agent.prompt("Go");
  for (
    const [approvals, words] of [
      [{}, 'Decide the tool call "call_2"'],
      [{ call_2: undefined }, 'Decide the tool call "call_2"'],
      [{ call_2: true, call_1: true }, 'No approval is pending for the tool call "call_1"'],
      [Object.create({ call_2: true }), 'Decide the tool call "call_2"'],
      [{ call_9: true }, 'No approval is pending for the tool call "call_9"; pending: call_2'],
      [{ call_2: { type: "pending" } }, "Decide the tool call"],
      [{ call_2: "yes" }, "Decide the tool call"],
      [{ call_2: { type: "approved", arguments: { n: 5n } } }, "decision"],
      [{ call_2: { type: "approved", arguments: [1] } }, "Decide the tool call"],
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

for (const stopReason of ["tool_use", "length"] as const) {
  Deno.test(`continue(): rejects while calls of a reply that ended with ${stopReason} are pending, and names what to pass`, async () => {
    const { agent } = pendingAgent([
      reply([toolCall("look"), toolCall("write", { path: "a" })], { stopReason }),
    ]);
    await agent.prompt("Go");
    await assertRejects(
      () => agent.continue(),
      InvalidContinueError,
      "Approvals are pending: pass a decision for each, as approvals: { [toolCallId]: true }",
    );
    assertEquals(agent.state.pendingApprovals, PENDING);
  });
}

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

Deno.test("continue({ approvals }): a message of steer() right after the call cancels the batch", async () => {
  const test = pendingAgent();
  const { agent } = test;
  await agent.prompt("Go");
  const stream = agent.continueStream({ approvals: { call_2: true } });
  agent.steer("Never mind");
  const events = await checkEvents(stream);
  assertEquals(ranCalls(test), []);
  assertEquals(eventsOfType(events, "turn_end")[0]?.reason, "steering_interrupt");
});

Deno.test("continue({ approvals }): messages that preDispatch injects for changed arguments are in the next turn", async () => {
  const seen: unknown[] = [];
  const { agent, streamFn } = pendingAgent([BATCH, reply("Done")], {
    policies: [{
      name: "note",
      preDispatch: ({ toolCallId, arguments: { path } }) => {
        if (toolCallId !== "call_2") return undefined;
        seen.push(path);
        return { type: "inject", messages: [userMessage(`wrote ${path}`, 0)] };
      },
    }],
  });
  await agent.prompt("Go");
  assertEquals(seen.splice(0), ["a"]);
  const approval = { type: "approved", arguments: { path: "c" } } as const;
  await agent.continue({ approvals: { call_2: approval } });
  assertEquals(seen, ["a", "c"]);
  const sent = outlineMessages(streamFn.calls.at(-1)?.context.messages ?? []);
  assertEquals(sent.slice(-2), ["user: wrote a", "user: wrote c"]);
});

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

Deno.test("continue({ approvals }): every decision is emitted when a policy stops the batch before a later call", async () => {
  let stops = false;
  const test = pendingAgent([BATCH], {
    approve: () => ({ type: "pending" }),
    policies: [{
      name: "guard",
      preDispatch: () => stops ? { type: "stop", reason: "over" } : undefined,
    }],
  });
  const { pendingApprovals = [] } = await test.agent.prompt("Go");
  const ids = pendingApprovals.map(({ toolCallId }) => toolCallId);
  assertEquals(ids, ["call_1", "call_2", "call_3"]);
  stops = true;
  const approvals = Object.fromEntries(ids.map((id) => [id, true]));
  const events = await checkEvents(test.agent.continueStream({ approvals }));
  assertEquals(eventsOfType(events, "tool_approval_resolved").map(({ id }) => id), ids);
  assertEquals(ranCalls(test), []);
});
