import { assertEquals, assertRejects } from "@std/assert";
import type { DurableSteps } from "../../core/durable/durable_steps.ts";
import type { EventContent } from "../events/event_storage.ts";
import { MessageInbox } from "../steps/message_inbox.ts";
import { DetachedError, type StepJournal } from "../steps/step_journal.ts";
import { executeRun } from "./execute_run.ts";

/** Creates the journal of a run, and the list of the events that it stores. */
function createJournal() {
  const closing = new AbortController();
  const detached = new AbortController();
  const stored: EventContent["type"][] = [];
  const journal: StepJournal = {
    runId: "run",
    startedAt: 0,
    isContinued: false,
    inbox: new MessageInbox(),
    closing: closing.signal,
    detached: detached.signal,
    step: (_name, execute) => execute(),
    events: {
      load: () => Promise.resolve([]),
      append: ({ type }) => {
        stored.push(type);
        return Promise.resolve();
      },
      flush: () => Promise.resolve(),
    },
  };
  return { journal, closing, detached, stored };
}

Deno.test("executeRun(): a run whose engine is closed has no outcome, whatever its code does with the error", async () => {
  const { journal, closing, stored } = createJournal();
  const workflow = async (steps: DurableSteps) => {
    await steps.run("first", () => 1);
    closing.abort(new DetachedError());
    return await steps.run("second", () => 2).catch(() => "caught");
  };
  await assertRejects(() => executeRun(journal, { workflow, input: null }), DetachedError);
  assertEquals(stored, []);
});

Deno.test("executeRun(): a run that another process executes has no outcome, also if that begins while its events are stored", async () => {
  for (const moment of ["before", "meanwhile"]) {
    const { journal, detached, stored } = createJournal();
    const detach = () => detached.abort(new DetachedError());
    const events = journal.events && {
      ...journal.events,
      flush: () => {
        detach();
        return Promise.resolve();
      },
    };
    const workflow = async (steps: DurableSteps) => {
      await steps.publish("done");
      if (moment === "before") detach();
    };
    const run = { workflow, input: null };
    await assertRejects(() => executeRun({ ...journal, events }, run), DetachedError);
    assertEquals([moment, stored], [moment, moment === "before" ? ["event"] : ["event", "end"]]);
  }
});

Deno.test("executeRun(): a run that fails marks its end for readers that wait for its first event", async () => {
  const workflows = {
    completed: () => "done",
    failed: () => Promise.reject(new Error("no paper")),
  };
  for (const [type, workflow] of Object.entries(workflows)) {
    const { journal, stored } = createJournal();
    const outcome = await executeRun(journal, { workflow, input: null });
    assertEquals([outcome.type, stored], [type, type === "failed" ? ["end"] : []]);
  }
});
