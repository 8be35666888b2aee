import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { Agent } from "../../src/agent/agent.ts";
import { createDeferred, type Deferred } from "../../src/core/ports/deferred.ts";
import type { SessionStore } from "../../src/core/sessions/session.ts";
import type { SessionEntry } from "../../src/core/sessions/session_entry.ts";
import type { StreamFn } from "../../src/core/streams/stream.ts";
import { type AgentTool, defineTool } from "../../src/core/tools/tool.ts";
import {
  InMemorySessionStore,
  listSubAgents,
  type OpenedSession,
  openSession,
} from "../../src/memory/mod.ts";
import { subAgentTool } from "../../src/sub_agents/mod.ts";
import { checkEvents } from "../../src/testing/event_grammar.ts";
import { toolCall } from "../../src/testing/messages.ts";
import { reply, type ScriptedStep } from "../../src/testing/script.ts";
import { scriptedStream } from "../../src/testing/scripted_stream.ts";

const usage = { input: 3, output: 4, cacheRead: 0, cacheWrite: 0, total: 7 };
const CALL = toolCall("explore", { prompt: "Look at a.ts", detached: true });
const explore = subAgentTool({
  name: "explore",
  description: "Looks around.",
  detached: true,
  maxDepth: 2,
});

/** An agent whose sub-agent waits in its tool `work` until it is released. */
interface Fixture {
  readonly agent: Agent;
  readonly working: Deferred<void>;
  readonly release: () => void;
}

function createFixture(own: readonly ScriptedStep[], extra: Partial<AgentTool> = {}): Fixture {
  const working = createDeferred<void>();
  const released = createDeferred<void>();
  const work = defineTool({
    name: "work",
    description: "Works.",
    parameters: { type: "object" },
    execute: async (_args, { signal }) => {
      working.resolve();
      signal.addEventListener("abort", () => released.resolve(), { once: true });
      await released.promise;
      return "worked";
    },
    ...extra,
  });
  const ownStream = scriptedStream(own);
  const childStream = scriptedStream([
    reply([{ ...toolCall("work"), id: "work_1" }], { usage }),
    reply("All is well", { usage }),
  ]);
  const streamFn: StreamFn = (request) =>
    JSON.stringify(request.context.messages[0]).includes("Look")
      ? childStream(request)
      : ownStream(request);
  const agent = new Agent({ model: "test/model", streamFn, tools: [explore, work] });
  return { agent, working, release: () => released.resolve() };
}

function readText(agent: Agent): string {
  return JSON.stringify(agent.state.messages);
}

async function readResults(session: OpenedSession): Promise<readonly SessionEntry[]> {
  return await session.session.path({ types: ["sub_agent_result"] });
}

async function endDetached({ detachedAgents }: OpenedSession): Promise<void> {
  await Promise.all(detachedAgents.map(({ ended }) => ended));
}

async function openParent(store: SessionStore, agent: Agent): Promise<OpenedSession> {
  return await openSession(store, { id: "parent" }, agent);
}

Deno.test("detached: the run ends first, and the report arrives with the next prompt", async () => {
  const { agent, release, working } = createFixture([
    reply([CALL], { usage }),
    reply("Started", { usage }),
    reply("Good news", { usage }),
  ]);
  await using session = await openParent(new InMemorySessionStore(), agent);
  const stream = agent.promptStream("Go");
  await checkEvents(stream);
  assertEquals((await stream.result()).text, "Started");
  await working.promise;
  const [running] = session.detachedAgents;
  assertEquals([running?.name, running?.prompt, running?.toolCallId], [
    "explore",
    "Look at a.ts",
    "call_1",
  ]);
  release();
  await endDetached(session);
  assertEquals(session.detachedAgents, []);
  const [result] = await readResults(session);
  assert(result?.type === "sub_agent_result");
  assertEquals([result.status, result.usage?.total, result.isCounted], [
    "completed",
    14,
    undefined,
  ]);
  const { text } = await agent.prompt("What now?");
  assertEquals(text, "Good news");
  assertStringIncludes(readText(agent), "has finished. Its report:\\n\\nAll is well");
});

Deno.test("detached: the report arrives in a run that still works", async () => {
  const { agent, release } = createFixture([
    reply([CALL]),
    reply([toolCall("wait")]),
    reply("Waited"),
    reply("Good news"),
  ]);
  await using session = await openParent(new InMemorySessionStore(), agent);
  const wait = defineTool({
    name: "wait",
    description: "Waits.",
    parameters: { type: "object" },
    execute: async () => {
      release();
      await endDetached(session);
      return "ok";
    },
  });
  agent.setTools([...agent.state.tools, wait]);
  const { text } = await agent.prompt("Go");
  assertEquals(text, "Good news");
});

