import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { Agent } from "../../agent/agent.ts";
import type { AgentOptions } from "../../agent/options.ts";
import { BadRequestError } from "../../core/errors/errors.ts";
import type { JsonObject } from "../../core/json/json.ts";
import { userMessage } from "../../core/messages/message.ts";
import type { SessionEntry } from "../../core/sessions/session_entry.ts";
import { type AgentTool, defineTool, type SideEffect } from "../../core/tools/tool.ts";
import { checkStream } from "../../testing/event_grammar.ts";
import { assistantMessage, toolCall } from "../../testing/messages.ts";
import { reply } from "../../testing/script.ts";
import { scriptedStream } from "../../testing/scripted_stream.ts";
import { approvalGate } from "../../tools/approval/approval_gate.ts";
import { InMemorySessionStore } from "../storage/in_memory_store.ts";
import { forkSession } from "../transfer/fork.ts";
import { openSession } from "./open_session.ts";
import { recordSession } from "./record_session.ts";
import { resumeSession } from "./resume.ts";

const call = toolCall("lookup", { q: "visible" }, { id: "call_1" });

/** Creates a session that a crash interrupted while its only call ran. */
async function createInterruptedStore(
  { sideEffect = "none", starts = 1, args = { q: "journal" } }: {
    readonly sideEffect?: SideEffect;
    readonly starts?: number;
    readonly args?: JsonObject;
  } = {},
): Promise<InMemorySessionStore> {
  const store = new InMemorySessionStore();
  await using session = await store.create({ id: "s" });
  session.append({ type: "message", message: userMessage("go", 1) });
  const { id } = session.append({ type: "message", message: assistantMessage([call]) });
  for (let start = 0; start < starts; start++) {
    session.append({
      type: "tool_started",
      messageId: id,
      toolCallId: "call_1",
      name: "lookup",
      arguments: args,
      sideEffect,
      idempotencyKey: "run_1:call_1",
    });
  }
  return store;
}

interface Fixture {
  readonly agent: Agent;
  readonly ran: unknown[];
}

function createFixture(
  options: Partial<AgentOptions> = {},
  tool: Partial<AgentTool> = {},
): Fixture {
  const ran: unknown[] = [];
  const lookup: AgentTool = {
    ...defineTool({
      name: "lookup",
      description: "Looks something up.",
      parameters: { type: "object" },
      sideEffect: "none",
      execute: (args) => {
        ran.push(args);
        return "found";
      },
    }),
    ...tool,
  };
  const streamFn = scriptedStream([reply("Done."), reply("Again.")]);
  return { agent: new Agent({ model: "p/m", streamFn, tools: [lookup], ...options }), ran };
}

function getResultTexts({ state }: Agent): string[] {
  return state.messages.flatMap((message) =>
    message.role === "tool_result"
      ? message.content.map((block) => block.type === "text" ? block.text : "")
      : []
  );
}

async function readTypes(store: InMemorySessionStore, id = "s"): Promise<string[]> {
  await using session = await store.open(id, { access: "read" });
  return (await session.path()).map(({ type }: SessionEntry) => type);
}

Deno.test("agent.continue() after a resume: a call that runs again needs the approval of today, for the arguments of the reply", async () => {
  const requested: unknown[] = [];
  const { agent, ran } = createFixture({
    approvalMode: "smart",
    approve: ({ arguments: args }) => {
      requested.push(args);
      return { type: "denied", reason: "not today" };
    },
  });
  await using _session = await openSession(await createInterruptedStore(), { id: "s" }, agent);
  await agent.continue();
  assertEquals([requested, ran], [[{ q: "visible" }], []]);
  assertEquals(getResultTexts(agent), ["Tool call rejected by approval: not today"]);
});

