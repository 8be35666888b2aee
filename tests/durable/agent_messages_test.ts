import { assertEquals } from "@std/assert";
import type { ApprovalAnswer } from "../../src/core/hooks/approve.ts";
import type { DurableSteps } from "../../src/core/durable/durable_steps.ts";
import { userMessage } from "../../src/core/messages/message.ts";
import { realSleep } from "../../src/core/ports/ports.ts";
import { durableAgent } from "../../src/durable/agent/durable_agent.ts";
import { executeRun } from "../../src/durable/engine/execute_run.ts";
import { toolCall } from "../../src/testing/messages.ts";
import { reply } from "../../src/testing/script.ts";
import { scriptedStream } from "../../src/testing/scripted_stream.ts";
import { execute } from "./agent_execution.ts";
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
