import { assertEquals, assertRejects, assertThrows } from "@std/assert";
import { Agent } from "../../agent/agent.ts";
import { AlreadyRunningError, SessionError } from "../../core/errors/errors.ts";
import { extractText } from "../../core/messages/content.ts";
import { userMessage } from "../../core/messages/message.ts";
import { assistantMessage, toolCall } from "../../testing/messages.ts";
import { hang, reply } from "../../testing/script.ts";
import { scriptedStream } from "../../testing/scripted_stream.ts";
import { compact } from "../context/compact.ts";
import { slidingWindow } from "../context/sliding_window.ts";
import { InMemorySessionStore } from "../storage/in_memory_store.ts";
import { createMemoryStorage } from "../storage/memory_storage.ts";
import { storeFrom } from "../storage/store_from.ts";
import { openSession } from "./open_session.ts";
import { recordSession } from "./record_session.ts";
import { resumeSession } from "./resume.ts";

/** A store that can be full. */
class LimitedStore {
  isFull = false;
  readonly store = storeFrom(this.#createStorage());

  #createStorage() {
    const storage = createMemoryStorage();
    const append: typeof storage.append = (id, entries) =>
      this.isFull ? Promise.reject(new Error("out of space")) : storage.append(id, entries);
    return {
      append,
      load: storage.load.bind(storage),
      readLines: storage.readLines.bind(storage),
      list: storage.list.bind(storage),
      delete: storage.delete.bind(storage),
      lease: storage.lease.bind(storage),
      release: storage.release.bind(storage),
    };
  }
}

Deno.test("openSession(): a message that is queued while the store is full is recorded with the next run", async () => {
  const limited = new LimitedStore();
  const { store } = limited;
  const streamFn = scriptedStream([reply("One."), hang()]);
  const agent = new Agent({ model: "p/m", streamFn });
  const session = await openSession(store, { id: "s" }, agent);
  await agent.prompt("first");
  limited.isFull = true;
  agent.followUp("later");
  assertEquals((await agent.prompt("second")).stopReason, "aborted");
  limited.isFull = false;
  const run = agent.prompt("third");
  while (streamFn.calls.length < 2) await new Promise((resolve) => setTimeout(resolve));
  await session.session.flush();
  // As another process finds it after a crash.
  const { session: fork, messages } = await resumeSession(store, "s", { fork: true });
  const texts = messages.map((message) =>
    message.role === "custom" ? "" : extractText(message.content)
  );
  assertEquals(texts, ["first", "One.", "second", "third"]);
  await fork.close();
  const [logged] = (await session.session.path({ types: ["queue_changed"] })).slice(-1);
  const queued = logged?.type === "queue_changed" ? logged.queued.followUp : [];
  assertEquals(queued.map(({ message }) => message.role), ["user"]);
  agent.clearQueues();
  agent.abort();
  await run;
  await session.close();
});

Deno.test("recordSession(): flush() rejects as long as entries are not recorded, also after another flush", async () => {
  const limited = new LimitedStore();
  const streamFn = scriptedStream([reply("One."), reply("Two.")]);
  const agent = new Agent({ model: "p/m", streamFn });
  const recording = await recordSession(agent, limited.store, { id: "s" });
  limited.isFull = true;
  const flushes: Promise<unknown>[] = [];
  agent.subscribe((event) => {
    if (event.type !== "message_end" && event.type !== "agent_end") return;
    flushes.push(recording.flush().then(() => event.type, ({ reason }: SessionError) => reason));
  });
  assertEquals((await agent.prompt("first")).stopReason, "aborted");
  limited.isFull = false;
  assertEquals([...new Set(await Promise.all(flushes.splice(0)))], ["write_failed"]);
  const error = await assertRejects(() => recording.flush(), SessionError, "out of space");
  assertEquals(error.reason, "write_failed");
  await agent.prompt("second");
  assertEquals(new Set(await Promise.all(flushes)), new Set(["message_end", "agent_end"]));
  await recording.flush();
  await recording.stop();
});

