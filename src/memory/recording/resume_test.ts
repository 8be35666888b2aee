import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { Agent } from "../../agent/agent.ts";
import type { AgentOptions } from "../../agent/options.ts";
import type { RunOptions } from "../../agent/run_options.ts";
import { AlreadyRunningError, SessionError } from "../../core/errors/errors.ts";
import { repairHistory } from "../../core/messages/history.ts";
import { type AgentMessage, userMessage } from "../../core/messages/message.ts";
import type { Session } from "../../core/sessions/session.ts";
import type { SessionEntryBody } from "../../core/sessions/session_entry.ts";
import { type AgentTool, defineTool, type SideEffect } from "../../core/tools/tool.ts";
import { assistantMessage, text, toolCall, toolResultMessage } from "../../testing/messages.ts";
import { reply, type ScriptedStep } from "../../testing/script.ts";
import { scriptedStream } from "../../testing/scripted_stream.ts";
import { slidingWindow } from "../context/sliding_window.ts";
import { InMemorySessionStore } from "../storage/in_memory_store.ts";
import { recordSession } from "./record_session.ts";
import { type ResumeIntoOptions, resumeSession } from "./resume.ts";

function createMessageEntry(message: AgentMessage): SessionEntryBody {
  return { type: "message", message };
}

const call = toolCall("pay", { amount: 5 }, { id: "call_1" });
const secondCall = toolCall("pay", { amount: 7 }, { id: "call_2" });

function createToolStarted(
  messageId: string,
  sideEffect: SideEffect = "once",
  toolCallId = "call_1",
) {
  return {
    type: "tool_started",
    messageId,
    toolCallId,
    name: "pay",
    arguments: { amount: 5 },
    sideEffect,
    idempotencyKey: `run_1:${toolCallId}`,
  } as const;
}

function createToolFinished(messageId: string, toolCallId = "call_1") {
  const result = { content: [text("paid")], details: { receipt: 1 } };
  return {
    type: "tool_finished",
    messageId,
    toolCallId,
    name: "pay",
    result,
    isError: false,
  } as const;
}

/** Creates a session that was interrupted after a reply with two tool calls and the entries of `write`. */
async function createInterruptedStore(
  write: (session: Session, messageId: string) => void,
): Promise<InMemorySessionStore> {
  const store = new InMemorySessionStore();
  await using session = await store.create({ id: "s" });
  session.append(createMessageEntry(userMessage("pay twice", 1)));
  const { id } = session.append(createMessageEntry(assistantMessage([call, secondCall])));
  write(session, id);
  return store;
}

interface RecordedCall {
  readonly args: unknown;
  readonly key: string;
}

function createPayTool(ran: RecordedCall[], overrides: Partial<AgentTool> = {}): AgentTool {
  return {
    ...defineTool({
      name: "pay",
      description: "Pays.",
      parameters: { type: "object" },
      execute: (args, { idempotencyKey }) => {
        ran.push({ args, key: idempotencyKey });
        return "paid again";
      },
    }),
    ...overrides,
  };
}

interface ResumeOutcome {
  readonly agent: Agent;
  readonly ran: readonly RecordedCall[];
  readonly results: readonly string[];
}

async function resumeAndContinue(
  store: InMemorySessionStore,
  { tool, steps = [reply("Done.")], agent: agentOptions, run, ...options }: ResumeIntoOptions & {
    readonly tool?: Partial<AgentTool>;
    readonly steps?: readonly ScriptedStep[];
    readonly agent?: Partial<AgentOptions>;
    readonly run?: RunOptions;
  } = {},
): Promise<ResumeOutcome> {
  const ran: RecordedCall[] = [];
  const agent = new Agent({
    model: "p/m",
    streamFn: scriptedStream(steps),
    tools: [createPayTool(ran, tool)],
    ...agentOptions,
  });
  const resumed = await resumeSession(store, "s");
  await using _recording = await resumed.into(agent, { now: () => 9, ...options });
  assertEquals(ran, []);
  await agent.continue(run);
  const results = agent.state.messages.flatMap((message) =>
    message.role === "tool_result" ? [`${message.isError ? "error: " : ""}${getText(message)}`] : []
  );
  assertEquals(repairHistory(agent.state.messages).repairs, []);
  return { agent, ran, results };
}