Deno.test("agent.continue() after a resume: policies and the schema of today apply to a call that runs again", async () => {
  const refused = createFixture({
    policies: [{ name: "guard", preDispatch: () => ({ type: "skip", reason: "closed" }) }],
  });
  const changed = createFixture({}, {
    parameters: { type: "object", properties: { q: { type: "number" } } },
  });
  const expected = [
    [refused, "Tool call refused: closed"],
    [changed, 'Invalid arguments for "lookup"'],
  ] as const;
  for (const [{ agent, ran }, text] of expected) {
    await using _session = await openSession(await createInterruptedStore(), { id: "s" }, agent);
    await agent.continue();
    assertEquals(ran, []);
    assertStringIncludes(getResultTexts(agent)[0] ?? "", text);
  }
});

Deno.test("agent.continue() after a resume: an idempotent call does not run again with other arguments", async () => {
  const { agent, ran } = createFixture({}, { sideEffect: "idempotent" });
  const store = await createInterruptedStore({ sideEffect: "idempotent" });
  await using _session = await openSession(store, { id: "s" }, agent);
  await agent.continue();
  assertEquals(ran, []);
  assertStringIncludes(getResultTexts(agent)[0] ?? "", "outcome of this tool call is not known");
});

Deno.test("openSession() does not run a call again that was started three times", async () => {
  const limited = createFixture();
  await using _session = await openSession(
    await createInterruptedStore({ starts: 3 }),
    { id: "s" },
    limited.agent,
  );
  await limited.agent.continue();
  assertEquals(limited.ran, []);
  assertStringIncludes(getResultTexts(limited.agent)[0] ?? "", "started 3 times");
  const more = createFixture();
  const options = { id: "s", maxToolAttempts: 4 };
  const store = await createInterruptedStore({ starts: 3 });
  await using _more = await openSession(store, options, more.agent);
  await more.agent.continue();
  assertEquals(more.ran, [{ q: "visible" }]);
});

Deno.test("agent.continue() after a resume: the attempt is on disk before a call runs again", async () => {
  const store = await createInterruptedStore();
  let starts = 0;
  const { agent } = createFixture({}, {
    execute: async () => {
      starts = (await readTypes(store)).filter((type) => type === "tool_started").length;
      return "found";
    },
  });
  await using _session = await openSession(store, { id: "s" }, agent);
  await agent.continue();
  assertEquals(starts, 2);
});

Deno.test("agent.continue() after a resume emits the events of a turn without a model call", async () => {
  const { agent } = createFixture();
  await using _session = await openSession(await createInterruptedStore(), { id: "s" }, agent);
  const types: string[] = [];
  for await (const event of checkStream(agent.continueStream())) {
    types.push(event.type === "turn_end" ? `turn_end ${event.reason}` : event.type);
  }
  assertEquals(types.slice(0, 7), [
    "agent_start",
    "turn_start",
    "tool_execution_start",
    "tool_execution_end",
    "message_start",
    "message_end",
    "turn_end tools_executed",
  ]);
});

Deno.test("agent.prompt() after a resume answers an interrupted call instead of running it again", async () => {
  const { agent, ran } = createFixture();
  await using _session = await openSession(await createInterruptedStore(), { id: "s" }, agent);
  await agent.prompt("something else");
  assertEquals(ran, []);
  assertStringIncludes(getResultTexts(agent)[0] ?? "", "outcome of this tool call is not known");
});

Deno.test("ResumedSession.into() returns the same recording when it is called again, and rejects another agent", async () => {
  const store = await createInterruptedStore();
  const { agent, ran } = createFixture();
  const resumed = await resumeSession(store, "s");
  const [first, second] = await Promise.all([resumed.into(agent), resumed.into(agent)]);
  assert(first === second);
  await agent.continue();
  assert(first === await resumed.into(agent));
  assertEquals(ran.length, 1);
  await assertRejects(() => resumed.into(createFixture().agent), BadRequestError, "another agent");
  await first.stop();
});

