import { assert, assertEquals, assertThrows } from "@std/assert";
import type { Policy, PolicyContext } from "../../src/core/hooks/policy.ts";
import { type AgentMessage, userMessage } from "../../src/core/messages/message.ts";
import { checkEvents } from "../../src/testing/event_grammar.ts";
import { fakeTool } from "../../src/testing/fake_tool.ts";
import { assistantMessage, toolCall } from "../../src/testing/messages.ts";
import { fail, hang, reply } from "../../src/testing/script.ts";
import { eventsOfType, outlineEvents, outlineMessages } from "./outline.ts";
import { settle } from "./ports.ts";
import { atFirst, testAgent } from "./test_agent.ts";

const look = () => fakeTool({ name: "look" });
const note = (words: string) => userMessage(words, 0);

Deno.test("preTurn stop: ends the run before turn_start, and the result names the policy", async () => {
  const { agent, streamFn } = testAgent([reply([toolCall("look")])], {
    tools: [look()],
    policies: [{
      name: "enough",
      preTurn: ({ turn }) => turn === 1 ? { type: "stop", reason: "one will do" } : undefined,
    }],
  });
  const events = await checkEvents(agent.promptStream("Look"));
  assertEquals(outlineEvents(events).slice(-2), ["turn_end tools_executed", "agent_end"]);
  const end = events.at(-1);
  assertEquals(end?.type === "agent_end" && [end.stoppedBy, end.stopReason, end.error], [
    { policy: "enough", reason: "one will do" },
    "tool_use",
    undefined,
  ]);
  streamFn.assertDone();
});

Deno.test("preTurn: newMessages has the prompt first, then the messages since the last turn [A26]", async () => {
  const seen: string[][] = [];
  const { agent } = testAgent([reply([toolCall("look")]), reply("Seen"), reply("More")], {
    tools: [look()],
    transformContext: (messages) => [note("added"), ...messages.slice(-2)],
    policies: [{
      name: "watch",
      preTurn: ({ newMessages }) => void seen.push(outlineMessages(newMessages)),
      postTurn: ({ turn }) => turn === 1 ? { type: "inject", messages: [note("hint")] } : undefined,
    }],
    messages: [note("Before")],
  });
  agent.followUp("follow");
  await checkEvents(agent.promptStream([note("a"), note("b")]));
  assertEquals(seen, [["user: a", "user: b"], ["user: hint"], ["user: follow"]]);
});

Deno.test("preTurn inject: the messages are in that turn's request [A27]", async () => {
  const { agent, streamFn } = testAgent([reply("Hello")], {
    policies: [{ name: "hint", preTurn: () => ({ type: "inject", messages: [note("hint")] }) }],
  });
  await checkEvents(agent.promptStream("Hi"));
  assertEquals(outlineMessages(streamFn.calls[0]?.context.messages ?? []), [
    "user: Hi",
    "user: hint",
  ]);
});

Deno.test("postTurn inject: leads to one more turn after a turn without tools [A30]", async () => {
  const { agent } = testAgent([reply("One"), reply("Two")], {
    policies: [{
      name: "again",
      postTurn: ({ turn }) =>
        turn === 1 ? { type: "inject", messages: [note("Sure?")] } : undefined,
    }],
  });
  await checkEvents(agent.promptStream("Hi"));
  assertEquals(outlineMessages(agent.state.messages), [
    "user: Hi",
    "assistant: One",
    "user: Sure?",
    "assistant: Two",
  ]);
});

Deno.test("postTurn inject: a message that the policy changes later stays as it was injected", async () => {
  const content = [{ type: "text", text: "Check it" }];
  const note = { role: "user", content, timestamp: 0 } as AgentMessage;
  const { agent } = testAgent([reply("Done"), reply("Checked")], {
    policies: [{
      name: "check",
      preTurn: () => void content.splice(0, 1, { type: "text", text: "Changed" }),
      postTurn: ({ turn }) => {
        if (turn > 1) return undefined;
        content.splice(0, 1, { type: "text", text: "Check it" });
        return { type: "inject", messages: [note] };
      },
    }],
  });
  await agent.prompt("Go");
  assertEquals(outlineMessages(agent.state.messages), [
    "user: Go",
    "assistant: Done",
    "user: Check it",
    "assistant: Checked",
  ]);
});