function getText(message: AgentMessage): string {
  if (message.role === "custom") return message.type;
  return message.content.map((block) => block.type === "text" ? block.text.slice(0, 45) : "").join(
    "",
  );
}

const UNKNOWN = "error: The outcome of this tool call is not known: i";
const NOT_RUN = "error: This tool call was not run: the session was i";

Deno.test("ResumedSession.into(): a finished call keeps its result, a call that did not start gets an error result", async () => {
  const store = await createInterruptedStore((session, id) => {
    session.append(createToolStarted(id));
    session.append(createToolFinished(id));
  });
  const { results, ran } = await resumeAndContinue(store);
  assertEquals(results, ["paid", NOT_RUN]);
  assertEquals(ran, []);
});

Deno.test("ResumedSession.into(): a started call with side effects is not run again and gets an error result", async () => {
  const store = await createInterruptedStore((session, id) =>
    session.append(createToolStarted(id))
  );
  const { results, ran } = await resumeAndContinue(store);
  assertEquals(results, [UNKNOWN, NOT_RUN]);
  assertEquals(ran, []);
});

Deno.test("agent.continue() after into(): an idempotent call runs again with the same arguments and key", async () => {
  for (const sideEffect of ["idempotent", "none"] as const) {
    const store = await createInterruptedStore((session, id) =>
      session.append(createToolStarted(id, sideEffect))
    );
    const { results, ran } = await resumeAndContinue(store, { tool: { sideEffect } });
    assertEquals(results, ["paid again", NOT_RUN]);
    assertEquals(ran, [{ args: { amount: 5 }, key: "run_1:call_1" }]);
    await using session = await store.open("s", { access: "read" });
    const journal = (await session.path()).flatMap((entry) =>
      entry.type === "tool_started" || entry.type === "tool_finished"
        ? [`${entry.type} ${entry.toolCallId}`]
        : []
    );
    assertEquals(journal, [
      "tool_started call_1",
      "tool_started call_2",
      "tool_finished call_2",
      "tool_started call_1",
      "tool_finished call_1",
    ]);
  }
});

Deno.test("ResumedSession.into(): a call runs again only when both the recorded and the current tool allow it", async () => {
  const wasIdempotent = await createInterruptedStore((session, id) =>
    session.append(createToolStarted(id, "idempotent"))
  );
  assertEquals((await resumeAndContinue(wasIdempotent, { tool: { sideEffect: "once" } })).ran, []);
  const wasOnce = await createInterruptedStore((session, id) =>
    session.append(createToolStarted(id, "once"))
  );
  assertEquals((await resumeAndContinue(wasOnce, { tool: { sideEffect: "none" } })).ran, []);
  const withoutTool = await createInterruptedStore((session, id) =>
    session.append(createToolStarted(id, "idempotent"))
  );
  assertEquals((await resumeAndContinue(withoutTool, { tool: { name: "other" } })).results, [
    UNKNOWN,
    NOT_RUN,
  ]);
});

Deno.test("ResumedSession.into() settles calls by the same rules when an earlier resume was interrupted", async () => {
  const store = await createInterruptedStore((session, id) => {
    session.append(createToolStarted(id, "idempotent"));
    session.append(createToolStarted(id, "idempotent"));
    session.append(createToolFinished(id));
  });
  const { results, ran } = await resumeAndContinue(store, { tool: { sideEffect: "idempotent" } });
  assertEquals([results, ran], [["paid", NOT_RUN], []]);
});

Deno.test("ResumedSession.into(): a call that runs again may fail, time out or be aborted", async () => {
  const hanging = () => new Promise<never>(() => {});
  const cases: [Partial<AgentTool>, RunOptions, string][] = [
    [{ execute: () => Promise.reject(new Error("no money")) }, {}, "error: no money"],
    [{ execute: hanging, timeoutMs: 5 }, {}, 'error: The tool "pay" timed out after 5 ms'],
    [
      { execute: hanging },
      { signal: AbortSignal.abort() },
      "error: tool call cancelled: run aborted",
    ],
  ];
  for (const [tool, run, expected] of cases) {
    const store = await createInterruptedStore((session, id) =>
      session.append(createToolStarted(id, "none"))
    );
    const { results } = await resumeAndContinue(store, {
      tool: { ...tool, sideEffect: "none" },
      run,
    });
    assertEquals(results[0], expected);
  }
});