Deno.test("ResumedSession.into() keeps the tools that the session did not have", async () => {
  const store = await createInterruptedStore();
  const session = await store.open("s");
  session.append({ type: "tools_changed", names: ["lookup", "gone"] });
  await session.close();
  const { agent } = createFixture();
  agent.setTools([...agent.state.tools, { ...agent.state.tools[0] as AgentTool, name: "new" }]);
  await using opened = await openSession(store, { id: "s" }, agent);
  assertEquals(opened.missingTools, ["gone"]);
  assertEquals(agent.state.tools.map(({ name }) => name), ["lookup", "new"]);
});

const pay = toolCall("pay", { euros: 500 }, { id: "pay_1" });
const look = toolCall("look", {}, { id: "look_1" });

/** Runs a batch with a pending approval in one process; `open` continues the session in another one. */
async function createPendingStore() {
  const store = new InMemorySessionStore();
  const ran: string[] = [];
  const requested: string[] = [];
  const steps = [reply([look, pay]), reply("Done."), reply("Never mind.")];
  const streamFn = scriptedStream(steps);
  const open = async (id = "s") => {
    const tools = ["pay", "look"].map((name) =>
      defineTool({
        name,
        description: name,
        parameters: { type: "object" },
        execute: (args) => {
          ran.push(`${name} ${JSON.stringify(args)}`);
          return `${name} done`;
        },
      })
    );
    const agent = new Agent({
      model: "p/m",
      streamFn,
      tools,
      approve: ({ name }) => {
        requested.push(name);
        return name === "look" ? true : { type: "pending" };
      },
    });
    return { agent, session: await openSession(store, { id }, agent) };
  };
  const { agent, session } = await open();
  const result = await agent.prompt("Pay");
  await session.close();
  return { store, ran, requested, open, result };
}

Deno.test("openSession(): approvals that were pending are pending again in another process [A147]", async () => {
  const { ran, requested, open, result } = await createPendingStore();
  const { agent, session } = await open();
  const pending = [{ toolCallId: "pay_1", name: "pay", arguments: { euros: 500 } }];
  assertEquals(result.pendingApprovals, pending);
  assertEquals([session.pendingApprovals, agent.state.pendingApprovals], [pending, pending]);
  assertEquals(session.isInterrupted, false);
  assertEquals(ran, []);
  const events = checkStream(agent.continueStream({ approvals: { pay_1: true } }));
  for await (const _event of events) { /* Checks the order of the events. */ }
  assertEquals(ran, ["look {}", 'pay {"euros":500}']);
  assertEquals(getResultTexts(agent), ["look done", "pay done"]);
  // The log is not proof that the other call was approved, so that it is decided again.
  assertEquals(requested, ["look", "pay", "look"]);
  const approvals = await session.session.path({ types: ["approval"] });
  assertEquals(
    approvals.map((entry) => entry.type === "approval" && entry.name),
    ["look", "pay", "look"],
  );
  await session.close();
  const again = await open();
  assertEquals(again.agent.state.pendingApprovals, []);
  await again.session.close();
});

Deno.test("openSession(): a prompt answers pending approvals of another process as not approved", async () => {
  const { ran, open } = await createPendingStore();
  const { agent, session } = await open();
  await agent.prompt("Never mind");
  assertEquals(ran, []);
  assertEquals(new Set(getResultTexts(agent)).size, 2);
  assertStringIncludes(getResultTexts(agent)[1] ?? "", "not approved");
  await session.close();
});

Deno.test("openSession(): calls of a batch that crashed after its approval are not pending again", async () => {
  const { store, open } = await createPendingStore();
  const crashed = await store.open("s");
  const [, replyEntry] = await crashed.path({ types: ["message"] });
  crashed.append({
    type: "tool_started",
    messageId: replyEntry?.id ?? null,
    toolCallId: "pay_1",
    name: "pay",
    arguments: { euros: 500 },
    sideEffect: "once",
    idempotencyKey: "k",
  });
  await crashed.close();
  const { agent, session } = await open();
  assertEquals([agent.state.pendingApprovals, session.isInterrupted], [[], true]);
  const [looked, paid] = getResultTexts(agent);
  assertStringIncludes(looked ?? "", "was not run");
  assertStringIncludes(paid ?? "", "outcome of this tool call is not known");
  await session.close();
});