Deno.test("inject: messages that would make the history invalid are repaired and reported", async () => {
  const { agent, seen, streamFn } = testAgent([reply("One")], {
    policies: [{
      name: "odd",
      preTurn: () => ({
        type: "inject",
        messages: [assistantMessage([toolCall("look", {}, { id: "x" })])],
      }),
    }],
  });
  await checkEvents(agent.promptStream("Hi"));
  assertEquals(streamFn.calls[0]?.context.messages.map(({ role }) => role), [
    "user",
    "assistant",
    "tool_result",
  ]);
  assertEquals(eventsOfType(seen, "warning").map(({ code }) => code), ["history_repaired"]);
});

Deno.test("PolicyContext.messages: cannot be changed, and stays as it was when the policy was called", async () => {
  const contexts: PolicyContext[] = [];
  const keep = (context: PolicyContext) => void contexts.push(context);
  const watch: Policy = {
    name: "watch",
    preTurn: keep,
    preRequest: keep,
    preDispatch: keep,
    postDispatch: keep,
    postTurn: keep,
    postLoop: keep,
  };
  const { agent } = testAgent([reply([toolCall("look")]), reply("Seen")], {
    tools: [look()],
    policies: [watch],
  });
  await checkEvents(agent.promptStream("Look"));
  assertEquals(contexts.map(({ messages }) => messages.length), [0, 1, 2, 2, 3, 3, 3, 4, 4]);
  for (const { messages } of contexts) {
    assertThrows(() => (messages as AgentMessage[]).push(note("more")), TypeError);
  }
  assertEquals(agent.state.messages.length, 4);
});

Deno.test("postTurn: runs on error and abort too, with the messages in the history [A31]", async () => {
  const seen: string[] = [];
  const watch: Policy = {
    name: "watch",
    postTurn: ({ message, messages }) => void seen.push(`${message.stopReason} ${messages.length}`),
  };
  const failing = testAgent([fail("stream_error", "Broken", { after: "Half" })], {
    policies: [watch],
  });
  await checkEvents(failing.agent.promptStream("Hi"));
  const aborting = testAgent([hang({ after: "Half" })], { policies: [watch] });
  atFirst(aborting.agent, "message_update", () => aborting.agent.abort());
  await checkEvents(aborting.agent.promptStream("Hi"));
  const working = testAgent([reply([toolCall("look")]), reply("Seen")], {
    policies: [watch],
    tools: [look()],
  });
  await checkEvents(working.agent.promptStream("Hi"));
  assertEquals(seen, ["error 2", "aborted 2", "tool_use 3", "stop 4"]);
});

Deno.test("postTurn stop: keeps the error of the turn", async () => {
  const { agent } = testAgent([fail("stream_error", "Broken")], {
    policies: [{ name: "stop", postTurn: () => ({ type: "stop", reason: "audited" }) }],
  });
  const result = await agent.prompt("Hi");
  assertEquals([result.stopReason, result.error?.message, result.stoppedBy?.policy], [
    "error",
    "Broken",
    "stop",
  ]);
});

for (
  const [kind, steps] of [
    ["without calls", [reply("One")]],
    ["with calls", [reply([toolCall("look")])]],
  ] as const
) {
  Deno.test(`postTurn stop: after a turn ${kind} emits turn_end and keeps follow-ups queued [A32]`, async () => {
    const { agent, streamFn } = testAgent(steps, {
      tools: [look()],
      policies: [{ name: "stop", postTurn: () => ({ type: "stop", reason: "enough" }) }],
    });
    agent.followUp("More");
    const events = await checkEvents(agent.promptStream("Hi"));
    assertEquals(events.at(-2)?.type, "turn_end");
    assertEquals(agent.queued.followUp.length, 1);
    streamFn.assertDone();
  });
}