Deno.test("ResumedSession.into(): a call that runs again gets the arguments as the tool validates them now", async () => {
  const createStore = () =>
    createInterruptedStore((session, id) => session.append(createToolStarted(id, "none")));
  const ran: unknown[] = [];
  const execute = (args: unknown) => (ran.push(args), Promise.resolve("paid again"));
  const own = { sideEffect: "none", execute } as const;
  const validated = await resumeAndContinue(await createStore(), {
    tool: { ...own, validate: ({ amount }) => ({ valid: true, value: { amount, date: "today" } }) },
  });
  assertEquals([validated.results[0], ran], ["paid again", [{ amount: 5, date: "today" }]]);
  const rejecting: readonly Partial<AgentTool>[] = [
    { parameters: { type: "object", properties: { amount: { type: "string" } } } },
    { validate: () => ({ valid: false, errors: [{ path: "/amount", message: "is too much" }] }) },
  ];
  for (const tool of rejecting) {
    const { agent, results } = await resumeAndContinue(await createStore(), {
      tool: { ...own, ...tool },
    });
    assertStringIncludes(results[0] ?? "", 'error: Invalid arguments for "pay":\n');
    const result = agent.state.messages.find(({ role }) => role === "tool_result");
    assertStringIncludes(JSON.stringify(result), "/amount");
  }
  assertEquals(ran.length, 1);
});

Deno.test("ResumedSession.into() keeps the usage and cost of finished calls and of calls that run again", async () => {
  const usage = { input: 3, output: 4, cacheRead: 0, cacheWrite: 0, total: 7 };
  const cost = { input: 1, output: 2, cacheRead: 0, cacheWrite: 0, total: 3 };
  const result = { content: [text("paid")], usage, cost };
  const store = await createInterruptedStore((session, id) => {
    session.append({ ...createToolStarted(id, "none") });
    session.append({ ...createToolFinished(id, "call_2"), result });
  });
  const { agent } = await resumeAndContinue(store, {
    tool: { sideEffect: "none", execute: () => Promise.resolve(result) },
  });
  const spending = agent.state.messages.flatMap((message) =>
    message.role === "tool_result" ? [[message.usage, message.cost]] : []
  );
  assertEquals(spending, [[usage, cost], [usage, cost]]);
});

Deno.test("ResumedSession.into() keeps results that are already in the conversation", async () => {
  const store = await createInterruptedStore((session, id) => {
    for (const toolCallId of ["call_1", "call_2"]) {
      session.append(createToolStarted(id, "once", toolCallId));
      session.append(createToolFinished(id, toolCallId));
    }
    session.append(createMessageEntry(toolResultMessage(call, "earlier result")));
  });
  assertEquals((await resumeAndContinue(store)).results, ["earlier result", "paid"]);
});

Deno.test("ResumedSession.into(): a started call does not run again after one whose result is in the conversation", async () => {
  const store = await createInterruptedStore((session, id) => {
    session.append(createToolStarted(id, "none", "call_1"));
    session.append(createToolFinished(id, "call_1"));
    session.append(createMessageEntry(toolResultMessage(call, "earlier result")));
    session.append(createToolStarted(id, "none", "call_2"));
  });
  const { results, ran } = await resumeAndContinue(store, { tool: { sideEffect: "none" } });
  assertEquals([results[0], ran], ["earlier result", []]);
  assertStringIncludes(results[1] ?? "", "The outcome of this tool call is not known");
});

Deno.test("resumeSession(): a call that finished on another branch is not run again", async () => {
  const store = await createInterruptedStore((session, id) => {
    session.append(createToolStarted(id));
    session.append(createToolFinished(id));
    session.moveLeaf(id);
  });
  const resumed = await resumeSession(store, "s");
  assertEquals(resumed.pendingCalls.map(({ type }) => type), ["finished", "not_started"]);
  assertEquals(resumed.isInterrupted, false);
  await resumed.session.close();
});

