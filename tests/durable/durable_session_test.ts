import { assert, assertEquals } from "@std/assert";
import type { DurableSteps } from "../../src/core/durable/durable_steps.ts";
import { SessionError } from "../../src/core/errors/errors.ts";
import type { QueuedMessages } from "../../src/core/events/event.ts";
import { extractText } from "../../src/core/messages/content.ts";
import { userMessage } from "../../src/core/messages/message.ts";
import { createDeferred } from "../../src/core/ports/deferred.ts";
import { findQueued } from "../../src/core/sessions/queued_messages.ts";
import type { Session, SessionStore } from "../../src/core/sessions/session.ts";
import { durableAgent } from "../../src/durable/agent/durable_agent.ts";
import { openDurableSession } from "../../src/durable/agent/durable_session.ts";
import { executeRun } from "../../src/durable/engine/execute_run.ts";
import { InProcessEngine } from "../../src/durable/in_process/in_process_engine.ts";
import { DetachedError } from "../../src/durable/steps/step_journal.ts";
import { createMemoryStorage, InMemorySessionStore, storeFrom } from "../../src/memory/mod.ts";
import { reply } from "../../src/testing/script.ts";
import { scriptedStream } from "../../src/testing/scripted_stream.ts";
import { withDeadline } from "../deadline.ts";
import { speedUpTimers } from "../fast_timers.ts";
import { ArrayJournal } from "./array_journal.ts";

const SAVE = "session ada: save 1";

function createWorkflow(store: SessionStore, text: string) {
  return async (steps: DurableSteps) => {
    const streamFn = scriptedStream([reply(text)]);
    const agent = durableAgent({ model: "test/model", streamFn }, steps);
    const session = await openDurableSession(agent, store, { id: "ada", steps, user: "amy" });
    const result = await agent.prompt(`Prompt for ${text}`);
    await session.save(result);
    return agent.state.messages.length;
  };
}

async function readTypes(store: SessionStore): Promise<string[]> {
  await using session = await store.open("ada", { access: "read" });
  return (await session.path()).map((entry) =>
    entry.type === "message" ? entry.message.role : entry.type
  );
}

Deno.test("openDurableSession(): a save that is repeated after a crash appends nothing twice", async () => {
  const store = new InMemorySessionStore();
  const workflow = createWorkflow(store, "one");
  const journal = new ArrayJournal([], (name) => name === SAVE);
  const error = await executeRun(journal, { workflow, input: null }).catch((error) => error);
  assert(error instanceof DetachedError);
  const expected = ["custom", "user", "assistant", "run_ended"];
  assertEquals(await readTypes(store), expected);
  const again = new ArrayJournal(journal.records);
  const outcome = await executeRun(again, { workflow, input: null });
  assertEquals(outcome, { type: "completed", value: 2 });
  assertEquals(await readTypes(store), expected);
  assertEquals(again.executed, [SAVE]);
});

/** A store whose first reads of a session fail, and that cannot be reached meanwhile, or can. */
class FailingStore extends InMemorySessionStore {
  failures = 0;
  isReachable = true;

  override open(...options: Parameters<SessionStore["open"]>) {
    return this.failures-- > 0 ? Promise.reject(new Error("unavailable")) : super.open(...options);
  }

  override list(...options: Parameters<SessionStore["list"]>) {
    return this.isReachable ? super.list(...options) : Promise.reject(new Error("unreachable"));
  }
}

Deno.test("openDurableSession(): a replay waits for a store that cannot be reached, but not long for a session that cannot be read", async () => {
  const store = new FailingStore();
  const input = null;
  await executeRun(new ArrayJournal(), { workflow: createWorkflow(store, "one"), input });
  const workflow = createWorkflow(store, "two");
  const opened = new ArrayJournal([], (name) => name === "turn 1, model call 1");
  await executeRun(opened, { workflow, input }).catch(() => {});
  assertEquals(opened.executed, ["session ada: open"]);
  store.failures = 5;
  const failed = await executeRun(new ArrayJournal(opened.records), { workflow, input });
  assertEquals(failed, { type: "failed", error: { message: "unavailable" } });
  store.failures = 2;
  store.isReachable = false;
  const completed = await executeRun(new ArrayJournal(opened.records), { workflow, input });
  assertEquals(completed, { type: "completed", value: 4 });
});

