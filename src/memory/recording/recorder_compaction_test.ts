import { assertEquals } from "@std/assert";
import { Agent } from "../../agent/agent.ts";
import { type AgentMessage, userMessage } from "../../core/messages/message.ts";
import type { CompactionEntry } from "../../core/sessions/session_entry.ts";
import { reply } from "../../testing/script.ts";
import { scriptedStream } from "../../testing/scripted_stream.ts";
import { compact } from "../context/compact.ts";
import type { ReportingTransform } from "../context/compaction.ts";
import { slidingWindow } from "../context/sliding_window.ts";
import { summarize } from "../context/summarize.ts";
import { InMemorySessionStore } from "../storage/in_memory_store.ts";
import { recordSession } from "./record_session.ts";
import { resumeSession } from "./resume.ts";

function createAgent() {
  const transform = slidingWindow({ contextWindow: 2_000, keepSteps: 1 }) as ReportingTransform;
  const streamFn = scriptedStream(Array(9).fill(reply("ok")));
  return { transform, agent: new Agent({ model: "p/m", streamFn, transformContext: transform }) };
}

Deno.test("recordSession(): a run that starts during compact() records an edited history once", async () => {
  const store = new InMemorySessionStore();
  const { agent, transform } = createAgent();
  const recording = await recordSession(agent, store);
  for (let number = 0; number < 4; number++) await agent.prompt("x".repeat(1_000));
  const messages = agent.state.messages;
  agent.setMessages([...messages.slice(0, -1), userMessage("inserted"), ...messages.slice(-1)]);
  const compacting = compact(agent, transform, { tokens: 300 });
  await agent.prompt("next");
  assertEquals((await compacting)?.droppedCount, 6);
  await recording.stop();
  const resumed = createAgent();
  await using _recording = await (await resumeSession(store, recording.session.id))
    .into(resumed.agent);
  assertEquals(resumed.agent.state.messages, agent.state.messages);
  const view = resumed.transform.view(resumed.agent.state.messages);
  assertEquals(view, transform.view(agent.state.messages));
});

Deno.test("recordSession(): a run that starts while compact() moves the leaf records an edited history once", async () => {
  const store = new InMemorySessionStore();
  const { agent, transform } = createAgent();
  const recording = await recordSession(agent, store);
  for (let number = 0; number < 4; number++) await agent.prompt("x".repeat(1_000));
  const [first, ...rest] = agent.state.messages;
  agent.setMessages([{ ...first, content: userMessage("short").content } as AgentMessage, ...rest]);
  const { session } = recording;
  const readPath = session.path.bind(session);
  const runs: Promise<unknown>[] = [];
  session.path = async (...input) => {
    const path = await readPath(...input);
    const hasMoved = session.outline.some(({ type }) => type === "leaf_moved");
    if (hasMoved && runs.length === 0) runs.push(agent.prompt("next"));
    // The run reads the path, too, and gets it after the compaction has added entries.
    if (hasMoved) await new Promise((resolve) => setTimeout(resolve));
    return path;
  };
  await compact(agent, transform, { tokens: 300 });
  await Promise.all(runs);
  session.path = readPath;
  await recording.stop();
  const resumed = createAgent();
  await using _recording = await (await resumeSession(store, session.id)).into(resumed.agent);
  assertEquals(resumed.agent.state.messages, agent.state.messages);
});

Deno.test("recordSession(): the entry of a compaction names its messages though a run is about to start", async () => {
  const store = new InMemorySessionStore();
  const { agent, transform } = createAgent();
  const recording = await recordSession(agent, store);
  for (let number = 0; number < 4; number++) await agent.prompt("x".repeat(1_000));
  agent.setMessages(agent.state.messages.toSpliced(1, 0, userMessage("inserted")));
  const onCompact = transform.onCompact;
  const runs: Promise<unknown>[] = [];
  transform.onCompact = (report) => {
    runs.push(agent.prompt("next"));
    return onCompact?.(report) ?? Promise.resolve();
  };
  const report = await compact(agent, transform, { tokens: 300 });
  await Promise.all(runs);
  const path = await recording.session.path();
  const compaction = path.findLast(({ type }) => type === "compaction") as
    | CompactionEntry
    | undefined;
  assertEquals(typeof compaction?.firstDroppedId, "string");
  assertEquals(compaction?.tokensBefore, report?.tokensBefore);
  await recording.stop();
});

