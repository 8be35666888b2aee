import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import type { AgentOptions } from "../../src/agent/options.ts";
import type { DurableSteps, RunMessage } from "../../src/core/durable/durable_steps.ts";
import { userMessage } from "../../src/core/messages/message.ts";
import { createDeferred } from "../../src/core/ports/deferred.ts";
import { realSleep } from "../../src/core/ports/ports.ts";
import { defineTool } from "../../src/core/tools/tool.ts";
import { durableAgent } from "../../src/durable/agent/durable_agent.ts";
import { executeRun } from "../../src/durable/engine/execute_run.ts";
import type { DurableOutcome } from "../../src/durable/engine/run_outcome.ts";
import { DetachedError } from "../../src/durable/steps/step_journal.ts";
import { toolCall } from "../../src/testing/messages.ts";
import { hang, reply } from "../../src/testing/script.ts";
import { scriptedStream } from "../../src/testing/scripted_stream.ts";
import {
  assertReplays,
  createTools,
  execute,
  parameters,
  withoutTimes,
} from "./agent_execution.ts";
import { ArrayJournal } from "./array_journal.ts";

Deno.test("durableAgent(): a message during a call that is not interrupted comes in the next turn", async () => {
  const full = await assertReplays({
    script: [
      reply([toolCall("read", { key: "1" }, { id: "a" }), toolCall("read", { key: "slow" })]),
      reply("I have read it."),
      reply("And this."),
    ],
    interrupt: "after_batch",
    onStart: (journal) => {
      // An engine keeps the messages until a step has recorded them.
      const send = () => {
        if (journal.records.length !== 2 || journal.inbox.last > 0) return;
        journal.send({ type: "steer", message: userMessage("Faster", 5) });
        journal.send({ type: "follow_up", message: userMessage("What else?", 5) });
      };
      journal.onRecord = send;
      send();
    },
  });
  const messages = (full.outcome as { value?: { messages: { role: string }[] } }).value?.messages;
  assertEquals(messages?.map(({ role }) => role), [
    ...["user", "assistant", "tool_result", "tool_result", "user", "assistant"],
    ...["user", "assistant"],
  ]);
});

Deno.test("durableAgent(): steering cancels the running calls, at the same point of every replay", async () => {
  let onStart = () => {};
  const slow = defineTool({
    name: "slow",
    description: "Waits for its signal.",
    parameters,
    sideEffect: "idempotent",
    execute: async (_args, { signal }) => {
      onStart();
      await new Promise<void>((resolve) => {
        if (signal.aborted) resolve();
        signal.addEventListener("abort", () => resolve());
      });
      return "too late";
    },
  });
  const full = await assertReplays({
    script: [
      reply([
        toolCall("read", { key: "1" }, { id: "a" }),
        toolCall("slow", {}, { id: "b" }),
        toolCall("slow", {}, { id: "c" }),
      ]),
      reply("I stop."),
    ],
    tools: [...createTools([]), slow],
    onStart: (journal) => {
      let starts = 0;
      const steer = () => {
        const names = journal.records.map(({ name }) => name);
        const isRead = names.includes("turn 1, call 1 of read");
        const isSteered = names.some((name) => name.endsWith("of slow")) || journal.inbox.last > 0;
        if (starts > 0 && isRead && !isSteered) {
          journal.send({ type: "steer", message: userMessage("Stop", 5) });
        }
      };
      journal.onRecord = steer;
      onStart = () => {
        starts++;
        steer();
      };
    },
  });
  const output = JSON.stringify(full.outcome);
  assertEquals(output.split("user requested steering interrupt").length - 1, 2);
  assertStringIncludes(output, '"Stop"');
  assertStringIncludes(output, "read 1");
});

Deno.test("durableAgent(): an abort during a reply keeps its text, in every replay", async () => {
  const full = await execute({
    script: [hang({ after: "Half a sen" })],
    onStart: (journal, agent) =>
      void agent.subscribe((event) => {
        if (event.type === "message_update" && JSON.stringify(event).includes("sen")) {
          journal.send({ type: "abort", reason: "enough" });
        }
      }),
  });
  assertEquals(full.outcome.type, "aborted");
  assertStringIncludes(JSON.stringify(full.outcome), "Half a sen");
  const replayed = await execute({ script: [], records: full.journal.records });
  assertEquals(withoutTimes(replayed.outcome), withoutTimes(full.outcome));
});

