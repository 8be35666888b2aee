import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { Agent } from "../../agent/agent.ts";
import type { AgentOptions } from "../../agent/options.ts";
import { SessionError } from "../../core/errors/errors.ts";
import { extractText } from "../../core/messages/content.ts";
import { userMessage } from "../../core/messages/message.ts";
import type { SessionEntry } from "../../core/sessions/session_entry.ts";
import { type AgentTool, defineTool } from "../../core/tools/tool.ts";
import { assistantMessage, toolCall } from "../../testing/messages.ts";
import { fail, hang, reply, type ScriptedStep } from "../../testing/script.ts";
import { scriptedStream } from "../../testing/scripted_stream.ts";
import { composeTransforms } from "../context/compose_transforms.ts";
import { slidingWindow } from "../context/sliding_window.ts";
import { summarize } from "../context/summarize.ts";
import { InMemorySessionStore } from "../storage/in_memory_store.ts";
import { forkSession } from "../transfer/fork.ts";
import { checkpoint, restore } from "./checkpoint.ts";
import { openSession } from "./open_session.ts";
import { recordSession } from "./record_session.ts";
import { readSessionState } from "./session_state.ts";

const usage = { input: 9, output: 1, cacheRead: 0, cacheWrite: 0, total: 10 };
const call = toolCall("write", { path: "a" }, { id: "call_1" });

const write: AgentTool = defineTool({
  name: "write",
  description: "Writes.",
  parameters: { type: "object" },
  execute: () => "written",
});

function createAgent(
  steps: readonly ScriptedStep[],
  options: Partial<AgentOptions> = {},
): Agent {
  return new Agent({ model: "p/m", streamFn: scriptedStream(steps), tools: [write], ...options });
}

function getResultTexts({ state }: Agent): string[] {
  return state.messages.flatMap((message) =>
    message.role === "tool_result" ? [extractText(message.content)] : []
  );
}

async function readLog(store: InMemorySessionStore): Promise<SessionEntry[]> {
  await using session = await store.open("s", { access: "read" });
  return await Array.fromAsync(session.entries());
}

/** Records a session with every kind of state after a tool call. */
async function createStore(): Promise<InMemorySessionStore> {
  const store = new InMemorySessionStore();
  const agent = createAgent([reply([call], { usage }), reply("Done.", { usage })]);
  const recording = await recordSession(agent, store, { id: "s" });
  await agent.prompt("Write");
  recording.session.append({ type: "plan_created", plan: "# Plan", steps: ["one"] });
  recording.session.append({ type: "approval_mode", mode: "always" });
  agent.followUp("later");
  await recording.stop();
  return store;
}

Deno.test("openSession(): state that follows a lost tool result stays, and its tokens count once", async () => {
  const log = await readLog(await createStore());
  const lost = log.findIndex((entry) =>
    entry.type === "message" && entry.message.role === "tool_result"
  );
  for (const removed of [[lost], [lost, lost - 1]]) {
    const store = new InMemorySessionStore();
    const entries = log.filter((_entry, index) => !removed.includes(index));
    await (await store.create({ id: "s", entries })).close();
    for (const text of ["Go on", "And on"]) {
      const agent = createAgent([reply("Yes.", { usage })], { followUpMode: "all" });
      await using session = await openSession(store, { id: "s" }, agent);
      assertEquals(session.plan?.plan, "# Plan");
      const [mode] = await session.session.path({ types: ["approval_mode"] });
      assert(mode?.type === "approval_mode" && mode.mode === "always");
      assertEquals(agent.queued.followUp.length, 1);
      const [result] = getResultTexts(agent);
      // The tool journal has the result, too.
      if (removed.length === 1) assertEquals(result, "written");
      else assertStringIncludes(result ?? "", "result of this tool call was lost");
      agent.clearQueues();
      await agent.prompt(text);
      agent.followUp("later");
    }
    const [summary] = await store.list();
    assertEquals(summary?.usage.total, 40);
  }
});

