import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { Agent } from "../../src/agent/agent.ts";
import { SessionError } from "../../src/core/errors/errors.ts";
import { createDeferred } from "../../src/core/ports/deferred.ts";
import type { SessionStore } from "../../src/core/sessions/session.ts";
import type { StreamFn } from "../../src/core/streams/stream.ts";
import { defineTool } from "../../src/core/tools/tool.ts";
import {
  getSubAgentLink,
  listSubAgents,
  listWithoutSubAgents,
  openSession,
  resumeSession,
  scopeStore,
} from "../../src/memory/mod.ts";
import { subAgentTool } from "../../src/sub_agents/mod.ts";
import { toolCall } from "../../src/testing/messages.ts";
import { fail, hang, reply } from "../../src/testing/script.ts";
import { scriptedStream } from "../../src/testing/scripted_stream.ts";
import {
  createAgent,
  createStream,
  explore,
  findChild,
  readEntries,
  selectType,
  testStores,
} from "./sub_agent_stores.ts";

const usage = { input: 3, output: 4, cacheRead: 0, cacheWrite: 0, total: 7 };
const CALL = toolCall("explore", { prompt: "Look at a.ts" });

/** Starts a sub-agent that works when its process is killed; returns the id of its session. */
async function interruptChild(store: SessionStore, call = CALL): Promise<string> {
  const working = createDeferred<void>();
  const work = defineTool({
    name: "work",
    description: "Works.",
    parameters: { type: "object" },
    execute: () => {
      working.resolve();
      return new Promise<string>(() => {});
    },
  });
  const script = [reply([call]), reply("I wait."), reply("Bye")];
  const agent = createAgent(script, [reply([toolCall("work")])], [explore, work]);
  const options = { id: "parent" };
  const session = await openSession(store, options, agent);
  const run = agent.prompt("Go");
  await working.promise;
  const childId = await findChild(store, "parent");
  await copyAsInterrupted(store, ["parent", childId]);
  for (const { cancel } of session.detachedAgents) cancel();
  agent.abort();
  await run;
  await session.close();
  return `${childId} copy`;
}

/** Copies sessions as a kill of their process leaves them. */
async function copyAsInterrupted(store: SessionStore, ids: readonly string[]): Promise<void> {
  const rename = (text: string) =>
    ids.reduce((renamed, id) => renamed.replaceAll(`"${id}"`, `"${id} copy"`), text);
  for (const id of ids) {
    const { type: _type, version: _version, ...header } = JSON.parse(
      rename(JSON.stringify((await store.open(id, { access: "read" })).header)),
    );
    const entries = JSON.parse(rename(JSON.stringify(await readEntries(store, id))));
    await (await store.create({ ...header, entries })).close();
  }
}

testStores(
  "sub-agent sessions: the transcript is a session that is linked with its parent",
  async (store) => {
    const agent = createAgent(
      [reply([CALL], { usage }), reply("Thanks", { usage })],
      [reply("All is well", { usage })],
    );
    const options = { id: "parent", cwd: "/work", tenant: "acme" };
    const metadata = { plan: "pro", profile: { long: "text" } };
    await using session = await openSession(store, { ...options, metadata }, agent);
    await agent.prompt("Go");

    const childId = await findChild(store, "parent");
    const child = await store.open(childId, { access: "read" });
    assertEquals(getSubAgentLink(child.header), {
      parentId: "parent",
      toolCallId: "call_1",
      path: ["call_1"],
    });
    assertEquals(child.header.tenant, "acme");
    assertEquals(child.header.cwd, "/work");
    // Only what sessions are selected by is copied.
    const { plan, profile } = child.header.metadata ?? {};
    assertEquals([plan, profile], ["pro", undefined]);
    await child.close();
    const messages = selectType(await readEntries(store, childId), "message");
    assertEquals(messages.map(({ message }) => message.role), ["user", "assistant"]);

    const entries = await session.session.path();
    const [spawned] = selectType(entries, "sub_agent_spawned");
    assertEquals(
      [spawned?.sessionId, spawned?.toolCallId, spawned?.name, spawned?.prompt, spawned?.mode],
      [childId, "call_1", "explore", "Look at a.ts", undefined],
    );
    const [result] = selectType(entries, "sub_agent_result");
    assertEquals(
      [result?.subAgentId, result?.status, result?.result, result?.isError, result?.usage?.total],
      [childId, "completed", "All is well", false, 7],
    );
    assertEquals(selectType(entries, "sub_agent_message"), []);
    // The result of the call has the usage of the sub-agent, too.
    const [summary] = await listWithoutSubAgents(store);
    assertEquals([summary?.id, summary?.usage.total], ["parent", 21]);
  },
);