Deno.test("durableAgent(): an abort that comes before an agent is prompted ends its run, in every replay", async () => {
  const full = await assertReplays({
    script: [reply([toolCall("pay", { key: "1" })]), reply("Paid.")],
    prompt: async (agent, steps) => {
      await steps.run("look up the order", () => null);
      return await agent.prompt("Pay");
    },
    onStart: (journal) => {
      if (journal.inbox.last === 0) journal.send({ type: "abort", reason: "enough" });
    },
  });
  assertEquals(full.outcome.type, "aborted");
  assertStringIncludes(JSON.stringify(full.outcome), '"stopReason":"aborted"');
  assertEquals([full.effects, full.journal.executed], [[], ["look up the order"]]);
});

Deno.test("durableAgent(): a tool or an approval is not called after an abort or a steering message", async () => {
  const messages: readonly RunMessage[] = [
    { type: "abort" },
    { type: "steer", message: userMessage("Stop", 5) },
  ];
  for (const message of messages) {
    let approvals = 0;
    const count = () => ++approvals > 0;
    for (const [step, approve] of [["model call 1", count], [": intent", undefined]] as const) {
      const { outcome, effects } = await execute({
        script: [reply([toolCall("pay", { key: "1" })]), reply("I stop.")],
        approve,
        onStart: (journal) => {
          // The message arrives before the next step, which records it.
          journal.onRecord = () => {
            if (journal.inbox.last > 0 || !journal.records.at(-1)?.name.endsWith(step)) return;
            journal.send(message);
          };
        },
      });
      assertEquals([effects, approvals], [[], 0], `${message.type} after ${step}`);
      assertStringIncludes(JSON.stringify(outcome), "tool_result");
    }
  }
});

Deno.test("durableAgent(): an abort during a tool call ends the run, and the call is answered", async () => {
  const started = createDeferred<void>();
  const stuck = defineTool({
    name: "stuck",
    description: "Ignores its signal.",
    parameters,
    execute: () => {
      started.resolve();
      return new Promise<string>(() => {});
    },
  });
  const full = await execute({
    script: [reply([toolCall("stuck", {}, { id: "a" })])],
    tools: [stuck],
    onStart: (journal) => void started.promise.then(() => journal.send({ type: "abort" })),
  });
  assertEquals(full.outcome.type, "aborted");
  assertStringIncludes(JSON.stringify(full.outcome), "tool call cancelled: run aborted");
  const replayed = await execute({ script: [], records: full.journal.records, tools: [stuck] });
  assertEquals(withoutTimes(replayed.outcome), withoutTimes(full.outcome));
});

Deno.test("durableAgent(): a tool that exceeds its time is recorded before the next model call", async () => {
  const stuck = defineTool({
    name: "stuck",
    description: "Takes too long.",
    parameters,
    timeoutMs: 5,
    execute: () => new Promise<string>(() => {}),
  });
  const full = await assertReplays({
    script: [reply([toolCall("stuck", {}, { id: "a" })]), reply("It takes too long.")],
    tools: [stuck],
    onStart: (journal) => void (journal.recordMs = 20),
  });
  assertStringIncludes(JSON.stringify(full.outcome), "timed out after 5 ms");
  assertEquals(full.journal.records.map(({ name }) => name), [
    "turn 1, model call 1",
    "turn 1, call 1 of stuck: intent",
    "turn 1, call 1 of stuck",
    "turn 2, model call 1",
  ]);
});

