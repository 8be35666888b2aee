import { assertEquals } from "@std/assert";
import { Agent } from "../../agent/agent.ts";
import { extractText } from "../../core/messages/content.ts";
import { userMessage } from "../../core/messages/message.ts";
import { createDeferred } from "../../core/ports/deferred.ts";
import type { Session } from "../../core/sessions/session.ts";
import { reply, type ScriptedStep } from "../../testing/script.ts";
import { scriptedStream } from "../../testing/scripted_stream.ts";
import { InMemorySessionStore } from "../storage/in_memory_store.ts";
import { recordSession } from "./record_session.ts";
import { resumeSession } from "./resume.ts";

function createFixture(steps: readonly ScriptedStep[]) {
  const agent = new Agent({ model: "p/m", streamFn: scriptedStream(steps) });
  return { agent, store: new InMemorySessionStore() };
}

async function listMessages(session: Session): Promise<string[]> {
  const path = await session.path({ types: ["message"] });
  return path.flatMap((entry) =>
    entry.type === "message" && entry.message.role !== "custom"
      ? [extractText(entry.message.content)]
      : []
  );
}

Deno.test("recordSession(): flush() records messages that were appended after a run, once", async () => {
  const { agent, store } = createFixture([reply("One."), reply("Two.")]);
  await using recording = await recordSession(agent, store);
  await agent.prompt("First");
  agent.appendMessages([userMessage("A note")]);
  await recording.flush();
  await recording.flush();
  const { session } = recording;
  assertEquals(await listMessages(session), ["First", "One.", "A note"]);
  await agent.prompt("Second");
  assertEquals(await listMessages(session), ["First", "One.", "A note", "Second", "Two."]);
  assertEquals(session.outline.filter(({ type }) => type === "leaf_moved"), []);
});

Deno.test("recordSession(): a note that flush() records after a run does not make the run an interrupted one", async () => {
  const { agent, store } = createFixture([reply("One.")]);
  const recording = await recordSession(agent, store, { id: "noted" });
  await agent.prompt("First");
  agent.appendMessages([userMessage("A note")]);
  await recording.flush();
  await recording.stop();
  const { session, isInterrupted, messages } = await resumeSession(store, "noted");
  await session.close();
  assertEquals([isInterrupted, messages.length], [false, 3]);
});

Deno.test("recordSession(): a note that flush() records after a resume leaves an interrupted run interrupted", async () => {
  const { agent, store } = createFixture([]);
  const crashed = await store.create({ id: "crashed" });
  crashed.append({ type: "message", message: userMessage("First") });
  await crashed.close();
  const recording = await (await resumeSession(store, "crashed")).into(agent);
  agent.appendMessages([userMessage("A note")]);
  await recording.flush();
  await recording.stop();
  const { session, isInterrupted } = await resumeSession(store, "crashed");
  await session.close();
  assertEquals(isInterrupted, true);
});

Deno.test("recordSession(): flush() records no history that replaces the recorded one", async () => {
  const { agent, store } = createFixture([reply("One.")]);
  await using recording = await recordSession(agent, store);
  await agent.prompt("First");
  const { session } = recording;
  const leaf = session.leafId;
  agent.setMessages([userMessage("Another")]);
  await recording.flush();
  assertEquals(session.leafId, leaf);
  session.moveLeaf(null);
  agent.setMessages([userMessage("Another"), userMessage("And one more")]);
  await recording.flush();
  assertEquals(await listMessages(session), []);
});

/** Returns the number of follow-ups that are recorded last. */
async function countQueued(session: Session): Promise<number> {
  const entry = (await session.path()).findLast(({ type }) => type === "queue_changed");
  return entry?.type === "queue_changed" ? entry.queued.followUp.length : 0;
}

for (const method of ["flush", "stop"] as const) {
  Deno.test(`recordSession(): ${method}() records queued messages whose events wait for a slow listener`, async () => {
    const { agent, store } = createFixture([reply("One.")]);
    const recording = await recordSession(agent, store);
    let isSlow = false;
    agent.subscribe(() => isSlow ? new Promise(() => {}) : undefined);
    await agent.prompt("First");
    isSlow = true;
    for (const text of ["Second", "Third"]) agent.followUp(text);
    await recording[method]();
    const { id } = recording.session;
    await using session = await store.open(id, { access: "read" });
    assertEquals(await countQueued(session), 2);
    if (method === "flush") await recording.session.close();
  });
}

Deno.test("recordSession(): a late event records no older queue than flush() has", async () => {
  const { agent, store } = createFixture([reply("One.")]);
  await using recording = await recordSession(agent, store);
  await agent.prompt("First");
  const release = createDeferred<void>();
  let events = 0;
  agent.subscribe(() => ++events === 1 ? release.promise : new Promise(() => {}));
  for (const text of ["Second", "Third", "Fourth"]) agent.followUp(text);
  await recording.flush();
  release.resolve();
  while (events < 2) await Promise.resolve();
  assertEquals(await countQueued(recording.session), 3);
});

Deno.test("recordSession(): stop() may be called again when the agent has queued further messages", async () => {
  const { agent, store } = createFixture([reply("One.")]);
  await using recording = await recordSession(agent, store);
  await agent.prompt("First");
  await recording.stop();
  agent.followUp("Second");
  await recording.stop();
});