testStores("sub-agent sessions: those of sub-agents below have the whole path", async (store) => {
  const inner = toolCall("explore", { prompt: "Look deeper" });
  const agent = createAgent(
    [reply([CALL]), reply("Thanks")],
    [reply([{ ...inner, id: "inner" }]), reply("Deep"), reply("All")],
  );
  await using _session = await openSession(store, { id: "parent" }, agent);
  await agent.prompt("Go");
  const childId = await findChild(store, "parent");
  const [grandchild] = await listSubAgents(store, childId);
  assert(grandchild);
  assertEquals(getSubAgentLink(grandchild), {
    parentId: childId,
    toolCallId: "inner",
    path: ["call_1", "inner"],
  });
});

testStores("sub-agent sessions: asTool() has them, too", async (store) => {
  const script = [reply([toolCall("expert", { prompt: "Look" })]), reply("Thanks")];
  const streamFn = createStream(script, [reply("42")]);
  const expert = new Agent({ model: "test/model", streamFn })
    .asTool({ name: "expert", description: "Knows all." });
  const agent = new Agent({ model: "test/model", streamFn, tools: [expert] });
  await using session = await openSession(store, { id: "parent" }, agent);
  await agent.prompt("Go");
  const [result] = selectType(await session.session.path(), "sub_agent_result");
  assertEquals([result?.result, result?.status], ["42", "completed"]);
  assertEquals(result?.subAgentId, await findChild(store, "parent"));
});

testStores("sub-agent sessions: a failure and a cancellation have their status", async (store) => {
  const agent = createAgent(
    [reply([CALL]), reply("Sorry"), reply([{ ...CALL, id: "call_2" }])],
    [fail("bad_request", "no"), hang()],
  );
  const session = await openSession(store, { id: "parent" }, agent);
  await agent.prompt("Go");
  const stream = agent.promptStream("Again");
  for await (const event of stream) {
    const isWorking = event.type === "sub_agent" && event.event.type === "model_call_start";
    if (isWorking) agent.abort();
  }
  // The run does not wait for the disk after an abort.
  await session.close();
  const results = selectType(await readEntries(store, "parent"), "sub_agent_result");
  assertEquals(results.map(({ status }) => status), ["failed", "aborted"]);
});

testStores("sub-agent sessions: lists leave them out, page by page", async (store) => {
  for (let number = 0; number < 9; number++) {
    const isChild = number % 4 !== 0;
    const metadata = { subAgentParentId: "parent", subAgentCallId: "a", subAgentPath: ["a"] };
    const options = { id: `s${number}`, created: number, ...(isChild && { metadata }) };
    const session = await store.create(options);
    session.append({ type: "title", title: "t" });
    await session.close();
  }
  const all = await listWithoutSubAgents(store);
  assertEquals(all.length, 3);
  const paged: string[] = [];
  let cursor: string | undefined;
  do {
    const page = await listWithoutSubAgents(store, { limit: 1, ...(cursor && { cursor }) });
    paged.push(...page.map(({ id }) => id));
    cursor = page.cursor;
  } while (cursor !== undefined);
  assertEquals(paged, all.map(({ id }) => id));
  assertEquals((await listWithoutSubAgents(store, { limit: 2 })).length, 2);
  assertEquals((await listSubAgents(store, "parent")).length, 6);
  assertEquals((await listSubAgents(store, "parent", { limit: 2 })).length, 2);
});

