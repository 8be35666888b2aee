import { assertEquals, assertRejects } from "@std/assert";
import { DivergenceError } from "../../core/errors/divergence_error.ts";
import { AbortedError } from "../../core/errors/errors.ts";
import { createDeferred } from "../../core/ports/deferred.ts";
import { MessageInbox } from "./message_inbox.ts";
import { RunSteps } from "./run_steps.ts";
import { DetachedError, type StepJournal } from "./step_journal.ts";

/** Creates the steps of a run that can be closed and detached, and the names of those that its journal has looked up. */
function createSteps(options: Partial<StepJournal> = {}) {
  const closing = new AbortController();
  const detached = new AbortController();
  const names: string[] = [];
  const events: unknown[] = [];
  const inbox = new MessageInbox();
  const journal: StepJournal = {
    runId: "run",
    startedAt: 0,
    isContinued: false,
    inbox,
    events: {
      load: () => Promise.resolve([]),
      append: (content) => {
        events.push("event" in content ? content.event : content.type);
        return Promise.resolve();
      },
      flush: () => Promise.resolve(),
    },
    closeInbox: () => {
      // A message arrives at the last moment.
      inbox.add([{ number: inbox.last + 1, message: { type: "abort" } }]);
      return Promise.resolve(true);
    },
    closing: closing.signal,
    detached: detached.signal,
    step: async (name, execute) => {
      names.push(name);
      // The look into the record takes a moment.
      await Promise.resolve();
      return await execute();
    },
    ...options,
  };
  return { steps: new RunSteps(journal), journal, inbox, closing, detached, names, events };
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

Deno.test("RunSteps: no step is executed that begins with one that differs from its record", async () => {
  const recorded = { at: 1, order: 1, input: "another one", value: null };
  const { steps } = createSteps({
    step: async (name, execute) => {
      await Promise.resolve();
      return name === "recorded" ? recorded : await execute();
    },
  });
  let executions = 0;
  const execute = () => void executions++;
  const all = steps.all([
    { name: "before", execute },
    { name: "recorded", execute },
    { name: "after", execute },
  ]);
  const message = 'differs from its record at step "recorded"';
  await assertRejects(() => all, DivergenceError, message);
  assertEquals([executions, steps.failure instanceof DivergenceError], [0, true]);
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

Deno.test("RunSteps: a run whose engine is closed publishes nothing more", async () => {
  const { steps, closing, events } = createSteps();
  await steps.publish("before");
  await steps.run("step", () => null);
  closing.abort(new DetachedError());
  await assertRejects(() => steps.run("next", () => null), DetachedError);
  await steps.publish("after");
  await new Promise((resolve) => setTimeout(resolve, 0));
  assertEquals(events, ["before"]);
});

Deno.test("RunSteps: an aborted run does not begin to sleep", async () => {
  const { steps, inbox, names } = createSteps();
  inbox.add([{ number: 1, message: { type: "abort" } }]);
  await steps.run("step", () => null);
  await assertRejects(() => steps.sleep("short", 5), AbortedError);
  await assertRejects(() => steps.sleep("long", 60_000), AbortedError);
  assertEquals(names, ["step"]);
});

Deno.test("RunSteps: a long sleep ends at the time that its first execution has determined", async () => {
  const startedAt = 1_000;
  const recorded = { at: startedAt, value: null };
  const { journal } = createSteps({
    startedAt,
    isContinued: true,
    step: (name, execute) => name.endsWith(": start") ? Promise.resolve(recorded) : execute(),
  });
  const waits: number[] = [];
  const sleep = (milliseconds: number) => {
    waits.push(milliseconds);
    return Promise.resolve();
  };
  await new RunSteps(journal, { now: () => startedAt + 50_000, sleep }).sleep("long", 60_000);
  assertEquals(waits, [10_000]);
});

Deno.test("RunSteps: a run that gets a message as it refuses further ones has not refused it", async () => {
  const { steps } = createSteps();
  assertEquals(await steps.refuseMessages(), false);
  assertEquals(steps.signal.aborted, true);
});

Deno.test("RunSteps: a step with which the attempt ends is recorded when the events before it are stored", async () => {
  const stored = createDeferred<void>();
  const log: string[] = [];
  const { steps } = createSteps({
    recordsConcurrently: false,
    events: {
      load: () => Promise.resolve([]),
      append: () => Promise.resolve(),
      flush: async () => {
        await stored.promise;
        log.push("stored");
      },
    },
    step: async (_name, execute) => {
      const value = await execute();
      log.push("recorded");
      return value;
    },
  });
  await steps.publish("before");
  const ended = steps.run("step", () => {
    log.push("executed");
    return null;
  });
  await new Promise((resolve) => setTimeout(resolve, 0));
  stored.resolve();
  await ended;
  assertEquals(log, ["executed", "stored", "recorded"]);
});