Deno.test("openDurableSession(): save() waits for a store that cannot be reached, and appends nothing twice", async () => {
  const store = new FailingStore();
  await executeRun(new ArrayJournal(), { workflow: createWorkflow(store, "one"), input: null });
  store.isReachable = false;
  const { open } = store;
  // The first attempt to open the session to write fails, and the second one fails when the entries are stored.
  let attempts = 0;
  store.open = async (id, options) => {
    if (options?.access === "read") return await open.call(store, id, options);
    attempts++;
    if (attempts === 1) throw new SessionError("unavailable", { reason: "write_failed" });
    const session = await open.call(store, id, options);
    const { close } = session;
    if (attempts > 2) return session;
    session.close = async () => {
      await close.call(session);
      throw new SessionError("unavailable", { reason: "write_failed" });
    };
    return session;
  };
  const journal = Object.assign(new ArrayJournal(), { runId: "run-2" });
  await executeRun(journal, { workflow: createWorkflow(store, "two"), input: null });
  assertEquals(attempts, 3);
  const run = ["custom", "user", "assistant", "run_ended"];
  assertEquals(await readTypes(store), [...run, ...run]);
});

Deno.test("openDurableSession(): save() is repeated when another run has taken over the session meanwhile", async () => {
  const storage = createMemoryStorage();
  const { append } = storage;
  let isTakenOver = false;
  storage.append = async (id, request) => {
    if (!isTakenOver) {
      isTakenOver = true;
      await storage.release(id, request.token);
    }
    return await append.call(storage, id, request);
  };
  const store = storeFrom(storage);
  await executeRun(new ArrayJournal(), { workflow: createWorkflow(store, "one"), input: null });
  assertEquals(await readTypes(store), ["custom", "user", "assistant", "run_ended"]);
});

Deno.test("openDurableSession(): save() is repeated when the store can be reached again after its failure", async () => {
  const store = new FailingStore();
  const { create } = store;
  let failures = 4;
  store.create = async (options) => {
    if (failures-- > 0) throw new SessionError("unavailable", { reason: "write_failed" });
    return await create.call(store, options);
  };
  await executeRun(new ArrayJournal(), { workflow: createWorkflow(store, "one"), input: null });
  assertEquals(await readTypes(store), ["custom", "user", "assistant", "run_ended"]);
});

Deno.test("openDurableSession(): save() counts no failure before one at which the store cannot be reached", async () => {
  using _timers = speedUpTimers(100);
  const store = new FailingStore();
  const { create, list } = store;
  let failures = 0;
  store.create = async (options) => {
    if (++failures <= 8) throw new SessionError("unavailable", { reason: "write_failed" });
    return await create.call(store, options);
  };
  store.list = async (options) => {
    if (failures % 3 === 0) throw new Error("unreachable");
    return await list.call(store, options);
  };
  const outcome = await executeRun(new ArrayJournal(), {
    workflow: createWorkflow(store, "one"),
    input: null,
  });
  assertEquals(outcome, { type: "completed", value: 2 });
  assertEquals(await readTypes(store), ["custom", "user", "assistant", "run_ended"]);
});

Deno.test("openDurableSession(): save() appends nothing that another process has saved while it waited", async () => {
  const storage = createMemoryStorage();
  const store = storeFrom(storage);
  const slow = storeFrom(storage);
  const journal = new ArrayJournal();
  const input = null;
  slow.create = async () => {
    const taken = new ArrayJournal(journal.records);
    await executeRun(taken, { workflow: createWorkflow(store, "one"), input });
    return await store.open("ada");
  };
  await executeRun(journal, { workflow: createWorkflow(slow, "one"), input });
  assertEquals(await readTypes(store), ["custom", "user", "assistant", "run_ended"]);
});