async function createSession(
  store: SessionStore,
  id: string,
  parent?: string,
): Promise<void> {
  const metadata = parent && { subAgentParentId: parent, subAgentCallId: "a", subAgentPath: ["a"] };
  const session = await store.create({
    id,
    tenant: "acme",
    ...(metadata && { metadata }),
    entries: [{ type: "title", id: "e", parentId: null, timestamp: 0, title: "t" }],
  });
  await session.close();
}

testStores("sub-agent sessions: are deleted with the session of their parent", async (store) => {
  await createSession(store, "parent");
  await createSession(store, "child", "parent");
  await createSession(store, "grandchild", "child");
  await createSession(store, "other");
  await scopeStore(store, { tenant: "acme" }).delete("parent");
  assertEquals((await store.list()).map(({ id }) => id), ["other"]);
});

testStores("sub-agent sessions: one that works keeps the session of its parent", async (store) => {
  await createSession(store, "parent");
  await createSession(store, "child", "parent");
  await using _open = await store.open("child");
  const error = await assertRejects(() => store.delete("parent"), SessionError);
  assertEquals(error.reason, "locked");
  assertStringIncludes(error.message, "child");
  assertEquals((await store.list()).length, 2);
});

testStores(
  "sub-agent sessions: none is deleted with the parent while one at any depth works",
  async (store) => {
    await createSession(store, "parent");
    for (const id of ["a", "b", "c", "d", "e"]) await createSession(store, id, "parent");
    await createSession(store, "below c", "c");
    const open = await store.open("below c");
    const error = await assertRejects(() => store.delete("parent"), SessionError);
    assertEquals(error.reason, "locked");
    assertStringIncludes(error.message, "below c");
    assertEquals((await store.list()).length, 7);
    await store.deleteAll({ tenant: "acme" });
    const kept = (await store.list()).map(({ id }) => id).toSorted();
    assertEquals(kept, ["below c", "c", "parent"]);
    await open.close();
    await store.delete("parent");
    assertEquals((await store.list()).length, 0);
  },
);

testStores("sub-agent sessions: a cycle of wrong parents is deleted as one", async (store) => {
  await createSession(store, "a", "c");
  await createSession(store, "b", "a");
  await createSession(store, "c", "b");
  await createSession(store, "self", "self");
  await store.delete("b");
  assertEquals((await store.list()).map(({ id }) => id), ["self"]);
  await store.delete("self");
  assertEquals((await store.list()).length, 0);
});

/** Returns the time when it has changed, since the age of a session begins with its creation. */
function waitForNextMillisecond(): number {
  const start = Date.now();
  while (Date.now() === start);
  return Date.now();
}

testStores(
  "sub-agent sessions: are deleted with a parent that is deleted by its age",
  async (store) => {
    await createSession(store, "parent");
    const createdBefore = waitForNextMillisecond();
    await createSession(store, "child", "parent");
    await createSession(store, "grandchild", "child");
    await createSession(store, "other");
    await store.deleteAll({ tenant: "acme", updatedBefore: createdBefore });
    assertEquals((await store.list()).map(({ id }) => id), ["other"]);
  },
);

testStores(
  "sub-agent sessions: a resumed parent answers the call and names the session",
  async (store) => {
    const childId = await interruptChild(store);
    const agent = createAgent([reply("I see")]);
    await using session = await openSession(store, { id: "parent copy" }, agent);
    assert(session.isInterrupted);
    await agent.continue();
    const result = agent.state.messages.find(({ role }) => role === "tool_result");
    assertStringIncludes(JSON.stringify(result), "This tool call was interrupted while the agent");
    assertStringIncludes(JSON.stringify(result), childId);
    const [ended] = selectType(await session.session.path(), "sub_agent_result");
    assertEquals([ended?.subAgentId, ended?.status, ended?.isCounted], [
      childId,
      "interrupted",
      undefined,
    ]);
    // A person can continue the sub-agent's conversation.
    const resumed = await resumeSession(store, childId);
    assertEquals(resumed.pendingCalls.length, 1);
    await resumed.session.close();
  },
);