Deno.test("forkSession() copies neither queued messages nor pending approvals", async () => {
  const { store, open } = await createPendingStore();
  const { agent, session } = await open();
  agent.followUp("deploy");
  await session.close();
  await (await forkSession(store, "s", { id: "fork" })).close();
  const fork = await open("fork");
  assertEquals(fork.agent.hasPendingMessages, false);
  assertEquals(fork.agent.state.pendingApprovals, []);
  await fork.session.close();
  const original = await open();
  assertEquals(original.agent.queued.followUp.length, 1);
  assertEquals(original.agent.state.pendingApprovals.length, 1);
  await original.session.close();
});

Deno.test("openSession() restores the mode and the grants of the agent's approval gate", async () => {
  const store = new InMemorySessionStore();
  const open = async () => {
    const gate = approvalGate({ ask: () => ({ type: "approved", scope: "tool" }) });
    const fixture = createFixture({
      approve: gate,
      streamFn: scriptedStream([reply([call]), reply("Done.")]),
    }, { readOnly: false });
    return { gate, ...fixture, session: await openSession(store, { id: "s" }, fixture.agent) };
  };
  const first = await open();
  await first.agent.prompt("go");
  first.gate.trust({ type: "prefix", name: "bash", prefix: "git" });
  first.gate.mode = "always";
  await first.session.close();
  const second = await open();
  assertEquals(second.gate.mode, "always");
  assertEquals(second.gate.trusted, [
    { type: "tool", name: "lookup" },
    { type: "prefix", name: "bash", prefix: "git" },
  ]);
  second.gate.clearTrust();
  await second.session.close();
  const third = await open();
  assertEquals([third.gate.mode, third.gate.trusted], ["always", []]);
  await third.session.close();
});

Deno.test("openSession() keeps the mode and the grants of the gate in its options, also of a new session", async () => {
  const store = new InMemorySessionStore();
  const open = async () => {
    const gate = approvalGate({ mode: "smart" });
    const { agent } = createFixture({ approve: (request) => gate(request) });
    const session = await openSession(store, { id: "s", approvalGate: gate }, agent);
    return { gate, agent, session };
  };
  const first = await open();
  await first.agent.prompt("go");
  first.gate.mode = "always";
  first.gate.trust({ type: "tool", name: "lookup" });
  await first.session.close();
  const second = await open();
  assertEquals(second.gate.mode, "always");
  assertEquals(second.gate.trusted, [{ type: "tool", name: "lookup" }]);
  await second.session.close();
});

Deno.test("recordSession() records the system prompt and the messages of sub-agents without a session", async () => {
  const ask = defineTool({
    name: "ask",
    description: "Asks.",
    parameters: { type: "object", properties: { prompt: { type: "string" } } },
    execute: async ({ prompt = "" }, { run, onEvent }) => {
      const streamFn = scriptedStream([reply("42")]);
      const stream = new Agent({ model: "p/child", streamFn, parent: run }).promptStream(prompt);
      for await (const event of stream) await onEvent(event);
      return await stream.text();
    },
  });
  const { agent } = createFixture({
    systemPrompt: "Be brief.",
    streamFn: scriptedStream([
      reply([toolCall("ask", { prompt: "6 * 7?" }, { id: "ask_1" })]),
      reply("Done."),
    ]),
    tools: [ask],
  });
  const store = new InMemorySessionStore();
  await using recording = await recordSession(agent, store);
  await agent.prompt("go");
  const types = ["system_prompt_changed", "sub_agent_message"] as const;
  const entries = await recording.session.path({ types });
  assertEquals(
    entries.map((entry) =>
      entry.type === "system_prompt_changed"
        ? entry.systemPrompt
        : entry.type === "sub_agent_message" && [entry.path, entry.message.role]
    ),
    ["Be brief.", [["ask_1"], "user"], [["ask_1"], "assistant"]],
  );
});