Deno.test("recordSession(): aborts the run when another append to its session got the error of a write", async () => {
  const limited = new LimitedStore();
  const streamFn = scriptedStream([reply("One."), reply("Two."), reply("Three.")]);
  const agent = new Agent({ model: "p/m", streamFn });
  const recording = await recordSession(agent, limited.store, { id: "s" });
  await agent.prompt("first");
  const unsubscribe = agent.subscribe(async (event) => {
    if (event.type !== "message_end") return;
    unsubscribe();
    limited.isFull = true;
    await new Promise((resolve) => setTimeout(resolve));
    limited.isFull = false;
    assertThrows(() => recording.session.append({ type: "title", title: "A" }), SessionError);
  });
  assertEquals((await agent.prompt("second")).stopReason, "aborted");
  await assertRejects(() => recording.flush(), SessionError, "out of space");
  await agent.prompt("third");
  await recording.stop();
  const { session, messages } = await resumeSession(limited.store, "s");
  await session.close();
  assertEquals(messages, agent.state.messages);
});

Deno.test("openSession(): close() rejects if the messages of a run that was complete could not be written", async () => {
  const limited = new LimitedStore();
  const agent = new Agent({
    model: "p/m",
    streamFn: scriptedStream([reply("One."), reply("Two.")]),
  });
  const session = await openSession(limited.store, { id: "s" }, agent);
  agent.subscribe((event) => {
    limited.isFull = event.type === "message_end" && event.message.role === "assistant";
  });
  assertEquals((await agent.prompt("first")).stopReason, "stop");
  const error = await assertRejects(() => session.close(), SessionError, "out of space");
  assertEquals(error.reason, "write_failed");
  await assertRejects(() => session.close(), SessionError, "out of space");
  await (await limited.store.open("s")).close();
});

Deno.test("compact(): records the messages that the last run could not record", async () => {
  const limited = new LimitedStore();
  const transform = slidingWindow({ contextWindow: 2000, target: 0.1, keepSteps: 1 });
  const streamFn = scriptedStream(["a", "b"].map((text) => reply(text.repeat(800))));
  const agent = new Agent({ model: "p/m", streamFn, transformContext: transform });
  await using _recording = await recordSession(agent, limited.store, { id: "s" });
  await agent.prompt("one".padEnd(800, "."));
  agent.subscribe((event) => {
    if (event.type === "message_end") limited.isFull = event.message.role === "assistant";
  });
  await agent.prompt("two".padEnd(800, "."));
  limited.isFull = false;
  await compact(agent, transform);
  await using session = await limited.store.open("s", { access: "read" });
  const path = await session.path({ types: ["message", "compaction"] });
  const messages = path.flatMap((entry) => entry.type === "message" ? [entry.message] : []);
  assertEquals(messages, agent.state.messages);
  assertEquals(path.at(-1)?.type, "compaction");
});

Deno.test("ResumedSession.into() appends the results of interrupted calls once, also after an attempt that failed", async () => {
  const store = new InMemorySessionStore();
  const session = await store.create({ id: "s" });
  for (
    const message of [
      userMessage("Go", 1),
      assistantMessage([toolCall("look", {}, { id: "look_1" })]),
    ]
  ) {
    session.append({ type: "message", message });
  }
  await session.close();
  const resumed = await resumeSession(store, "s");
  const agent = new Agent({ model: "any/model", streamFn: scriptedStream([hang()]) });
  // A run that starts while the results are written.
  const flush = resumed.session.flush.bind(resumed.session);
  let run: Promise<unknown> = Promise.resolve();
  resumed.session.flush = async () => {
    await flush();
    run = agent.prompt("Now");
  };
  await assertRejects(() => resumed.into(agent), AlreadyRunningError);
  resumed.session.flush = flush;
  agent.abort();
  await run;
  await (await resumed.into(agent)).stop();
  await using reader = await store.open("s", { access: "read" });
  const path = await reader.path({ types: ["message"] });
  const roles = path.map((entry) => entry.type === "message" && entry.message.role);
  assertEquals(roles, ["user", "assistant", "tool_result"]);
});