Deno.test("resumeSession() ignores calls of other replies with the same ids", async () => {
  const store = new InMemorySessionStore();
  const session = await store.create({ id: "s" });
  const before = session.append(createMessageEntry(userMessage("go", 1)));
  const firstReply = session.append(createMessageEntry(assistantMessage([call])));
  session.append(createToolStarted(firstReply.id));
  session.append(createToolFinished(firstReply.id));
  session.moveLeaf(before.id);
  session.append(createMessageEntry(assistantMessage([call])));
  await session.close();
  const resumed = await resumeSession(store, "s");
  assertEquals(resumed.pendingCalls.map(({ type }) => type), ["not_started"]);
  await resumed.session.close();
});

Deno.test("resumeSession() restores the history of a resumed session", async () => {
  const store = await createInterruptedStore((session, id) =>
    session.append(createToolStarted(id))
  );
  const { agent } = await resumeAndContinue(store);
  const resumed = await resumeSession(store, "s");
  assertEquals(resumed.messages, agent.state.messages);
  assertEquals([resumed.pendingCalls, resumed.repairs, resumed.isInterrupted], [[], [], false]);
  await resumed.session.close();
});

Deno.test("resumeSession() returns a valid history without an agent", async () => {
  const store = await createInterruptedStore((session, id) =>
    session.append(createToolStarted(id))
  );
  const { messages, pendingCalls, session, isInterrupted } = await resumeSession(store, "s");
  assertEquals(repairHistory(messages).repairs, []);
  assertEquals(messages.length, 4);
  assertEquals(pendingCalls.map(({ type }) => type), ["started", "not_started"]);
  assertEquals(isInterrupted, true);
  await session.close();
});

Deno.test("resumeSession() restores model, tools, queues, plan, plan mode and approvals", async () => {
  const store = new InMemorySessionStore();
  const session = await store.create({ id: "s" });
  const model = { provider: "p", modelId: "big", thinkingLevel: "high" } as const;
  const queuedMessage = { id: "q1", message: { ...userMessage("later", 3), id: "m1" } };
  const decision = { type: "approved", scope: "prefix", prefix: "git " } as const;
  const bodies: SessionEntryBody[] = [
    { type: "model_changed", model },
    { type: "tools_changed", names: ["pay", "gone"] },
    { type: "approval_mode", mode: "smart" },
    { type: "plan_mode", active: true },
    { type: "plan_created", plan: "# Old", steps: ["x"] },
    { type: "plan_created", plan: "# Plan", steps: ["one", "two", "three"] },
    { type: "plan_step", step: 0, state: "complete" },
    { type: "plan_step", step: 1, state: "in_progress" },
    { type: "approval", toolCallId: "c", name: "pay", decision: { type: "approved" } },
    { type: "approval", toolCallId: "c", name: "bash", decision },
    { type: "approval", toolCallId: "c", name: "bash", decision: { type: "denied" } },
    { type: "queue_changed", queued: { steering: [], followUp: [queuedMessage] } },
  ];
  for (const body of bodies) session.append(body);
  await session.close();

  const agent = new Agent({
    model: "p/small",
    streamFn: scriptedStream([]),
    tools: [createPayTool([]), createPayTool([], { name: "look", readOnly: true })],
  });
  agent.steer("forgotten");
  const resumed = await resumeSession(store, "s");
  assertEquals(resumed.approvals, [{ name: "bash", decision }]);
  assertEquals([resumed.approvalMode, resumed.planMode], ["smart", true]);
  assertEquals(resumed.plan, {
    plan: "# Plan",
    steps: [
      { step: "one", state: "complete" },
      { step: "two", state: "in_progress" },
      { step: "three", state: "pending" },
    ],
  });
  await using recording = await resumed.into(agent);
  assertEquals(recording.missingTools, ["gone"]);
  assertEquals(agent.state.model, model);
  assertEquals(agent.state.tools.map(({ name }) => name), ["look"]);
  assertEquals(agent.queued.steering, []);
  assertEquals(agent.queued.followUp.map(({ message }) => message), [queuedMessage.message]);
});