Deno.test("openDurableSession(): save() appends nothing in a process that has left the run", async () => {
  const runs = new InMemorySessionStore();
  const storage = createMemoryStorage();
  const store = storeFrom(storage);
  const slow = storeFrom(storage);
  const reached = createDeferred<void>();
  const opening = createDeferred<void>();
  const ended = createDeferred<void>();
  slow.create = async () => {
    reached.resolve();
    await opening.promise;
    const session = await store.open("ada");
    const { close } = session;
    session.close = () => close.call(session).finally(() => ended.resolve());
    return session;
  };
  const first = new InProcessEngine({ store: runs });
  const workflow = first.register("chat", createWorkflow(slow, "one"));
  await first.start();
  await workflow.start(null, { id: "run" });
  await withDeadline(reached.promise);
  await first.close({ graceMs: 0 });
  await using next = new InProcessEngine({ store: runs });
  next.register("chat", createWorkflow(store, "one"));
  await next.start();
  await withDeadline(next.getRun("run").result());
  opening.resolve();
  await withDeadline(ended.promise);
  assertEquals(await readTypes(store), ["custom", "user", "assistant", "run_ended"]);
});

Deno.test("openDurableSession(): save() does not wait for a locked session in a process that has left the run", async () => {
  const store = new InMemorySessionStore();
  await using _locked = await store.create({ id: "ada" });
  const { open } = store;
  const waiting = createDeferred<void>();
  const left = createDeferred<void>();
  store.open = async (id, options) => {
    if (options?.access === "read") return await open.call(store, id, options);
    waiting.resolve();
    await left.promise;
    return await open.call(store, id, options);
  };
  const engine = new InProcessEngine({ store: new InMemorySessionStore() });
  const workflow = engine.register("chat", createWorkflow(store, "one"));
  await engine.start();
  await workflow.start(null);
  await withDeadline(waiting.promise);
  await engine.close({ graceMs: 0 });
  left.resolve();
  // The test would end with the timer of the next attempt.
  await new Promise((resolve) => setTimeout(resolve));
});

Deno.test("openDurableSession(): a replay does not wait for a session that was deleted, also if the store lists none", async () => {
  const store = new FailingStore();
  await executeRun(new ArrayJournal(), { workflow: createWorkflow(store, "one"), input: null });
  const workflow = createWorkflow(store, "two");
  const opened = new ArrayJournal([], (name) => name === "turn 1, model call 1");
  await executeRun(opened, { workflow, input: null }).catch(() => {});
  await store.delete("ada");
  store.isReachable = false;
  const replaying = executeRun(new ArrayJournal(opened.records), { workflow, input: null });
  const { type } = await withDeadline(replaying);
  assertEquals(type, "failed");
});

/** Creates a session with the first entries of a save that was cut off. */
async function createCutSession(store: SessionStore): Promise<Session> {
  const cut = await store.create({ id: "ada" });
  cut.append({ type: "custom", name: "durable_run", data: { runId: "run-1", part: 1 } });
  const message = { ...userMessage("Prompt for one", 5), id: "run-1/message-1" };
  cut.append({ type: "message", message });
  return cut;
}

/** Continues a run whose save was cut off. */
async function repeatSave(store: SessionStore): Promise<void> {
  const full = new ArrayJournal();
  const other = createWorkflow(new InMemorySessionStore(), "one");
  await executeRun(full, { workflow: other, input: null });
  const again = new ArrayJournal(full.records.filter(({ name }) => name !== SAVE));
  await executeRun(again, { workflow: createWorkflow(store, "one"), input: null });
}

Deno.test("openDurableSession(): a save that was cut off is completed", async () => {
  const store = new InMemorySessionStore();
  const cut = await createCutSession(store);
  await cut.close();
  await repeatSave(store);
  assertEquals(await readTypes(store), ["custom", "user", "assistant", "run_ended"]);
});

Deno.test("openDurableSession(): a save that was cut off is completed behind the entries of an application, and once", async () => {
  const store = new InMemorySessionStore();
  const cut = await createCutSession(store);
  cut.append({ type: "title", title: "First steps" });
  cut.append({ type: "message", message: userMessage("Hello from the application", 5) });
  await cut.close();
  const expected = ["custom", "user", "title", "user", "assistant", "run_ended"];
  await repeatSave(store);
  assertEquals(await readTypes(store), expected);
  await repeatSave(store);
  assertEquals(await readTypes(store), expected);
});

Deno.test("openDurableSession(): a save that was cut off before its messages does not take those of an application for them", async () => {
  const store = new InMemorySessionStore();
  const cut = await store.create({ id: "ada" });
  cut.append({ type: "custom", name: "durable_run", data: { runId: "run-1", part: 1 } });
  cut.append({ type: "message", message: userMessage("Hello from the application", 5) });
  await cut.close();
  await repeatSave(store);
  assertEquals(await readTypes(store), ["custom", "user", "user", "assistant", "run_ended"]);
});