testStores(
  "sub-agent sessions: a call that only reads does not run again after a crash",
  async (store) => {
    const reader = subAgentTool({ name: "explore", description: "Looks.", readOnly: true });
    const working = createDeferred<void>();
    const streamFn: StreamFn = (request) => {
      const isChild = JSON.stringify(request.context.messages[0]).includes("Look");
      if (isChild) working.resolve();
      return scriptedStream([isChild ? hang() : reply([CALL])])(request);
    };
    const agent = new Agent({ model: "test/model", streamFn, tools: [reader] });
    const session = await openSession(store, { id: "parent" }, agent);
    const run = agent.prompt("Go");
    await working.promise;
    await copyAsInterrupted(store, ["parent", await findChild(store, "parent")]);
    agent.abort();
    await run;
    await session.close();
    const next = createAgent([reply("I see")], [], [reader]);
    await using _resumed = await openSession(store, { id: "parent copy" }, next);
    await next.continue();
    const text = JSON.stringify(next.state.messages);
    assertStringIncludes(text, "was interrupted while the agent");
  },
);

testStores(
  "sub-agent sessions: the report of one in the background arrives after a crash",
  async (store) => {
    const call = toolCall("explore", { prompt: "Look at a.ts", background: true });
    const childId = await interruptChild(store, call);
    const agent = createAgent([reply("I see")]);
    await using _session = await openSession(store, { id: "parent copy" }, agent);
    await agent.prompt("What now?");
    const text = JSON.stringify(agent.state.messages);
    assertStringIncludes(text, "was interrupted");
    assertStringIncludes(text, childId);
  },
);

testStores(
  "sub-agent sessions: one that another process runs is reported when it has ended",
  async (store) => {
    const call = toolCall("explore", { prompt: "Look at a.ts", background: true });
    const childId = await interruptChild(store, call);
    const child = await store.open(childId);
    const agent = createAgent([reply("Not yet"), reply("I see")]);
    await using session = await openSession(store, { id: "parent copy" }, agent);
    const readResults = async () =>
      selectType(await session.session.path(), "sub_agent_result").map(({ status }) => status);
    await agent.prompt("What now?");
    assertEquals(await readResults(), []);
    await child.close();
    await agent.prompt("And now?");
    assertEquals(await readResults(), ["interrupted"]);
  },
);

testStores(
  "sub-agent sessions: a report that waits for the end of a tool call survives a crash",
  async (store) => {
    const hang = defineTool({
      name: "hang",
      description: "Hangs.",
      parameters: { type: "object" },
      execute: (_args, { signal }) =>
        new Promise((resolve) => signal.addEventListener("abort", () => resolve("aborted"))),
    });
    const call = toolCall("explore", { prompt: "Look at a.ts", background: true });
    const own = [reply([call, toolCall("hang")])];
    const agent = createAgent(own, [reply("All is well")], [explore, hang]);
    const session = await openSession(store, { id: "parent" }, agent);
    const run = agent.prompt("Go");
    while (selectType(await session.session.path(), "sub_agent_result").length === 0) {
      await new Promise((resolve) => setTimeout(resolve)); // Lets the store read and write.
    }
    await session.session.flush();
    await copyAsInterrupted(store, ["parent"]);
    agent.abort();
    await run;
    await session.close();

    const next = createAgent([reply("I see"), reply("Good news")]);
    await using _resumed = await openSession(store, { id: "parent copy" }, next);
    await next.prompt("What now?");
    const text = JSON.stringify(next.state.messages);
    assertEquals(text.split("has finished. Its report:\\n\\nAll is well").length, 2);
  },
);

