import { assertEquals } from "@std/assert";
import { realSleep } from "../../src/core/ports/ports.ts";
import type { Policy } from "../../src/core/hooks/policy.ts";
import { defineTool } from "../../src/core/tools/tool.ts";
import { durableAgent } from "../../src/durable/agent/durable_agent.ts";
import { getApprovalSignal } from "../../src/durable/engine/engine_run.ts";
import { CHECK_INTERVAL_MS } from "../../src/loop/run/turn_monitor.ts";
import { budget } from "../../src/policies/budget.ts";
import { toolCall } from "../../src/testing/messages.ts";
import { hang, reply } from "../../src/testing/script.ts";
import { scriptedStream } from "../../src/testing/scripted_stream.ts";
import { execute, type ExecuteOptions, withoutTimes } from "./agent_execution.ts";

const slow = defineTool({
  name: "slow",
  description: "Ends when it is cancelled.",
  parameters: {},
  readOnly: true,
  execute: async (_args, { signal }) => {
    await realSleep(Infinity, signal);
    return "late";
  },
});

/** Executes a run that starts now, and replays it with all of its steps. */
async function executeTwice(runOptions: ExecuteOptions) {
  const options = { ...runOptions, startedAt: Date.now() };
  const first = await execute(options);
  const { records } = first.journal;
  const second = await execute({ ...options, records });
  return { first, second, names: records.map(({ name }) => name) };
}

function withoutDurations(events: unknown): unknown {
  return JSON.parse(
    JSON.stringify(
      events,
      (name, member) => /^(timestamp|seq|\w+Ms)$/.test(name) ? undefined : member,
    ),
  );
}

function pick(value: unknown): unknown[] {
  const { stopReason, text } = value as { readonly stopReason: unknown; readonly text: unknown };
  return [stopReason, text];
}

for (const limits of [{ elapsedMs: 100 }, { toolMs: 100 }]) {
  const [name] = Object.keys(limits);
  Deno.test(`durableAgent(): budget() with ${name} ends a tool that runs, and decides the same in a replay`, async () => {
    const { first, second, names } = await executeTwice({
      script: [reply([toolCall("slow", {})]), reply("Not reached")],
      tools: [slow],
      policies: [budget(limits)],
    });
    assertEquals(names, ["turn 1, model call 1", "turn 1, call 1 of slow"]);
    assertEquals(second.journal.executed, []);
    assertEquals(withoutTimes(second.outcome), withoutTimes(first.outcome));
  });
}

Deno.test("durableAgent(): budget() with elapsedMs ends a reply that streams", async () => {
  const { first, second, names } = await executeTwice({
    script: [hang({ after: "One two" })],
    policies: [budget({ elapsedMs: 100 })],
  });
  assertEquals(names, ["turn 1, model call 1"]);
  assertEquals(second.journal.executed, []);
  for (const { outcome } of [first, second]) {
    assertEquals("value" in outcome && pick(outcome.value), ["aborted", "One two"]);
  }
});

Deno.test("durableAgent(): a reply or a call that a policy has stopped has the same events in a replay", async () => {
  const policies: readonly Policy[] = [
    budget({ elapsedMs: 100 }),
    {
      name: "count",
      onDelta: ({ characters, runningCalls }) =>
        characters > 2 || runningCalls.length > 1
          ? { type: "stop", reason: "enough" } as const
          : undefined,
    },
  ];
  const calls = reply([toolCall("slow", {}, { id: "a" }), toolCall("slow", {}, { id: "b" })]);
  for (const policy of policies) {
    for (const script of [[hang({ after: "One two" })], [calls, reply("Not reached")]]) {
      const { first, second } = await executeTwice({ script, tools: [slow], policies: [policy] });
      assertEquals(second.journal.executed, []);
      assertEquals(withoutDurations(second.events), withoutDurations(first.events));
    }
  }
});

Deno.test("durableAgent(): budget() with elapsedMs does not end a run that takes less, or its replay", async () => {
  const options: ExecuteOptions = {
    script: [reply([toolCall("slow", {})]), reply("Done")],
    tools: [{ ...slow, execute: () => realSleep(2 * CHECK_INTERVAL_MS).then(() => "done") }],
    policies: [budget({ elapsedMs: 3_600_000 })],
  };
  const { first, second } = await executeTwice(options);
  for (const { outcome } of [first, second]) {
    assertEquals("value" in outcome && pick(outcome.value), ["stop", "Done"]);
  }
});

Deno.test("durableAgent(): policies are not called while a run waits for a decision, whose time a replay has not", async () => {
  let checks = 0;
  let before = 0;
  const { first, second } = await executeTwice({
    script: [reply([toolCall("slow", {}, { id: "a" })]), reply("Done")],
    tools: [{ ...slow, execute: () => Promise.resolve("done") }],
    policies: [{ name: "count", onDelta: () => void checks++ }],
    approve: () => ({ type: "pending" }),
    onStart: (journal) => {
      if (journal.isContinued) return;
      journal.onRecord = () => {
        if (journal.records.length !== 2) return;
        before = checks;
        const data = { type: "approved" };
        setTimeout(() => {
          assertEquals(checks, before);
          journal.send({ type: "signal", name: getApprovalSignal("a"), data });
        }, 2 * CHECK_INTERVAL_MS);
      };
    },
  });
  assertEquals([first.outcome.type, before > 0], ["completed", true]);
  assertEquals(second.outcome, first.outcome);
});

Deno.test("durableAgent(): budget() with elapsedMs does not end the wait for a decision while another agent of the run works", async () => {
  const data = { type: "denied", reason: "no" };
  const { first, second, names } = await executeTwice({
    script: [reply([toolCall("slow", {}, { id: "a" })])],
    tools: [slow],
    policies: [budget({ elapsedMs: 100 })],
    approve: () => ({ type: "pending" }),
    onStart: (journal) => {
      if (journal.isContinued) return;
      const decide = () => journal.send({ type: "signal", name: getApprovalSignal("a"), data });
      setTimeout(decide, 3 * CHECK_INTERVAL_MS);
    },
    prompt: async (agent, steps) => {
      const streamFn = scriptedStream([reply("One two")], { deltaMs: CHECK_INTERVAL_MS });
      const other = durableAgent({ model: "test/model", streamFn }, steps);
      const [result] = await Promise.all([agent.prompt("Work"), other.prompt("Count")]);
      return result;
    },
  });
  assertEquals(names.filter((name) => name.endsWith("decision")).length, 1);
  assertEquals(second.journal.executed, []);
  assertEquals(withoutTimes(second.outcome), withoutTimes(first.outcome));
});

Deno.test("durableAgent(): calls that wait for each other have the same durations in a replay", async () => {
  const pause = async () => {
    await realSleep(20);
    return "done";
  };
  const tools = [
    { ...slow, name: "alone", sequential: true, execute: pause },
    { ...slow, name: "once", readOnly: false, sequential: true, execute: pause },
  ];
  const names = ["alone", "once", "alone", "once"];
  const calls = names.map((name, index) => toolCall(name, {}, { id: `${index}` }));
  const durations: number[] = [];
  const { second } = await executeTwice({
    script: [reply(calls), reply("Done")],
    tools,
    policies: [{ name: "time", postDispatch: ({ durationMs }) => void durations.push(durationMs) }],
  });
  assertEquals(second.journal.executed, []);
  assertEquals(durations.slice(names.length), durations.slice(0, names.length));
  assertEquals(durations.length, 2 * names.length);
});