Deno.test("openDurableSession(): a save that was cut off is completed behind that of another run", async () => {
  const store = new InMemorySessionStore();
  const cut = await createCutSession(store);
  cut.append({ type: "custom", name: "durable_run", data: { runId: "run-2", part: 1 } });
  cut.append({ type: "message", message: userMessage("Prompt of run-2", 5) });
  cut.append({ type: "message", message: userMessage("More of run-2", 5) });
  await cut.close();
  await repeatSave(store);
  assertEquals(
    await readTypes(store),
    ["custom", "user", "custom", "user", "user", "assistant", "run_ended"],
  );
});

Deno.test("openDurableSession(): messages that a run has taken from the queue of the session do not come back", async () => {
  const store = new InMemorySessionStore();
  const stored = await store.create({ id: "ada" });
  stored.append({ type: "message", message: userMessage("Hello", 5) });
  const queued = { id: "queued", message: userMessage("What else?", 5) };
  stored.append({ type: "queue_changed", queued: { steering: [], followUp: [queued] } });
  await stored.close();
  const counts: unknown[] = [];
  const workflow = async (steps: DurableSteps) => {
    const streamFn = scriptedStream([reply("One"), reply("Two")]);
    const agent = durableAgent({ model: "test/model", streamFn }, steps);
    const session = await openDurableSession(agent, store, { id: "ada", steps });
    counts.push(agent.queued.followUp.length);
    await session.save(await agent.prompt("Go"));
  };
  for (let run = 0; run < 2; run++) {
    const { type } = await executeRun(new ArrayJournal(), { workflow, input: null });
    assertEquals(type, "completed");
  }
  assertEquals(counts, [1, 0]);
});

/** An agent that answers each prompt. */
function createAgent(steps: DurableSteps) {
  const streamFn = scriptedStream([reply("One"), reply("Two")]);
  return durableAgent({ model: "test/model", streamFn }, steps);
}

function listTexts({ followUp }: QueuedMessages): string[] {
  return followUp.map(({ message }) => "content" in message ? extractText(message.content) : "");
}

Deno.test("openDurableSession(): a message that a run has dequeued and not delivered is still queued", async () => {
  const store = new InMemorySessionStore();
  const stored = await store.create({ id: "ada" });
  stored.append({ type: "message", message: userMessage("Hello", 5) });
  const delivering = {
    steering: [],
    followUp: [{ id: "queued", message: userMessage("What else?", 6) }],
  };
  stored.append({ type: "queue_changed", queued: { steering: [], followUp: [] }, delivering });
  await stored.close();
  const texts: string[] = [];
  const workflow = async (steps: DurableSteps) => {
    const agent = createAgent(steps);
    const session = await openDurableSession(agent, store, { id: "ada", steps });
    texts.push(...listTexts(agent.queued));
    await session.save(await agent.prompt("Go"));
    texts.push(`${agent.queued.followUp.length} left`);
  };
  await executeRun(new ArrayJournal(), { workflow, input: null });
  assertEquals(texts, ["What else?", "0 left"]);
});

Deno.test("openDurableSession(): runs that overlap keep the queued messages of each other", async () => {
  const store = new InMemorySessionStore();
  const stored = await store.create({ id: "ada" });
  const first = { id: "first", message: userMessage("First", 5) };
  stored.append({ type: "queue_changed", queued: { steering: [], followUp: [first] } });
  await stored.close();
  const opened = createDeferred();
  const saved = createDeferred();
  const counts: number[] = [];
  const later = executeRun(new ArrayJournal(), {
    workflow: async (steps) => {
      const agent = createAgent(steps);
      const session = await openDurableSession(agent, store, { id: "ada", steps });
      opened.resolve();
      await saved.promise;
      await session.save(await agent.prompt("Go")); // delivers the first message
    },
    input: null,
  });
  await opened.promise;
  const workflow = async (steps: DurableSteps) => {
    const agent = createAgent(steps);
    const session = await openDurableSession(agent, store, { id: "ada", steps });
    counts.push(agent.queued.followUp.length);
    agent.followUp("Second");
    // An aborted run leaves its messages in the queues.
    await session.save(await agent.prompt("Go", { signal: AbortSignal.abort() }));
  };
  await executeRun(new ArrayJournal(), { workflow, input: null });
  saved.resolve();
  await later;
  const next = await store.open("ada", { access: "read" });
  const queued = findQueued(await next.path());
  await next.close();
  assertEquals(listTexts(queued), ["Second"]);
  assertEquals(counts, [1]);
});