Deno.test("detached: neither an abort nor the end of the run cancels it", async () => {
  const { agent, working, release } = createFixture([reply([CALL]), reply([toolCall("hang")])]);
  await using session = await openParent(new InMemorySessionStore(), agent);
  const hang = defineTool({
    name: "hang",
    description: "Hangs.",
    parameters: { type: "object" },
    execute: async () => {
      await working.promise;
      agent.abort();
      return "ok";
    },
  });
  agent.setTools([...agent.state.tools, hang]);
  assertEquals((await agent.prompt("Go")).stopReason, "aborted");
  release();
  await endDetached(session);
  const [result] = await readResults(session);
  assert(result?.type === "sub_agent_result");
  assertEquals([result.status, result.result], ["completed", "All is well"]);
});

Deno.test("detached: cancel() ends it, and the report states so", async () => {
  const { agent, working } = createFixture([reply([CALL]), reply("Started"), reply("Sorry")]);
  await using session = await openParent(new InMemorySessionStore(), agent);
  await agent.prompt("Go");
  await working.promise;
  const [running] = session.detachedAgents;
  running?.cancel("not needed");
  await running?.ended;
  const [result] = await readResults(session);
  assertEquals(result?.type === "sub_agent_result" && result.status, "aborted");
  await agent.prompt("What now?");
  assertStringIncludes(readText(agent), "was cancelled:");
});

Deno.test("detached: an agent without a session is refused with the reason", async () => {
  const { agent } = createFixture([reply([CALL]), reply("Sorry")]);
  await agent.prompt("Go");
  assertStringIncludes(readText(agent), "The sub-agent was not started: an agent that outlives");
  assertStringIncludes(readText(agent), "openSession()");
});

Deno.test("detached: a sub-agent cannot start one", async () => {
  const own = scriptedStream([
    reply([toolCall("explore", { prompt: "Look" })]),
    reply([{ ...CALL, id: "inner" }]),
    reply("Sorry"),
    reply("Sorry"),
  ]);
  const agent = new Agent({ model: "test/model", streamFn: own, tools: [explore] });
  const store = new InMemorySessionStore();
  await using _session = await openParent(store, agent);
  await agent.prompt("Go");
  const [child] = await listSubAgents(store, "parent");
  assert(child);
  await using opened = await store.open(child.id, { access: "read" });
  assertStringIncludes(
    JSON.stringify(await opened.path()),
    "only the agent of the host can start agents that outlive its run",
  );
});

Deno.test("detached: a report after the session was closed arrives when it is opened again", async () => {
  const store = new InMemorySessionStore();
  const first = createFixture([reply([CALL]), reply("Started")]);
  const session = await openParent(store, first.agent);
  await first.agent.prompt("Go");
  await first.working.promise;
  const [running] = session.detachedAgents;
  await session.close();

  const second = createFixture([reply("Nothing yet"), reply("Good news")]);
  const reopened = await openParent(store, second.agent);
  await second.agent.prompt("And?");
  assertEquals(await readResults(reopened), []); // It still works.
  first.release();
  await running?.ended;
  await second.agent.prompt("And now?");
  assertStringIncludes(readText(second.agent), "has finished. Its report:\\n\\nAll is well");
  assertEquals((await readResults(reopened)).length, 1);
  await reopened.close();

  const third = createFixture([reply("Hello")]);
  await using again = await openParent(store, third.agent);
  assertEquals((await readResults(again)).length, 1);
  assertEquals(third.agent.queued, { steering: [], followUp: [] });
});

Deno.test("detached: a report that was not delivered survives the process", async () => {
  const store = new InMemorySessionStore();
  const first = createFixture([reply([CALL]), reply("Started")]);
  const session = await openParent(store, first.agent);
  await first.agent.prompt("Go");
  first.release();
  await endDetached(session);
  await session.close();
  const second = createFixture([reply("Good news")]);
  await using _reopened = await openParent(store, second.agent);
  await second.agent.prompt("And?");
  const text = readText(second.agent);
  assertEquals(text.split("Its report:").length, 2);
});

Deno.test("detached: its tokens count in the session of its parent", async () => {
  const store = new InMemorySessionStore();
  const { agent, release } = createFixture([reply([CALL], { usage }), reply("Started", { usage })]);
  const session = await openParent(store, agent);
  await agent.prompt("Go");
  release();
  await endDetached(session);
  await session.close();
  const summary = (await store.list()).find(({ id }) => id === "parent");
  assertEquals(summary?.usage.total, 28);
});
