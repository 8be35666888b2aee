import { assertEquals } from "@std/assert";
import { Agent } from "../../../mod.ts";
import { reply, scriptedStream } from "../../../src/testing/mod.ts";
import { ConversationRuns } from "./conversation_runs.ts";
import { getUserText } from "./user_text.ts";

Deno.test("ConversationRuns: texts that are sent after an abort are the next prompts, in order, also before the run has ended", async () => {
  const { runs, agent, errors } = createRuns();
  const ending = Promise.withResolvers<void>();
  runs.startTask("a task", async () => await ending.promise);
  runs.send("queued");
  runs.abort();
  runs.send("next");
  runs.send("last");
  ending.resolve();
  await runs.untilIdle();
  assertEquals(errors, []);
  assertEquals(listTexts(agent), ["next", "queued", "last"]);
});

Deno.test("ConversationRuns: texts that are sent during a task begin a run of their own", async () => {
  const { runs, agent, started } = createRuns();
  const ending = Promise.withResolvers<void>();
  runs.startTask("a task", async () => await ending.promise);
  runs.send("queued");
  ending.resolve();
  await runs.untilIdle();
  assertEquals(listTexts(agent), ["queued"]);
  assertEquals(started, ["queued"]);
});

Deno.test("ConversationRuns: a text that is sent after an abort is reported when its run starts, unless it is queued", async () => {
  const { runs, late } = createRuns();
  const ending = Promise.withResolvers<void>();
  runs.startTask("a task", async () => await ending.promise);
  runs.abort();
  runs.send("next");
  runs.send("last");
  assertEquals(late, []);
  ending.resolve();
  await runs.untilIdle();
  assertEquals(late, ["next"]);
});

Deno.test("ConversationRuns: texts that wait for the end of an aborted run are not sent when it is aborted again", async () => {
  const { runs, agent, errors, late } = createRuns();
  const ending = Promise.withResolvers<void>();
  runs.startTask("a task", async () => await ending.promise);
  runs.abort();
  runs.send("next");
  runs.send("last");
  runs.abort();
  runs.send("other");
  ending.resolve();
  await runs.untilIdle();
  assertEquals(listTexts(agent), ["other"]);
  assertEquals(late, ["other"]);
  const error = "Error: A text was not sent, since you have aborted again: ↑ returns it";
  assertEquals(errors.map(String), [error, error]);
});

Deno.test("ConversationRuns: the events of another agent are followed until its changes are recorded", async () => {
  const recorded = Promise.withResolvers<void>();
  const { runs } = createRuns(() => recorded.promise);
  const other = new Agent({ model: "any/model", streamFn: scriptedStream([reply("One.")]) });
  let hasEnded = false;
  const used = runs.withAgent(other, async () => (await other.prompt("Go")).text)
    .finally(() => hasEnded = true);
  await new Promise((resolve) => setTimeout(resolve, 5));
  assertEquals(hasEnded, false);
  recorded.resolve();
  assertEquals(await used, "One.");
});

Deno.test("ConversationRuns: the abort of a task is reported, unless the task has ended with a result", async () => {
  const { runs, errors, aborts } = createRuns();
  runs.startTask("a task", async (signal) => {
    await new Promise((resolve) => signal.addEventListener("abort", resolve));
    signal.throwIfAborted();
  });
  runs.abort();
  await runs.untilIdle();
  assertEquals([errors, aborts], [[], ["aborted"]]);
  const ending = Promise.withResolvers<void>();
  runs.startTask("another task", () => ending.promise);
  runs.abort();
  ending.resolve();
  await runs.untilIdle();
  assertEquals([errors, aborts], [[], ["aborted"]]);
});

function createRuns(untilRecorded = () => Promise.resolve()) {
  const agent = new Agent({
    model: "any/model",
    steeringMode: "all",
    streamFn: scriptedStream(["One.", "Two.", "Three."].map((text) => reply(text))),
  });
  const errors: unknown[] = [];
  const late: string[] = [];
  const started: string[] = [];
  const aborts: string[] = [];
  const runs = new ConversationRuns({
    agent,
    createInput: (text) => Promise.resolve(text),
    prepareInput: (input) => Promise.resolve(input),
    onEvent: () => Promise.resolve(),
    onStart: (text) => void started.push(text),
    onTask() {},
    onDelayedStart: (text) => void late.push(text),
    untilRecorded,
    onEnd: () => {},
    onError: (error) => void errors.push(error),
    onAbort: () => void aborts.push("aborted"),
    onActivity: () => {},
    now: () => 0,
  });
  return { runs, agent, errors, late, started, aborts };
}

function listTexts(agent: Agent): readonly string[] {
  return agent.state.messages.flatMap((message) =>
    message.role === "user" ? [getUserText(message)] : []
  );
}
