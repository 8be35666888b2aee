import { assertEquals, assertRejects } from "@std/assert";
import { Agent } from "../agent/agent.ts";
import type { AgentOptions } from "../agent/options.ts";
import type { AgentEvent } from "../core/events/event.ts";
import type { Policy } from "../core/hooks/policy.ts";
import { type PromptInput, userMessage } from "../core/messages/message.ts";
import { modelSpec } from "../core/models/model.ts";
import { checkStream, findViolation } from "./event_grammar.ts";
import { fakeTool } from "./fake_tool.ts";
import { assistantMessage, text, thinking, toolCall } from "./messages.ts";
import { endWithoutTerminal, fail, hang, reply, type ScriptedStep } from "./script.ts";
import { scriptedStream } from "./scripted_stream.ts";

/** A scripted run. */
interface Scenario {
  readonly steps: readonly ScriptedStep[];
  readonly options?: Partial<AgentOptions>;
  readonly prompt?: PromptInput;
  /** Called with each event; may steer or abort. */
  readonly onEvent?: (event: AgentEvent, agent: Agent) => void;
  /** Starts a second run. Default: none. */
  readonly next?: (agent: Agent) => ReadableStream<AgentEvent>;
}

const twoCalls = reply([
  thinking("Hm"),
  text("Both"),
  toolCall("slow", { n: 1 }),
  toolCall("quick"),
]);
const done = reply("All done");
const stuck = fakeTool({ name: "slow", delayMs: Infinity });
const uncancellable = fakeTool({ name: "slow", delayMs: Infinity, ignoresSignal: true });
const quick = fakeTool({ name: "quick" });
const throttled = fail("model_throttled", "slow down", { after: "Well, " });
const note = userMessage("By the way", 0);

function createPolicyOptions(hooks: Omit<Policy, "name">): Partial<AgentOptions> {
  return { policies: [{ name: "test", ...hooks }] };
}

function abortOn(type: AgentEvent["type"]): Pick<Scenario, "onEvent"> {
  return { onEvent: (event, agent) => event.type === type && agent.abort("enough") };
}

const pendingOptions: Partial<AgentOptions> = {
  approve: ({ name }) => name === "slow" ? { type: "pending" } : true,
};
const assistant = new Agent({
  model: "test/model",
  streamFn: scriptedStream([twoCalls, done]),
  tools: [fakeTool({ name: "slow" }), quick],
});