/** Returns a store whose sessions of sub-agents take until a promise resolves to close, and the closed ones. */
function delayChildren(
  store: SessionStore,
  mayClose: Promise<void>,
): { readonly delayed: SessionStore; readonly closed: string[] } {
  const closed: string[] = [];
  const create: SessionStore["create"] = async (options) => {
    const session = await store.create(options);
    if (!getSubAgentLink(session.header)) return session;
    const close = async () => {
      await mayClose;
      await session.close();
      closed.push(session.id);
    };
    return new Proxy(session, {
      get: (target, name) => {
        if (name === "close" || name === Symbol.asyncDispose) return close;
        const member: unknown = Reflect.get(target, name, target);
        return typeof member === "function" ? member.bind(target) : member;
      },
    });
  };
  const delayed: SessionStore = {
    create,
    open: (id, options) => store.open(id, options),
    list: (options) => store.list(options),
    search: (query, options) => store.search(query, options),
    delete: (id) => store.delete(id),
    deleteAll: (options) => store.deleteAll(options),
  };
  return { delayed, closed };
}

const nextTask = () => new Promise((resolve) => setTimeout(resolve));

testStores(
  "sub-agent sessions: close() waits for those of a run that was aborted, and of cancelled agents",
  async (store) => {
    for (const options of [{ background: true }, { detached: true }, {}]) {
      const working = createDeferred<void>();
      const mayClose = createDeferred<void>();
      const { delayed, closed } = delayChildren(store, mayClose.promise);
      const work = defineTool({
        name: "work",
        description: "Works, and ignores an abort.",
        parameters: { type: "object" },
        execute: () => {
          working.resolve();
          return new Promise<string>(() => {});
        },
      });
      const call = toolCall("explore", { prompt: "Look at a.ts", ...options });
      const script = [reply([call]), reply("I wait.")];
      const agent = createAgent(script, [reply([toolCall("work")])], [explore, work]);
      const session = await openSession(delayed, {}, agent);
      const run = agent.prompt("Go");
      await working.promise;
      for (const { cancel } of session.detachedAgents) cancel();
      agent.abort();
      await run;
      let isClosed = false;
      const closing = session.close().then(() => isClosed = true);
      for (let task = 0; task < 20; task++) await nextTask();
      assertEquals([isClosed, closed.length], [false, 0]);
      mayClose.resolve();
      await closing;
      assertEquals(closed.length, 1);
      const [result] = selectType(await readEntries(store, session.id), "sub_agent_result");
      assertEquals([result?.subAgentId, result?.status], [closed[0], "aborted"]);
    }
  },
);

testStores(
  "sub-agent sessions: close() does not wait for a detached agent that works, or during a run",
  async (store) => {
    for (const options of [{ detached: true }, {}]) {
      const working = createDeferred<void>();
      const mayEnd = createDeferred<string>();
      const work = defineTool({
        name: "work",
        description: "Works.",
        parameters: { type: "object" },
        execute: () => {
          working.resolve();
          return mayEnd.promise;
        },
      });
      const { delayed, closed } = delayChildren(store, Promise.resolve());
      const call = toolCall("explore", { prompt: "Look at a.ts", ...options });
      const own = [reply([call]), reply("I wait.")];
      const agent = createAgent(own, [reply([toolCall("work")]), reply("Done")], [explore, work]);
      const session = await openSession(delayed, {}, agent);
      const run = agent.prompt("Go");
      await working.promise;
      const { detachedAgents } = session;
      if (options.detached) await run;
      await session.close();
      assertEquals(closed.length, 0);
      mayEnd.resolve("done");
      await run;
      for (const { ended } of detachedAgents) await ended;
      while (closed.length === 0) await nextTask();
    }
  },
);