Deno.test("openDurableSession(): the agents of a run save the same session one after the other, also after a crash", async () => {
  const store = new InMemorySessionStore();
  const workflow = async (steps: DurableSteps) => {
    await createWorkflow(store, "one")(steps);
    return await createWorkflow(store, "two")(steps);
  };
  const last = "session ada: save 2";
  const full = new ArrayJournal([], (name) => name === last);
  await executeRun(full, { workflow, input: null }).catch(() => {});
  const turn = ["custom", "user", "assistant", "run_ended"];
  assertEquals(await readTypes(store), [...turn, ...turn]);
  // The process ended before it had saved the second part.
  const session = await store.open("ada");
  const entries = await session.path();
  session.moveLeaf(entries[turn.length - 1]?.id ?? null);
  await session.close();
  const before = [...turn, "leaf_moved"];
  assertEquals(await readTypes(store), before);
  const again = new ArrayJournal(full.records);
  const outcome = await executeRun(again, { workflow, input: null });
  assertEquals(outcome, { type: "completed", value: 4 });
  assertEquals(again.executed, [last]);
  assertEquals(await readTypes(store), [...before, ...turn]);
});

Deno.test("openDurableSession(): the agents of a run create sessions with the same id in stores of their own", async () => {
  const stores = [new InMemorySessionStore(), new InMemorySessionStore()];
  const workflow = async (steps: DurableSteps) => {
    for (const store of stores) await createWorkflow(store, "one")(steps);
    return null;
  };
  const outcome = await executeRun(new ArrayJournal(), { workflow, input: null });
  assertEquals(outcome, { type: "completed", value: null });
  for (const store of stores) {
    assertEquals(await readTypes(store), ["custom", "user", "assistant", "run_ended"]);
  }
});

Deno.test("openDurableSession(): a session that is deleted between the saves of a run does not come back", async () => {
  const store = new InMemorySessionStore();
  const workflow = async (steps: DurableSteps) => {
    const options = { id: "ada", steps, leaf: null };
    const agents = [1, 2].map(() =>
      durableAgent({ model: "test/model", streamFn: scriptedStream([reply("Hello")]) }, steps)
    );
    for (const agent of agents) {
      const session = await openDurableSession(agent, store, options);
      await session.save(await agent.prompt("Hello"));
      await steps.run("delete", () => store.delete("ada").then(() => null));
    }
    return null;
  };
  const outcome = await executeRun(new ArrayJournal(), { workflow, input: null });
  assertEquals(outcome.type, "failed");
  assertEquals((await store.list()).length, 0);
});

Deno.test("openDurableSession(): a replay has the history of the start, whatever was added meanwhile", async () => {
  const store = new InMemorySessionStore();
  await executeRun(new ArrayJournal(), { workflow: createWorkflow(store, "one"), input: null });
  const second = new ArrayJournal();
  const workflow = createWorkflow(store, "two");
  const outcome = await executeRun(second, { workflow, input: null });
  assertEquals(outcome, { type: "completed", value: 4 });
  const replayed = await executeRun(new ArrayJournal(second.records), { workflow, input: null });
  assertEquals(replayed, outcome);
});

Deno.test("openDurableSession(): a misspelt option is an error", async () => {
  const workflow = async (steps: DurableSteps) => {
    const agent = durableAgent({ model: "test/model", streamFn: scriptedStream([]) }, steps);
    const options = { id: "ada", steps, tennant: "acme" };
    await openDurableSession(agent, new InMemorySessionStore(), options);
  };
  const outcome = await executeRun(new ArrayJournal(), { workflow, input: null });
  assert(outcome.type === "failed");
  assertEquals(
    outcome.error.message,
    'Unknown option "tennant" of openDurableSession(): did you mean tenant?',
  );
});