Deno.test("SessionRecording.rewind() keeps the queue and the approval mode", async () => {
  const store = new InMemorySessionStore();
  const agent = createAgent([reply("one"), reply("two")]);
  const recording = await recordSession(agent, store, { id: "s" });
  await agent.prompt("first");
  const { leafId } = recording.session;
  await agent.prompt("second");
  recording.session.append({ type: "approval_mode", mode: "always" });
  recording.session.append({ type: "plan_mode", active: true });
  agent.followUp("later");
  await recording.rewind(leafId);
  await recording.stop();
  const resumed = createAgent([]);
  await using session = await openSession(store, { id: "s" }, resumed);
  assertEquals(resumed.state.messages.length, 2);
  assertEquals(resumed.queued.followUp.length, 1);
  assertEquals(session.planMode, true);
  const modes = await session.session.path({ types: ["approval_mode"] });
  assertEquals(modes.map((entry) => entry.type === "approval_mode" && entry.mode), ["always"]);
});

Deno.test("SessionRecording.rewind() keeps the model, also when the session is resumed without another run", async () => {
  const store = new InMemorySessionStore();
  const agent = createAgent([reply("one"), reply("two")]);
  const recording = await recordSession(agent, store, { id: "s" });
  await agent.prompt("first");
  const { leafId } = recording.session;
  agent.setModel("p/other");
  await agent.prompt("second");
  await recording.rewind(leafId);
  await recording.stop();
  const resumed = createAgent([]);
  await using _session = await openSession(store, { id: "s" }, resumed);
  assertEquals(resumed.state.messages.length, 2);
  assertEquals(resumed.state.model.modelId, "other");
});

Deno.test("SessionRecording.rewind() leaves the history as it is when the session is closed", async () => {
  const agent = createAgent([reply("one")]);
  const recording = await recordSession(agent, new InMemorySessionStore());
  await agent.prompt("first");
  await recording.stop();
  const error = await assertRejects(() => recording.rewind(null), SessionError);
  assertEquals(error.reason, "closed");
  assertEquals(agent.state.messages.length, 2);
});

Deno.test("openSession() appends the results of interrupted calls once, also of calls without or with equal ids", async () => {
  for (const ids of [["x"], [""], ["a", "a"], ["a", ""], ["", "call_1"]]) {
    const store = new InMemorySessionStore();
    const created = await store.create({ id: "s" });
    const calls = ids.map((id) => toolCall("look", {}, { id }));
    for (const message of [userMessage("Go", 1), assistantMessage(calls)]) {
      created.append({ type: "message", message });
    }
    await created.close();
    for (let attempt = 0; attempt < 3; attempt++) {
      const agent = new Agent({ model: "p/m", streamFn: scriptedStream([]) });
      await (await openSession(store, { id: "s" }, agent)).close();
      assertEquals(agent.state.messages.length, 2 + ids.length, ids.join());
      assertEquals((await store.list())[0]?.messages, 2 + ids.length, ids.join());
    }
  }
});

Deno.test("openSession() appends nothing to a session that it only restores", async () => {
  const store = new InMemorySessionStore();
  const createFull = () =>
    createAgent([reply("one"), reply([call])], { approve: () => ({ type: "pending" }) });
  const agent = createFull();
  const recording = await recordSession(agent, store, { id: "s" });
  await agent.prompt("first");
  await agent.prompt("second");
  agent.followUp("later");
  agent.steer("now");
  await recording.stop();
  const before = await store.list();
  for (let time = 0; time < 2; time++) {
    const resumed = createFull();
    const session = await openSession(store, { id: "s" }, resumed);
    assertEquals(session.pendingApprovals.length, 1);
    assertEquals(resumed.queued.followUp.map(({ message }) => message.role), ["user"]);
    assertEquals(resumed.queued.steering.length, 1);
    await session.close();
  }
  assertEquals(await store.list(), before);
});