Deno.test("durableAgent(): a pending approval waits for the decision, in another process too", async () => {
  const script = [reply([toolCall("pay", { key: "1" }, { id: "a" })]), reply("Paid.")];
  const approve = () => ({ type: "pending" }) as const;
  const journals: ArrayJournal[] = [];
  const waiting = execute({
    script,
    approve,
    crashAt: (name) => name.endsWith("decision"),
    onStart: (journal) => {
      journals.push(journal);
      setTimeout(() => journal.send({ type: "signal", name: "approval x", data: true }), 5);
      setTimeout(() => journal.send({ type: "signal", name: "approval a", data: true }), 10);
    },
  });
  assert(await waiting.catch((error) => error) instanceof DetachedError);
  const records = journals[0]?.records ?? [];
  assertEquals(records.at(-1)?.name, "turn 1, approval 1 of pay");
  const decided = await execute({
    script,
    approve,
    records,
    onStart: (journal) =>
      journal.send({ type: "signal", name: "approval a", data: { type: "denied", reason: "no" } }),
  });
  assertEquals(decided.effects, []);
  assertStringIncludes(JSON.stringify(decided.outcome), "rejected by approval: no");
});

/** Runs an agent until one of its functions is called, which never answers; then sends a message. */
async function sendWhileWaiting(
  message: RunMessage,
  createOptions: (wait: () => Promise<never>) => Partial<AgentOptions>,
): Promise<DurableOutcome> {
  const started = createDeferred<void>();
  const options = createOptions(() => {
    started.resolve();
    return new Promise(() => {});
  });
  const script = [reply([toolCall("pay", { key: "1" }, { id: "a" })]), reply("Changed.")];
  const full = await execute({
    ...options,
    script,
    onStart: (journal) => void started.promise.then(() => journal.send(message)),
  });
  const replayed = await execute({ ...options, script: [], records: full.journal.records });
  assertEquals(withoutTimes(replayed.outcome), withoutTimes(full.outcome));
  assertEquals(full.effects, []);
  return full.outcome;
}

for (
  const [name, createOptions] of Object.entries<
    (wait: () => Promise<never>) => Partial<AgentOptions>
  >({
    "a key": (getApiKey) => ({ getApiKey }),
    "an approval": (approve) => ({ approve }),
    "an approval that follows its signal": (wait) => ({
      approve: ({ signal }) => {
        void wait();
        const aborted = createDeferred<boolean>();
        signal.addEventListener("abort", () => aborted.reject(signal.reason));
        return aborted.promise;
      },
    }),
  })
) {
  Deno.test(`durableAgent(): an abort ends a run that waits for ${name}`, async () => {
    const outcome = await sendWhileWaiting({ type: "abort", reason: "enough" }, createOptions);
    assertEquals(outcome.type, "aborted");
    assertStringIncludes(JSON.stringify(outcome), '"stopReason":"aborted"');
  });
}

Deno.test("durableAgent(): steering ends an approval that is not decided elsewhere", async () => {
  const outcome = await sendWhileWaiting(
    { type: "steer", message: userMessage("Wait", 1) },
    (approve) => ({ approve }),
  );
  assertStringIncludes(JSON.stringify(outcome), '"Changed."');
});

Deno.test("durableAgent(): a message goes to the agent that runs, and to no other one of the run", async () => {
  const started = createDeferred<void>();
  const workflow = async (steps: DurableSteps) => {
    const look = defineTool({
      name: "look",
      description: "Looks.",
      parameters,
      readOnly: true,
      interruptible: false,
      execute: async () => {
        started.resolve();
        while (journal.inbox.last === 0) await realSleep(1);
        return "seen";
      },
    });
    const agents = ["first", "second"].map((name) =>
      durableAgent({
        model: "test/model",
        streamFn: scriptedStream([reply([toolCall("look")]), reply(name), reply("again")]),
        tools: [look],
      }, steps)
    );
    const texts = [];
    for (const agent of agents) {
      const { messages } = await agent.prompt("Look");
      texts.push(messages.filter(({ role }) => role === "user").length);
    }
    return texts;
  };
  const journal = new ArrayJournal();
  void started.promise.then(() =>
    journal.send({ type: "follow_up", message: userMessage("Then this", 1) })
  );
  const outcome = await executeRun(journal, { workflow, input: null });
  assertEquals(outcome, { type: "completed", value: [2, 1] });
  const replayed = await executeRun(new ArrayJournal(journal.records), { workflow, input: null });
  assertEquals(replayed, outcome);
});
