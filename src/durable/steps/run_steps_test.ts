import { assertEquals, assertRejects } from "@std/assert";
import { MessageInbox } from "./message_inbox.ts";
import { RunSteps } from "./run_steps.ts";
import { DetachedError, type StepJournal } from "./step_journal.ts";

/** Creates the steps of a run that can be closed and detached, and the names of those that its journal has looked up. */
function createSteps() {
  const closing = new AbortController();
  const detached = new AbortController();
  const names: string[] = [];
  const journal: StepJournal = {
    runId: "run",
    startedAt: 0,
    isContinued: false,
    inbox: new MessageInbox(),
    closing: closing.signal,
    detached: detached.signal,
    step: async (name, execute) => {
      names.push(name);
      // The look into the record takes a moment.
      await Promise.resolve();
      return await execute();
    },
  };
  return { steps: new RunSteps(journal), closing, detached, names };
}

Deno.test("RunSteps: a step that has begun when the engine is closed is not executed, and none begins after it", async () => {
  const { steps, closing, names } = createSteps();
  let executions = 0;
  const run = (name: string) =>
    assertRejects(() => steps.run(name, () => executions++), DetachedError);
  const begun = run("begun");
  closing.abort(new DetachedError());
  await begun;
  await run("next");
  assertEquals([executions, names], [0, ["begun"]]);
});

Deno.test("RunSteps: the record of a closed engine is not read further", async () => {
  const { steps, closing, names } = createSteps();
  closing.abort(new DetachedError());
  await assertRejects(() => steps.run("next", () => 1), DetachedError);
  assertEquals(names, []);
});

Deno.test("RunSteps: a run that another process executes records no step", async () => {
  const { steps, detached } = createSteps();
  const begun = assertRejects(() => steps.run("begun", () => 1), DetachedError);
  detached.abort(new DetachedError());
  await begun;
});