Deno.test("openSession(): a queued message that the host has removed during a run stays removed", async () => {
  const remove: readonly ((agent: Agent, id: string) => unknown)[] = [
    (agent, id) => agent.cancelQueued(id),
    (agent) => agent.clearQueues(),
    (agent) => agent.reset(),
  ];
  for (const act of remove) {
    const store = new InMemorySessionStore();
    const agent = createAgent([hang()]);
    const recording = await recordSession(agent, store, { id: "s" });
    const started = Promise.withResolvers<void>();
    agent.subscribe(({ type }) => type === "model_call_start" && started.resolve());
    const run = agent.prompt("Write");
    await started.promise;
    act(agent, agent.followUp("deploy").id);
    // A crash while the model works.
    assertEquals(readSessionState(await recording.session.path()).queued.followUp, []);
    agent.abort();
    await run;
    await recording.stop();
    const resumed = createAgent([]);
    await using _session = await openSession(store, { id: "s" }, resumed);
    assertEquals(resumed.queued.followUp, []);
  }
});

Deno.test("readSessionState(): a run that has ended has delivered what it dequeued", () => {
  const position = { parentId: null, timestamp: 1 };
  const [queued, delivering] = ["later", "deploy"].map((id) => ({
    steering: [],
    followUp: [{ id, message: userMessage(id, 1) }],
  }));
  assert(queued && delivering);
  const path: SessionEntry[] = [
    { type: "queue_changed", queued, delivering, id: "a", ...position },
    { type: "run_ended", stopReason: "aborted", id: "b", ...position },
  ];
  assertEquals(readSessionState(path).queued, queued);
});

Deno.test("openSession() and restore() omit queued messages that an agent cannot have", async () => {
  const store = new InMemorySessionStore();
  const empty = { id: "q", message: assistantMessage([]) };
  const valid = { id: "r", message: userMessage("later", 1) };
  const session = await store.create({ id: "s" });
  const queued = { steering: [empty], followUp: [empty, valid] };
  session.append({ type: "queue_changed", queued });
  await session.close();
  const agent = createAgent([]);
  await using _session = await openSession(store, { id: "s" }, agent);
  const assertRestored = ({ queued }: Agent) => {
    assertEquals(queued.steering, []);
    assertEquals(queued.followUp.map(({ message }) => message.role), ["user"]);
  };
  assertRestored(agent);
  const restored = createAgent([]);
  restore(restored, { ...checkpoint(agent), queued });
  assertRestored(restored);
});

Deno.test("SessionRecording.rewind() to a reply keeps the results of its finished calls", async () => {
  const store = new InMemorySessionStore();
  const agent = createAgent([reply([call]), reply("Done."), reply("Again.")]);
  const recording = await recordSession(agent, store, { id: "s" });
  await agent.prompt("Write");
  const [, calling] = await recording.session.path({ types: ["message"] });
  await recording.rewind(calling?.id ?? null);
  assertEquals(getResultTexts(agent), ["written"]);
  await agent.continue();
  await recording.stop();
  const resumed = createAgent([]);
  await using _session = await openSession(store, { id: "s" }, resumed);
  assertEquals(resumed.state.messages, agent.state.messages);
  assertEquals(getResultTexts(resumed), ["written"]);
});

Deno.test("recordSession(): state stays when the host replaces the history", async () => {
  const store = new InMemorySessionStore();
  const agent = createAgent([reply("one"), reply("two"), reply("three")]);
  const recording = await recordSession(agent, store, { id: "s" });
  await agent.prompt("first");
  recording.session.append({ type: "plan_created", plan: "# Plan", steps: ["one", "two"] });
  recording.session.append({ type: "plan_step", step: 0, state: "complete" });
  recording.session.append({ type: "approval_mode", mode: "always" });
  agent.setMessages(agent.state.messages.slice(0, 1));
  await agent.prompt("second");
  await recording.stop();
  await using session = await openSession(store, { id: "s" }, createAgent([]));
  assertEquals(session.plan, {
    plan: "# Plan",
    steps: [{ step: "one", state: "complete" }, { step: "two", state: "pending" }],
  });
  const modes = await session.session.path({ types: ["approval_mode"] });
  assertEquals(modes.length, 1);
});

