import { assertEquals, assertStringIncludes } from "@std/assert";
import type { DurableSteps } from "../../src/core/durable/durable_steps.ts";
import type { ApprovalAnswer } from "../../src/core/hooks/approve.ts";
import { userMessage } from "../../src/core/messages/message.ts";
import { realSleep } from "../../src/core/ports/ports.ts";
import { defineTool } from "../../src/core/tools/tool.ts";
import { durableAgent } from "../../src/durable/agent/durable_agent.ts";
import { executeRun } from "../../src/durable/engine/execute_run.ts";
import { toolCall } from "../../src/testing/messages.ts";
import { reply } from "../../src/testing/script.ts";
import { scriptedStream } from "../../src/testing/scripted_stream.ts";
import { execute, parameters } from "./agent_execution.ts";
import { ArrayJournal } from "./array_journal.ts";

const steer = (text: string) => ({ type: "steer", message: userMessage(text, 5) }) as const;

Deno.test("durableAgent(): a message reaches the agent that runs, and all agents while none runs", async () => {
  const journal = new ArrayJournal();
  const workflow = async (steps: DurableSteps) => {
    const create = (onCall: () => void) => {
      const last = () => {
        onCall();
        return reply("Done");
      };
      const streamFn = scriptedStream([last, reply("Again")]);
      return durableAgent({ model: "test/model", streamFn }, steps);
    };
    const first = create(() => {});
    const second = create(() => journal.send(steer("for the second")));
    const count = () => [first, second].map(({ queued }) => queued.steering.length);
    await steps.run("own step", () => journal.send(steer("for both")));
    const counts = [count()];
    for (const agent of [first, second]) agent.clearQueues();
    await first.prompt("Go");
    const { messages } = await second.prompt("Go");
    counts.push(count());
    return { counts, last: messages.at(-1)?.role, length: messages.length };
  };
  const outcome = await executeRun(journal, { workflow, input: null });
  const value = { counts: [[1, 1], [0, 0]], last: "assistant", length: 4 };
  assertEquals(outcome, { type: "completed", value });
});

const approvals: Readonly<
  Record<string, (journal: ArrayJournal) => ApprovalAnswer | Promise<ApprovalAnswer>>
> = {
  "that is asked for": async (journal) => {
    journal.send(steer("Faster"));
    await realSleep(5);
    return true;
  },
  "that is pending": (journal) => {
    setTimeout(() => {
      journal.send(steer("Faster"));
      setTimeout(() => journal.send({ type: "signal", name: "approval a", data: true }), 5);
    }, 5);
    return { type: "pending" };
  },
};

for (const [title, approve] of Object.entries(approvals)) {
  Deno.test(`durableAgent(): steering that waits for the batch does not end an approval ${title}`, async () => {
    let journal = new ArrayJournal();
    const { outcome, effects } = await execute({
      script: [reply([toolCall("pay", { key: "1" }, { id: "a" })]), reply("Paid."), reply("Done")],
      interrupt: "after_batch",
      approve: () => approve(journal),
      onStart: (started) => journal = started,
    });
    assertEquals([outcome.type, effects.length], ["completed", 1]);
  });
}

Deno.test("durableAgent(): steering does not cancel a call that is not interruptible", async () => {
  let journal = new ArrayJournal();
  const transfer = defineTool({
    name: "transfer",
    description: "Transfers money.",
    parameters,
    interruptible: false,
    execute: async (_args, { signal }) => {
      journal.send(steer("Faster"));
      await realSleep(5);
      return `transferred, aborted: ${signal.aborted}`;
    },
  });
  const { outcome } = await execute({
    script: [reply([toolCall("transfer", { key: "1" })]), reply("Done."), reply("Done.")],
    tools: [transfer],
    onStart: (started) => journal = started,
  });
  assertStringIncludes(JSON.stringify(outcome), "transferred, aborted: false");
});

Deno.test("durableAgent(): an abort that comes before a model call ends a wait for its key", async () => {
  const { outcome } = await execute({
    script: [reply("Never")],
    getApiKey: () => new Promise<never>(() => {}),
    onStart: (journal) => journal.send({ type: "abort" }),
  });
  assertEquals(outcome.type, "aborted");
});

Deno.test("durableAgent(): an abort ends a wait for a file", async () => {
  let journal = new ArrayJournal();
  const image = { type: "image", source: { type: "file", path: "/a.png", mediaType: "image/png" } };
  const { outcome } = await execute({
    script: [reply("Never")],
    readFile: () => {
      journal.send({ type: "abort" });
      return new Promise<never>(() => {});
    },
    onStart: (started) => journal = started,
    prompt: (agent) => agent.prompt({ text: "Describe", images: [image as never] }),
  });
  assertEquals(outcome.type, "aborted");
});

Deno.test("durableAgent(): a reply that is complete is kept when an abort comes at its end", async () => {
  let journal = new ArrayJournal();
  const { outcome } = await execute({
    script: [],
    streamFn: (request) => {
      journal.send({ type: "abort" });
      // A model that does not notice the abort.
      const { signal } = new AbortController();
      return scriptedStream([reply("Complete")])({ ...request, signal });
    },
    onStart: (started) => journal = started,
  });
  assertEquals(outcome.type, "aborted");
  const [recorded] = journal.records;
  assertStringIncludes(JSON.stringify(recorded?.value), '"type":"done"');
});

Deno.test("durableAgent(): steering after a crash ends a call that may have begun by a repetition, and begins no other one", async () => {
  for (const [tool, count] of [["put", 1], ["pay", 0]] as const) {
    const call = toolCall(tool, { key: "1" }, { id: "a" });
    const options = { script: [reply([call]), reply("Done."), reply("Done.")] };
    const { journal } = await execute(options);
    // The process has ended after the model call.
    const records = journal.records.slice(0, 1);
    const onStart = (started: ArrayJournal) => started.send(steer("Stop"));
    const { outcome, effects } = await execute({ ...options, records, onStart });
    assertEquals([tool, outcome.type, effects.length], [tool, "completed", count]);
  }
});