Deno.test("policies: the first stop wins, earlier injects are dropped, later policies are not called [A101]", async () => {
  const asked: string[] = [];
  const policy = (name: string, verdict: ReturnType<NonNullable<Policy["postTurn"]>>): Policy => ({
    name,
    postTurn: () => {
      asked.push(name);
      return verdict;
    },
  });
  const { agent } = testAgent([reply("One")], {
    policies: [
      policy("a", { type: "inject", messages: [note("x")] }),
      policy("b", { type: "continue" }),
      policy("c", { type: "stop", reason: "c" }),
      policy("d", { type: "stop", reason: "d" }),
    ],
  });
  const { stoppedBy, messages } = await agent.prompt("Hi");
  assertEquals([stoppedBy, asked, messages.length], [
    { policy: "c", reason: "c" },
    ["a", "b", "c"],
    2,
  ]);
});

Deno.test("policies: the injected messages of all policies are added in order [A101]", async () => {
  const { agent, streamFn } = testAgent([reply("One")], {
    policies: ["a", "b"].map((name) => ({
      name,
      preTurn: async () => {
        await Promise.resolve();
        return { type: "inject", messages: [note(`${name}1`), note(`${name}2`)] } as const;
      },
    })),
  });
  await checkEvents(agent.promptStream("Hi"));
  assertEquals(outlineMessages(streamFn.calls[0]?.context.messages ?? []).slice(1), [
    "user: a1",
    "user: a2",
    "user: b1",
    "user: b2",
  ]);
});

Deno.test("policies: an observing hook that throws counts as continue, a guard that throws refuses the call, and both are reported as warnings [A101]", async () => {
  const broken = (): never => {
    throw new Error("policy failed");
  };
  const tool = look();
  const { agent } = testAgent([reply([toolCall("look")]), reply("Seen")], {
    tools: [tool],
    policies: [{
      name: "broken",
      preTurn: broken,
      preDispatch: () => Promise.reject(new Error("policy failed")),
      postTurn: broken,
      postLoop: broken,
    }],
  });
  const events = await checkEvents(agent.promptStream("Look"));
  assertEquals(
    outlineEvents(events).filter((line) => !line.startsWith("message") && !line.startsWith("tool")),
    [
      "agent_start",
      "warning policy_failed",
      "turn_start 1",
      "warning policy_failed",
      "warning policy_failed",
      "turn_end tools_executed",
      "warning policy_failed",
      "turn_start 2",
      "warning policy_failed",
      "turn_end complete",
      "warning policy_failed",
      "agent_end",
    ],
  );
  const [warning] = eventsOfType(events, "warning");
  assertEquals([warning?.message, warning?.data], [
    'The policy "broken" (preTurn) failed: policy failed',
    { policy: "broken" },
  ]);
  assertEquals(tool.calls, []);
  assertEquals(outlineMessages(agent.state.messages).slice(2, 3), [
    'tool_result: Tool call refused: the policy "broken" failed: policy failed',
  ]);
});

Deno.test("policies: one that cannot be read when tools run answers their calls and ends the run with an error", async () => {
  let isRunning = false;
  const policy: Policy = {
    name: "broken",
    preTurn: () => void (isRunning = true),
    get preDispatch() {
      if (isRunning) throw new Error("no hook");
      return () => undefined;
    },
  };
  const work = fakeTool({ name: "work" });
  const { agent } = testAgent([reply([toolCall("work"), toolCall("work")])], {
    tools: [work],
    policies: [policy],
  });
  const { stopReason, error } = await agent.prompt("Go");
  assertEquals([stopReason, error?.message], ["error", "The tool calls failed: no hook"]);
  assertEquals(outlineMessages(agent.state.messages).slice(2), [
    "tool_result: Tool call failed: no hook",
    "tool_result: Tool call failed: no hook",
  ]);
  assertEquals(work.calls, []);
});