Deno.test("recordSession(): a cut whose first message the host removes is that of the edited history, too", async () => {
  const store = new InMemorySessionStore();
  const { agent, transform } = createAgent();
  const recording = await recordSession(agent, store);
  for (let number = 0; number < 9; number++) await agent.prompt("x".repeat(1_000));
  const { messages } = agent.state;
  agent.setMessages(messages.toSpliced(transform.cut?.from ?? 0, 1));
  await agent.prompt("next");
  const { messages: kept } = transform.view(agent.state.messages);
  await recording.stop();
  const resumed = createAgent();
  const session = await resumeSession(store, recording.session.id);
  await using _recording = await session.into(resumed.agent);
  assertEquals(kept.length < agent.state.messages.length, true);
  assertEquals(resumed.transform.view(resumed.agent.state.messages).messages, kept);
});

Deno.test("recordSession(): replies count for the cut of a history that ends with it, also in a resumed session", async () => {
  const store = new InMemorySessionStore();
  const { agent, transform } = createAgent();
  const recording = await recordSession(agent, store);
  for (let number = 0; number < 8; number++) await agent.prompt("x".repeat(1_000));
  const { to = 0 } = transform.cut ?? {};
  agent.setMessages(agent.state.messages.slice(0, to));
  await agent.prompt("next");
  await recording.stop();
  const resumed = createAgent();
  const session = await resumeSession(store, recording.session.id);
  await using _recording = await session.into(resumed.agent);
  const { messages } = resumed.agent.state;
  assertEquals([messages.length, resumed.transform.cut?.length], [to + 2, to]);
});

for (const isFlushed of [false, true]) {
  Deno.test(`recordSession(): a session that begins after a compaction has its cut, with messages between runs: ${isFlushed}`, async () => {
    const store = new InMemorySessionStore();
    const { agent, transform } = createAgent();
    for (let number = 0; number < 9; number++) await agent.prompt("x".repeat(1_000));
    const recording = await recordSession(agent, store);
    if (isFlushed) await recording.flush();
    else await agent.prompt("next");
    const { messages: kept } = transform.view(agent.state.messages);
    await recording.stop();
    const resumed = createAgent();
    const session = await resumeSession(store, recording.session.id);
    await using _recording = await session.into(resumed.agent);
    assertEquals(kept.length < agent.state.messages.length, true);
    assertEquals(resumed.transform.view(resumed.agent.state.messages).messages, kept);
  });
}

Deno.test("recordSession(): a session that begins after a compaction has its cut when it is rewound to a later reply", async () => {
  const { agent, transform } = createAgent();
  for (let number = 0; number < 9; number++) await agent.prompt("x".repeat(1_000));
  const { length = 0 } = transform.cut ?? {};
  await using recording = await recordSession(agent, new InMemorySessionStore());
  await recording.flush();
  const entries = recording.session.outline.filter(({ type }) => type === "message");
  await recording.rewind(entries[length]?.id ?? "");
  const { messages } = agent.state;
  assertEquals([messages.length, transform.view(messages).messages.length < length], [
    length + 1,
    true,
  ]);
});

Deno.test("recordSession(): replies of a run that starts during compact() do not count for its cut in a resumed session", async () => {
  const store = new InMemorySessionStore();
  const written = Promise.withResolvers<void>();
  const create = () => {
    const transform = summarize({
      streamFn: async function* (request) {
        await written.promise;
        yield* scriptedStream([reply("s")])(request);
      },
      contextWindow: 20_000,
      keepSteps: 1,
    });
    const streamFn = scriptedStream(Array(9).fill(reply("ok")));
    return { agent: new Agent({ model: "p/m", streamFn, transformContext: transform }), transform };
  };
  const { agent, transform } = create();
  const recording = await recordSession(agent, store);
  for (let number = 0; number < 5; number++) await agent.prompt("x".repeat(8_000));
  const compacting = compact(agent, transform, { tokens: 100 });
  await agent.prompt("meanwhile");
  written.resolve();
  await compacting;
  await recording.stop();
  const resumed = create();
  const session = await resumeSession(store, recording.session.id);
  await using _recording = await session.into(resumed.agent);
  const { messages, firstTrusted } = resumed.transform.view(resumed.agent.state.messages);
  assertEquals([transform.cut?.summary, firstTrusted], ["s", messages.length]);
});