const scenarios: Record<string, Scenario> = {
  "a plain reply": { steps: [done] },
  "tools": { steps: [twoCalls, done] },
  "an unknown tool": { steps: [reply([toolCall("nothing"), toolCall("quick")]), done] },
  "refused calls": {
    steps: [twoCalls, done],
    options: { approve: ({ name }) => name === "slow" },
  },
  "a sequential tool": {
    steps: [reply([toolCall("slow"), toolCall("alone"), toolCall("quick")]), done],
    options: {
      tools: [fakeTool({ name: "slow" }), fakeTool({ name: "alone", sequential: true }), quick],
    },
  },
  "calls with the same concurrency key": {
    steps: [reply([toolCall("keyed"), toolCall("keyed"), toolCall("quick")]), done],
    options: {
      tools: [fakeTool({ name: "keyed", delayMs: 1, concurrencyKey: () => "key" }), quick],
    },
  },
  "calls with the same id": {
    steps: [reply([toolCall("slow", {}, { id: "a" }), toolCall("quick", {}, { id: "a" })]), done],
  },
  "invalid JSON arguments": {
    steps: [reply([toolCall("slow", '{"n":'), toolCall("quick")]), done],
  },
  "a call that is cut off": {
    steps: [
      reply([toolCall("slow"), toolCall("quick", '{"n":')], { stopReason: "length" }),
      done,
    ],
  },
  "failed attempts": { steps: [throttled, fail("network_error", "reset"), done] },
  "only failed attempts": { steps: [throttled, throttled, throttled] },
  "streams without a terminal event": {
    steps: [endWithoutTerminal("Well"), endWithoutTerminal(), done],
  },
  "a fallback model": {
    steps: [throttled, throttled, throttled, done],
    options: { fallback: [{ model: modelSpec("test/other") }] },
  },
  "a failure within the reply": {
    steps: [fail("stream_error", "no", { after: [text("Well"), toolCall("quick")] })],
  },
  "a failure before the reply": { steps: [fail("auth_error", "no key")] },
  "a hook that throws": {
    steps: [],
    options: {
      transformContext: () => {
        throw new Error("no");
      },
    },
  },
  "a compacted context": {
    steps: [fail("context_window_overflow", "too long"), done],
    prompt: [userMessage("long ".repeat(100), 0), userMessage("Hi", 0)],
    options: {
      transformContext: (messages, { overflow }) => {
        const report = { droppedCount: 1, tokensBefore: 900, tokensAfter: 9 };
        return overflow ? { messages: messages.slice(-1), report } : messages;
      },
    },
  },
  "an abort while text streams": {
    steps: [hang({ after: "a b c" })],
    ...abortOn("message_update"),
  },
  "an abort while a call streams": {
    steps: [hang({ after: [text("a"), toolCall("quick")] })],
    ...abortOn("message_update"),
  },
  "an abort before the model call": { steps: [done], ...abortOn("turn_start") },
  "an abort while tools run": {
    steps: [twoCalls],
    options: { tools: [stuck, quick] },
    ...abortOn("tool_execution_end"),
  },
  "an abort that a tool ignores": {
    steps: [twoCalls],
    options: { tools: [uncancellable, quick], sleep: () => Promise.resolve() },
    ...abortOn("tool_execution_end"),
  },
  "steering while tools run": {
    steps: [twoCalls, done],
    options: { tools: [stuck, quick] },
    onEvent: (event, agent) => {
      if (event.type === "tool_execution_end" && event.name === "quick") agent.steer("Stop that");
    },
  },
  "a follow-up": {
    steps: [done, done],
    onEvent: (event, agent) => {
      if (event.type === "turn_start" && event.turn === 1) agent.followUp("And then?");
    },
  },
  "a stop before the first turn": {
    steps: [],
    options: createPolicyOptions({ preTurn: () => ({ type: "stop", reason: "no" }) }),
  },
  "a stop before the calls": {
    steps: [twoCalls],
    options: createPolicyOptions({ preDispatch: () => ({ type: "stop", reason: "no" }) }),
  },
  "calls skipped by a policy": {
    steps: [twoCalls, done],
    options: createPolicyOptions({ preDispatch: () => ({ type: "skip", reason: "no" }) }),
  },
  "a stop while the reply streams": {
    steps: [reply("a b c d e f")],
    options: createPolicyOptions({
      onDelta: ({ characters }) => characters > 4 ? { type: "stop", reason: "long" } : undefined,
    }),
  },
  "messages injected by a policy": {
    steps: [twoCalls, done, done],
    options: createPolicyOptions({
      preTurn: ({ turn }) => turn === 0 ? { type: "inject", messages: [note] } : undefined,
      postTurn: ({ turn }) => turn === 2 ? { type: "inject", messages: [note] } : undefined,
    }),
  },
  "a call that is stopped while it runs": {
    steps: [twoCalls],
    options: {
      tools: [stuck, quick],
      ...createPolicyOptions({
        onDelta: ({ isReplying }) => isReplying ? undefined : { type: "stop", reason: "too slow" },
      }),
    },
  },
  "a request that a policy changes": {
    steps: [done],
    options: createPolicyOptions({
      preRequest: () => ({ type: "change", model: modelSpec("test/other"), tools: [] }),
    }),
  },
  "a request that a policy stops": {
    steps: [],
    options: createPolicyOptions({ preRequest: () => ({ type: "stop", reason: "no" }) }),
  },
  "results that a policy withholds": {
    steps: [twoCalls, done],
    options: createPolicyOptions({
      postDispatch: () => {
        throw new Error("no");
      },
    }),
  },
  "an overflow after output": {
    steps: [fail("context_window_overflow", "too long", { after: "Well" }), done],
    prompt: [userMessage("long ".repeat(100), 0), userMessage("Hi", 0)],
    options: {
      transformContext: (messages, { overflow }) => overflow ? messages.slice(-1) : messages,
    },
  },
  "a sub-agent": {
    steps: [reply([toolCall("assistant", { prompt: "Help" }), toolCall("quick")]), done],
    options: {
      tools: [assistant.asTool({ name: "assistant", description: "Helps" }), quick],
    },
  },
  "approvals that stay pending": { steps: [twoCalls], options: pendingOptions },
  "approvals that are pending and then decided": {
    steps: [twoCalls, done],
    options: pendingOptions,
    next: (agent) => agent.continueStream({ approvals: { call_1: true } }),
  },
  "approvals that are pending and then denied": {
    steps: [twoCalls, done],
    options: pendingOptions,
    next: (agent) => agent.continueStream({ approvals: { call_1: false } }),
  },
  "approvals that are pending while the conversation continues": {
    steps: [twoCalls, done],
    options: pendingOptions,
    next: (agent) => agent.promptStream("Never mind"),
  },
  "an abort while an approval is pending": {
    steps: [twoCalls],
    options: pendingOptions,
    onEvent: (event, agent) => {
      if (event.type === "tool_approval_requested" && event.name === "quick") agent.abort();
    },
  },
  "a prompt of many messages": {
    steps: [done],
    prompt: [
      note,
      assistantMessage("Hello"),
      { role: "custom", type: "n", data: 1, timestamp: 0 },
      note,
    ],
  },
};

for (const [name, scenario] of Object.entries(scenarios)) {
  const { steps, options, prompt = "Hi", onEvent, next } = scenario;
  Deno.test(`Agent: emits legal events for a run with ${name}`, async () => {
    const agent = new Agent({
      model: "test/model",
      streamFn: scriptedStream(steps),
      tools: [fakeTool({ name: "slow", delayMs: 1 }), quick],
      retry: ({ attempt }) => attempt < 3 ? 0 : null,
      ...options,
    });
    const events: AgentEvent[] = [];
    agent.subscribe((event) => void events.push(event));
    const checks = { checksSubAgents: true };
    const stream = checkStream(agent.promptStream(prompt), checks);
    for await (const event of stream) onEvent?.(event, agent);
    if (next) { for await (const _event of checkStream(next(agent), checks)); }
    assertEquals(findViolation(events, checks), undefined);
    assertEquals(events.at(-1)?.type, "agent_end");
  });
}

Deno.test("Agent: emits legal events to subscribers after the reader of the stream has stopped", async () => {
  const agent = new Agent({ model: "test/model", streamFn: scriptedStream([reply("a b c")]) });
  const events: AgentEvent[] = [];
  agent.subscribe((event) => void events.push(event));
  await assertRejects(async () => {
    for await (const event of agent.promptStream("Hi")) {
      if (event.type === "message_update") throw new Error("stop reading");
    }
  });
  await agent.waitForIdle();
  assertEquals(findViolation(events), undefined);
  assertEquals(events.at(-1)?.type, "agent_end");
});