Deno.test("policies: a hook that hangs is abandoned 100 ms after the abort", async () => {
  const { agent, clock } = testAgent([], {
    policies: [{ name: "slow", preTurn: () => new Promise(() => {}) }],
  });
  const running = agent.prompt("Hi");
  await settle();
  agent.abort();
  await settle();
  clock.advance(100);
  assertEquals((await running).stopReason, "aborted");
  assertEquals(clock.waits, [100]);
});

Deno.test("postLoop: is called once with the outcome, and its verdict is ignored [A115]", async () => {
  const seen: unknown[] = [];
  const usage = { input: 1, output: 1, cacheRead: 0, cacheWrite: 0, total: 2 };
  const { agent } = testAgent([reply([toolCall("look")], { usage }), reply("Seen", { usage })], {
    tools: [look()],
    policies: [{
      name: "watch",
      postLoop: ({ turn, usage: { total }, stopReason, error, messages }) =>
        void seen.push([turn, total, stopReason, error, messages.length]),
    }],
  });
  await checkEvents(agent.promptStream("Look"));
  assertEquals(seen, [[2, 4, "stop", undefined, 4]]);
});

Deno.test("postLoop: gets the error of a failed run", async () => {
  const seen: unknown[] = [];
  const { agent } = testAgent([fail("auth_error", "No key")], {
    policies: [{
      name: "watch",
      postLoop: ({ stopReason, error }) => void seen.push([stopReason, error?.code]),
    }],
  });
  await agent.prompt("Hi");
  assertEquals(seen, [["error", "auth_error"]]);
});

Deno.test("maxTurns: the run stops at the limit, and the result names it [A102]", async () => {
  const tool = look();
  const { agent } = testAgent(Array(5).fill(reply([toolCall("look")])), {
    tools: [tool],
    maxTurns: 2,
  });
  agent.followUp("More");
  const { stoppedBy, turns, error } = await agent.prompt("Look");
  assertEquals([turns, tool.calls.length, error], [2, 2, undefined]);
  assertEquals(stoppedBy, { policy: "max_turns", reason: "The run reached its limit of 2 turns" });
  assertEquals(agent.queued.followUp.length, 1);
});

Deno.test("maxTurns: 100 by default, Infinity for no limit", async () => {
  const endless = Array(120).fill(reply([toolCall("look")]));
  const { agent } = testAgent(endless, { tools: [look()] });
  assertEquals((await agent.prompt("Look")).turns, 100);
  const free = testAgent([...endless, reply("Done")], { tools: [look()], maxTurns: Infinity });
  assertEquals((await free.agent.prompt("Look")).turns, 121);
});

for (const slot of ["preTurn", "preRequest", "preDispatch", "postDispatch", "postTurn"] as const) {
  Deno.test(`policies: the signal of ${slot} is aborted with the run`, async () => {
    const entered = Promise.withResolvers<void>();
    const reasons: unknown[] = [];
    const wait = async ({ signal }: { readonly signal: AbortSignal }): Promise<undefined> => {
      entered.resolve();
      await new Promise((resolve) => signal.addEventListener("abort", resolve));
      reasons.push(signal.reason);
    };
    const { agent } = testAgent([reply([toolCall("look")])], {
      tools: [look()],
      policies: [{ name: "wait", [slot]: wait }],
    });
    const running = agent.prompt("Look");
    await entered.promise;
    agent.abort("enough");
    assertEquals([(await running).stopReason, reasons], ["aborted", ["enough"]]);
  });
}

Deno.test("policies: the context has turn, model, history, usage, cost and elapsed time", async () => {
  const seen: unknown[] = [];
  const usage = { input: 1, output: 1, cacheRead: 0, cacheWrite: 0, total: 2 };
  const { agent, clock } = testAgent([
    reply([toolCall("look")], { usage, cost: usage }),
    reply("Seen", { usage, cost: usage }),
  ], {
    tools: [look()],
    policies: [{
      name: "watch",
      preTurn: ({ runId, turn, model, messages, usage: { total }, cost, elapsedMs }) => {
        clock.advance(5);
        seen.push([runId, turn, model.modelId, messages.length, total, cost.total, elapsedMs]);
      },
    }],
  });
  await checkEvents(agent.promptStream("Look"));
  assertEquals(seen, [["run_1", 0, "model", 0, 0, 0, 0], ["run_1", 1, "model", 3, 2, 2, 5]]);
});