Deno.test("resumeSession() restores messages that were dequeued and not delivered", async () => {
  const [one, two, three] = ["one", "two", "three"].map((text, number) => ({
    id: text,
    message: userMessage(text, number),
  }));
  assert(one && two && three);
  const entry: SessionEntryBody = {
    type: "queue_changed",
    queued: { steering: [three], followUp: [] },
    delivering: { steering: [one, two], followUp: [] },
  };
  const cases: [SessionEntryBody[], string[]][] = [
    [[], ["one", "two", "three"]],
    // The prompt of the run that dequeued them comes before them.
    [[createMessageEntry(userMessage("next", 0))], ["one", "two", "three"]],
    [[createMessageEntry(userMessage("next", 0)), createMessageEntry(one.message)], [
      "two",
      "three",
    ]],
    [[createMessageEntry(one.message)], ["two", "three"]],
    [[createMessageEntry(one.message), createMessageEntry(two.message)], ["three"]],
    [[createMessageEntry(one.message), createMessageEntry(assistantMessage("yes"))], ["three"]],
  ];
  for (const [after, expected] of cases) {
    const store = new InMemorySessionStore();
    const session = await store.create({ id: "s" });
    for (const body of [createMessageEntry(userMessage("go", 0)), entry, ...after]) {
      session.append(body);
    }
    await session.close();
    const resumed = await resumeSession(store, "s");
    assertEquals(resumed.queued.steering.map(({ id }) => id), expected);
    await resumed.session.close();
  }
});

Deno.test("ResumedSession.into() restores a compaction", async () => {
  const store = new InMemorySessionStore();
  const session = await store.create({ id: "s" });
  const ids = ["one", "two", "three", "four"].map((text) =>
    session.append(createMessageEntry(userMessage(text, 1))).id
  );
  session.append({
    type: "compaction",
    firstDroppedId: ids[1] ?? null,
    lastDroppedId: ids[2] ?? null,
    droppedCount: 2,
    tokensBefore: 9,
    tokensAfter: 5,
    summary: "two and three",
  });
  await session.close();
  const transform = slidingWindow({ contextWindow: 1000 });
  const streamFn = scriptedStream([reply("ok")]);
  const agent = new Agent({ model: "p/m", streamFn, transformContext: transform });
  const resumed = await resumeSession(store, "s");
  assertEquals(resumed.cut, { from: 1, to: 3, summary: "two and three" });
  await using _recording = await resumed.into(agent, { transform });
  await agent.continue();
  assertEquals(streamFn.calls[0]?.context.messages.map(getText), [
    "one",
    "Summary of the conversation so far:\n\ntwo and ",
    "four",
  ]);
});

Deno.test("resumeSession() resumes a leaf or a fork; a forked session may be open elsewhere", async () => {
  const store = new InMemorySessionStore();
  const agent = new Agent({ model: "p/m", streamFn: scriptedStream([reply("one"), reply("two")]) });
  const recording = await recordSession(agent, store, { id: "s" });
  await agent.prompt("first");
  const leaf = recording.session.leafId;
  await agent.prompt("second");
  await assertRejects(() => resumeSession(store, "s"), SessionError, "is open in");
  const fork = await resumeSession(store, "s", { leaf, fork: "other" });
  assertEquals([fork.session.id, fork.messages.length, fork.isInterrupted], ["other", 2, false]);
  await fork.session.close();
  const complete = await resumeSession(store, "s", { fork: true });
  assertEquals(complete.messages.length, 4);
  await complete.session.close();
  await recording.stop();

  const rewound = await resumeSession(store, "s", { leaf });
  assertEquals(rewound.messages.length, 2);
  await rewound.session.close();
  const reopened = await resumeSession(store, "s");
  assertEquals(reopened.messages.length, 2);
  await reopened.session.close();
  await assertRejects(() => resumeSession(store, "s", { leaf: "nowhere" }), SessionError);
  await (await store.open("s")).close();
});

Deno.test("ResumedSession.into() rejects while a run is active", async () => {
  const store = await createInterruptedStore(() => {});
  const agent = new Agent({ model: "p/m", streamFn: scriptedStream([reply("one")]) });
  const running = agent.prompt("go");
  const resumed = await resumeSession(store, "s");
  await assertRejects(() => resumed.into(agent), AlreadyRunningError);
  await running;
  await resumed.session.close();
});