Deno.test("openSession() does not loosen the mode of the approval gate", async () => {
  const modes = ["always", "smart", "bypassed"] as const;
  for (const stored of modes) {
    for (const mode of modes) {
      const store = new InMemorySessionStore();
      const session = await store.create({ id: "s" });
      session.append({ type: "approval_mode", mode: stored });
      await session.close();
      const gate = approvalGate({ mode });
      const { agent } = createFixture({ approve: gate });
      await using _session = await openSession(store, { id: "s" }, agent);
      assertEquals(gate.mode, modes[Math.min(modes.indexOf(stored), modes.indexOf(mode))]);
    }
  }
});

Deno.test("openSession() ignores an approval mode and a thinking level of a later version", async () => {
  const store = new InMemorySessionStore();
  const session = await store.create({ id: "s" });
  session.append({ type: "approval_mode", mode: "psychic" as "smart" });
  const model = { provider: "p", modelId: "next", thinkingLevel: "galactic" as "high" };
  session.append({ type: "model_changed", model });
  await session.close();
  const gate = approvalGate({ mode: "smart" });
  const { agent } = createFixture({ approve: gate });
  await using _session = await openSession(store, { id: "s" }, agent);
  assertEquals(gate.mode, "smart");
  assertEquals(agent.state.model, { ...model, thinkingLevel: "off" });
});

Deno.test("openSession(): approvals are pending again after a crash in the postLoop policies", async () => {
  const { store, open } = await createPendingStore();
  const source = await store.open("s", { access: "read" });
  const entries = await source.path();
  const crash = entries.findIndex(({ type }) => type === "run_ended");
  assertEquals(entries[crash - 1]?.type, "approvals_pending");
  await source.close();
  const created = await store.create({ id: "crashed", entries: entries.slice(0, crash) });
  await created.close();
  const { agent, session } = await open("crashed");
  assertEquals(agent.state.pendingApprovals.map(({ name }) => name), ["pay"]);
  await session.close();
});

Deno.test("recordSession() has pending approvals on disk when their turn ends", async () => {
  const store = new InMemorySessionStore();
  const stored: string[][] = [];
  const { agent } = createFixture({
    streamFn: scriptedStream([reply([pay])]),
    approve: () => ({ type: "pending" }),
    policies: [{
      name: "observer",
      postLoop: async () => {
        stored.push(await readTypes(store));
      },
    }],
    tools: [defineTool({ name: "pay", description: "Pays.", parameters: {}, execute: () => "" })],
  });
  await using _session = await openSession(store, { id: "s" }, agent);
  await agent.prompt("Pay");
  assertEquals(stored.map((types) => types.includes("approvals_pending")), [true]);
});

Deno.test("openSession(): a pending approval whose call the log has lost is not pending", async () => {
  const store = new InMemorySessionStore();
  const created = await store.create({ id: "s" });
  created.append({ type: "message", message: userMessage("go", 1) });
  const { id } = created.append({ type: "message", message: assistantMessage([call]) });
  const pendingApprovals = [{ toolCallId: "gone", name: "lookup", arguments: {} }];
  created.append({ type: "approvals_pending", messageId: id, pendingApprovals });
  await created.close();
  const { agent } = createFixture();
  await using session = await openSession(store, { id: "s" }, agent);
  assertEquals([session.pendingApprovals, agent.state.pendingApprovals], [[], []]);
  assert(session.isInterrupted);
});

Deno.test("recordSession() records arguments that are nested as deeply as the loop allows", async () => {
  const args = JSON.parse(`${'{"q":'.repeat(200)}1${"}".repeat(200)}`);
  const { agent, ran } = createFixture({
    streamFn: scriptedStream([reply([toolCall("lookup", args)]), reply("Done.")]),
  }, { parameters: {} });
  await using session = await openSession(new InMemorySessionStore(), {}, agent);
  const result = await agent.prompt("go");
  assertEquals([result.stopReason, ran.length, session.session.damage], ["stop", 1, []]);
});