Deno.test("preTurn: newMessages has the queued messages that the turn will take", async () => {
  const seen: string[][] = [];
  const { agent } = testAgent([reply("Hello")], {
    policies: [{
      name: "watch",
      preTurn: ({ newMessages }) => void seen.push(outlineMessages(newMessages)),
    }],
  });
  agent.steer("by the way");
  await checkEvents(agent.promptStream("Hi"));
  assertEquals(seen, [["user: Hi", "user: by the way"]]);
});

Deno.test("preTurn: newMessages has no queued messages before the turn that runs approved calls", async () => {
  const seen: string[][] = [];
  const { agent } = testAgent([reply([toolCall("look")]), reply("Hello")], {
    tools: [fakeTool({ name: "look" })],
    approve: () => ({ type: "pending" }),
    interrupt: "after_batch",
    policies: [{
      name: "watch",
      preTurn: ({ newMessages }) => void seen.push(outlineMessages(newMessages)),
    }],
  });
  await agent.prompt("Hi");
  agent.steer("by the way");
  await agent.continue({ approvals: { call_1: true } });
  assertEquals(seen, [["user: Hi"], [], ["user: by the way"]]);
});

/** Tries to change every part of a value in place; returns the names of those that changed. */
function changeParts(value: unknown): string[] {
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([name, part]) => [
    ...changeParts(part),
    ...(Reflect.set(value, name, "changed") ? [name] : []),
  ]);
}

Deno.test("policies: no hook can change a message of the history or of the request, or its options", async () => {
  const changed: string[] = [];
  const change = (...parts: unknown[]): void => {
    changed.push(...parts.flatMap(changeParts));
  };
  const greedy: Policy = {
    name: "greedy",
    preTurn: ({ messages, newMessages }) => change(messages, newMessages),
    preRequest: ({ messages, request: { context, options } }) =>
      change(messages, context.messages, options),
    preDispatch: ({ messages }) => change(messages),
    postDispatch: ({ messages }) => change(messages),
    postTurn: ({ messages, message, toolResults }) => change(messages, message, toolResults),
    postLoop: ({ messages }) => change(messages),
  };
  const streamOptions = { temperature: 0.5, extra: { nested: { x: 1 } } };
  const { agent, streamFn } = testAgent(
    [reply([toolCall("look", { at: [{ x: 1 }] })]), reply("Done")],
    { policies: [greedy], tools: [fakeTool({ name: "look" })], streamOptions },
  );
  const { text } = await agent.prompt("Look");
  assertEquals(changed, []);
  assertEquals(text, "Done");
  assertEquals(streamFn.calls[1]?.options, { temperature: 0.5, extra: { nested: { x: 1 } } });
  assert(!JSON.stringify(agent.state.messages).includes("changed"));
});

Deno.test("policies: no hook can change the usage and the cost of the run", async () => {
  const usage = { input: 4, output: 1, cacheRead: 0, cacheWrite: 0, total: 5 };
  const forget = ({ usage, cost }: Pick<PolicyContext, "usage" | "cost">): void => {
    Object.assign(usage, { input: 0, total: 0 });
    Object.assign(cost, { total: 0 });
  };
  const { agent } = testAgent([reply([toolCall("look")], { usage }), reply("Seen", { usage })], {
    tools: [look()],
    prices: { "test/model": { input: 1e6, output: 1e6 } },
    policies: [{ name: "forget", preTurn: forget, postTurn: forget, onDelta: forget }],
  });
  const result = await agent.prompt("Look");
  assertEquals([result.usage.total, result.cost.total], [10, 10]);
});