Deno.test("recordSession() counts the tokens of attempts without a reply and of tools", async () => {
  const store = new InMemorySessionStore();
  const agent = createAgent([
    fail("network_error", "reset", { usage }),
    fail("auth_error", "no key", { usage }),
    reply([toolCall("write")], { usage }),
    reply("Done.", { usage }),
  ], {
    retry: ({ error }) => error.retryable ? 0 : null,
    tools: [{ ...write, execute: () => Promise.resolve({ content: [], usage }) }],
  });
  await using _recording = await recordSession(agent, store, { id: "s" });
  const failed = await agent.prompt("first");
  const succeeded = await agent.prompt("second");
  const [summary] = await store.list();
  assertEquals(summary?.usage.total, 50);
  assertEquals(failed.usage.total + succeeded.usage.total, 50);
});

Deno.test("recordSession() counts the tokens of a message once when the host edits the history", async () => {
  const store = new InMemorySessionStore();
  const steps = [reply([call], { usage }), reply("one", { usage }), reply("two", { usage })];
  const agent = createAgent([...steps, reply("three", { usage }), reply("four", { usage })]);
  const recording = await recordSession(agent, store, { id: "s" });
  await agent.prompt("first");
  const [prompt, ...rest] = agent.state.messages;
  assert(prompt);
  const edited = { ...prompt, id: "edited" };
  agent.setMessages([edited, ...rest]);
  await agent.prompt("second");
  agent.setMessages([prompt, ...agent.state.messages.slice(1)]);
  await agent.prompt("third");
  agent.setMessages([]);
  await agent.prompt("fourth");
  await recording.stop();
  assertEquals((await store.list())[0]?.usage.total, 50);
  const log = await readLog(store);
  const third = log.findLast((entry) =>
    entry.type === "message" && entry.message.role === "assistant" &&
    extractText(entry.message.content) === "three"
  );
  await (await forkSession(store, "s", { id: "branch", leaf: third?.id ?? null })).close();
  const branch = (await store.list()).find(({ id }) => id === "branch");
  assertEquals(branch?.usage.total, 40);
});

Deno.test("openSession() restores the summary of one of several compacting transforms", async () => {
  const store = new InMemorySessionStore();
  let summaries = 0;
  const streamFn = scriptedStream(Array(9).fill(() => reply(`summary ${++summaries}`)));
  const long = "u".repeat(900);
  const open = async () => {
    const windows = [
      slidingWindow({ contextWindow: 60_000 }),
      summarize({ streamFn, contextWindow: 3_000, keepSteps: 1 }),
      slidingWindow({ contextWindow: 60_000 }),
    ];
    const steps = Array.from({ length: 8 }, () => reply("a".repeat(900)));
    const transformContext = composeTransforms(...windows);
    const agent = createAgent(steps, { transformContext });
    return { agent, session: await openSession(store, { id: "s" }, agent) };
  };
  const first = await open();
  while (summaries === 0) await first.agent.prompt(long);
  await first.session.close();
  const second = await open();
  await second.agent.prompt("short");
  await second.session.close();
  assertEquals(summaries, 1);
});

Deno.test("openSession() restores no pending approval that belongs to another reply", async () => {
  const store = new InMemorySessionStore();
  const session = await store.create({ id: "s" });
  session.append({ type: "message", message: userMessage("Write", 1) });
  const reply = assistantMessage([call], { stopReason: "tool_use" });
  session.append({ type: "message", message: reply });
  const pendingApprovals = [{ toolCallId: call.id, name: call.name, arguments: call.arguments }];
  session.append({ type: "approvals_pending", messageId: "other", pendingApprovals });
  await session.close();
  const agent = createAgent([]);
  await using opened = await openSession(store, { id: "s" }, agent);
  assertEquals([opened.pendingApprovals, agent.state.pendingApprovals], [[], []]);
});
