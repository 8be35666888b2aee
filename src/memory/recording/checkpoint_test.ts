import {
  assert,
  assertEquals,
  assertInstanceOf,
  assertStringIncludes,
  assertThrows,
} from "@std/assert";
import { Agent } from "../../agent/agent.ts";
import type { AgentOptions } from "../../agent/options.ts";
import { AlreadyRunningError, BadRequestError } from "../../core/errors/errors.ts";
import type { JsonObject } from "../../core/json/json.ts";
import { extractText } from "../../core/messages/content.ts";
import { type AgentMessage, userMessage } from "../../core/messages/message.ts";
import { createDeferred } from "../../core/ports/deferred.ts";
import { defineTool } from "../../core/tools/tool.ts";
import { assistantMessage, toolCall } from "../../testing/messages.ts";
import { reply } from "../../testing/script.ts";
import { scriptedStream } from "../../testing/scripted_stream.ts";
import { approvalGate } from "../../tools/approval/approval_gate.ts";
import { summarize } from "../context/summarize.ts";
import { checkpoint, restore } from "./checkpoint.ts";

const pay = defineTool({
  name: "pay",
  description: "Pays.",
  parameters: { type: "object" },
  execute: () => "paid",
});
const inspect = { ...pay, name: "inspect" };

function createAgent(
  steps: Parameters<typeof scriptedStream>[0] = [],
  ports: Partial<AgentOptions> = {},
): Agent {
  const streamFn = scriptedStream(steps);
  return new Agent({ ...ports, model: "p/m", streamFn, tools: [pay, inspect] });
}

async function createStoredCheckpoint(): Promise<string> {
  const agent = createAgent([reply([toolCall("pay")]), reply("Done.")]);
  agent.setSystemPrompt("Be brief.");
  agent.setModel("p/big:high");
  await agent.prompt("Pay");
  agent.setMessages([...agent.state.messages, {
    role: "custom",
    type: "note",
    data: 1,
    timestamp: 2,
  }]);
  agent.setTools([pay]);
  agent.steer("now");
  agent.followUp("later");
  return JSON.stringify(checkpoint(agent));
}

Deno.test("restore() restores a checkpoint from JSON, and delivers its queued messages once [A124]", async () => {
  const text = await createStoredCheckpoint();
  const agent = createAgent([reply("one"), reply("two"), reply("three")]);
  agent.followUp("forgotten");
  assertEquals(restore(agent, JSON.parse(text)), { missingTools: [], repairs: [] });
  assertEquals(agent.state.systemPrompt, "Be brief.");
  assertEquals(agent.state.model, { provider: "p", modelId: "big", thinkingLevel: "high" });
  assertEquals(agent.state.tools.map(({ name }) => name), ["pay", "inspect"]);
  assertEquals(agent.state.messages.map(({ role }) => role), [
    "user",
    "assistant",
    "tool_result",
    "assistant",
    "custom",
  ]);
  const { queued, tools: _tools, ...state } = checkpoint(agent);
  const { queued: storedQueues, tools: _storedTools, ...storedState } = JSON.parse(text);
  assertEquals(state, storedState);
  assertEquals(queued.followUp[0]?.message, storedQueues.followUp[0].message);
  await agent.continue();
  const delivered = agent.state.messages.filter(({ role }) => role === "user").slice(1);
  assertEquals(delivered.length, 2);
  assertEquals(agent.hasPendingMessages, false);
});

Deno.test("checkpoint() has each message that a run has dequeued, queued or in the history, at every event", async () => {
  const agent = new Agent({
    model: "p/m",
    streamFn: scriptedStream([reply("one"), reply("two"), reply("three")]),
    steeringMode: "all",
    followUpMode: "all",
  });
  for (const text of ["now", "at once"]) agent.steer(text);
  for (const text of ["later", "at last"]) agent.followUp(text);
  const getTexts = (messages: readonly AgentMessage[]) =>
    messages.flatMap((message) => message.role === "user" ? [extractText(message.content)] : []);
  const found = new Set<string>();
  agent.subscribe(({ type }) => {
    const { messages, queued } = checkpoint(agent);
    const waiting = [...queued.steering, ...queued.followUp].map(({ message }) => message);
    const texts = getTexts([...messages, ...waiting]).filter((text) => text !== "Begin");
    found.add(`${type}: ${texts.sort()}`);
  });
  await agent.prompt("Begin");
  assertEquals([...found].filter((text) => !text.endsWith(": at last,at once,later,now")), []);

  agent.setMessages([]);
  await agent.prompt("Begin");
  assertEquals([...found].filter((text) => text.startsWith("agent_start")), [
    "agent_start: at last,at once,later,now",
    "agent_start: ",
  ]);
});

Deno.test("restore() names missing tools and repairs the history [A125]", () => {
  const agent = createAgent();
  const value = checkpoint(createAgent());
  const messages = [userMessage("hi", 1), assistantMessage([toolCall("pay", {}, { id: "c" })])];
  const { missingTools, repairs } = restore(agent, { ...value, tools: ["pay", "gone"], messages });
  assertEquals(missingTools, ["gone"]);
  assertEquals(repairs.map(({ type }) => type), ["missing_result_added"]);
  assertEquals(agent.state.messages.length, 3);
});

Deno.test("restore() rejects other values and leaves the agent unchanged [A125]", async () => {
  const agent = createAgent([reply("hello")]);
  await agent.prompt("hi");
  const before = checkpoint(agent);
  const valid = JSON.parse(await createStoredCheckpoint());
  const broken = [
    null,
    "text",
    {},
    { ...valid, version: 2 },
    { ...valid, systemPrompt: undefined },
    { ...valid, model: "m" },
    { ...valid, tools: [1] },
    { ...valid, messages: [{ role: "user" }] },
    { ...valid, messages: {} },
    { ...valid, queued: { steering: [] } },
  ];
  for (const value of broken) assertThrows(() => restore(agent, value), BadRequestError);
  assertEquals(checkpoint(agent), before);
});

/** Returns ports without real time and without random ids. The wait for a tool that ignores an abort ends at once. */
function createFixedPorts(): Pick<AgentOptions, "now" | "newId" | "sleep" | "random"> {
  let ids = 0;
  return {
    now: () => 1,
    newId: (kind) => `${kind}_${++ids}`,
    sleep: () => Promise.resolve(),
    random: () => 0.5,
  };
}

/** Returns the checkpoints of a call that runs, and of one that waits for an approval. */
async function createPendingCheckpoints(): Promise<readonly JsonObject[]> {
  const started = createDeferred<void>();
  const hangs = {
    ...pay,
    execute: () => {
      started.resolve();
      return new Promise<string>(() => {});
    },
  };
  const calls = () => [toolCall("pay"), toolCall("inspect")];
  const running = new Agent({
    ...createFixedPorts(),
    model: "p/m",
    streamFn: scriptedStream([reply(calls())]),
    tools: [{ ...hangs, sideEffect: "none" }, inspect],
  });
  running.followUp("later");
  const run = running.prompt("Pay");
  await started.promise;
  const interrupted = checkpoint(running);
  running.abort();
  await run;
  const waiting = new Agent({
    ...createFixedPorts(),
    model: "p/m",
    streamFn: scriptedStream([reply(calls())]),
    tools: [pay, inspect],
    approve: ({ name }) => name === "pay" ? { type: "pending" } : { type: "denied", reason: "no" },
  });
  await waiting.prompt("Pay");
  return JSON.parse(JSON.stringify([interrupted, checkpoint(waiting)]));
}

/** Returns copies of a JSON value, each with one member replaced. */
function* replaceMembers(value: unknown, replacement: unknown): Generator<unknown> {
  if (typeof value !== "object" || value === null) return;
  for (const [key, member] of Object.entries(value)) {
    const withMember = (changed: unknown) =>
      Array.isArray(value) ? value.with(Number(key), changed) : { ...value, [key]: changed };
    yield withMember(replacement);
    for (const changed of replaceMembers(member, replacement)) yield withMember(changed);
  }
}

Deno.test("restore() refuses a damaged checkpoint and leaves the agent unchanged, or restores a usable agent", async () => {
  const unprintable = JSON.parse('{"toString":1,"valueOf":1}');
  let refused = 0;
  for (const stored of await createPendingCheckpoints()) {
    for (const replacement of [null, 5, "x", [], {}, [null], [{}], -1, unprintable]) {
      for (const damaged of replaceMembers(stored, replacement)) {
        const agent = createAgent([reply("Done."), reply("Done.")], createFixedPorts());
        const before = checkpoint(agent);
        try {
          restore(agent, damaged);
        } catch (error) {
          assertInstanceOf(error, BadRequestError, JSON.stringify(damaged));
          assertEquals(checkpoint(agent), before);
          refused++;
          continue;
        }
        const { error } = await agent.prompt("Go on");
        assertEquals(error, undefined, JSON.stringify(damaged));
      }
    }
  }
  assert(refused > 500, `${refused} refused`);
});

Deno.test("checkpoint() works during a run, restore() throws [A124]", async () => {
  const agent = createAgent([reply("hello")]);
  const checkpoints: unknown[] = [];
  agent.subscribe((event) => {
    if (event.type === "turn_end") checkpoints.push(checkpoint(agent));
  });
  const running = agent.prompt("hi");
  assertThrows(() => restore(agent, checkpoint(createAgent())), AlreadyRunningError);
  await running;
  assertEquals(checkpoints, [checkpoint(agent)]);
});

Deno.test("restore() restores the compaction, so that a stateless backend pays for one summary", async () => {
  let summaries = 0;
  const summaryFn = scriptedStream(Array(9).fill(() => reply(`summary ${++summaries}`)));
  const createCompactingAgent = () => {
    const streamFn = scriptedStream([reply("a".repeat(900))]);
    const transformContext = summarize({ streamFn: summaryFn, contextWindow: 3_000, keepSteps: 1 });
    const agent = new Agent({ model: "p/m", streamFn, transformContext });
    return { agent, streamFn };
  };
  let stored = JSON.stringify(checkpoint(createCompactingAgent().agent));
  const summarized: number[] = [];
  for (let request = 0; request < 9; request++) {
    const { agent } = createCompactingAgent();
    restore(agent, JSON.parse(stored));
    await agent.prompt("u".repeat(900));
    stored = JSON.stringify(checkpoint(agent));
    summarized.push(summaries);
  }
  assert(summarized.at(-1) === 1 || summarized.at(-1) === 2, `${summarized}`);
  assert(JSON.parse(stored).cut.summary.startsWith("summary"));
});

Deno.test("restore() continues the tool calls that a checkpoint interrupted", async () => {
  const cases = [
    ["tool_execution_start", "none", "paid", 1],
    ["tool_execution_start", "once", "The outcome of this tool call is not known", 0],
    ["tool_execution_end", "once", "paid", 0],
  ] as const;
  for (const [type, sideEffect, expected, runs] of cases) {
    const ran: string[] = [];
    const tool = {
      ...pay,
      sideEffect,
      execute: (_args: unknown, { idempotencyKey }: { readonly idempotencyKey: string }) => {
        ran.push(idempotencyKey);
        return Promise.resolve("paid");
      },
    };
    const createPayingAgent = (steps: Parameters<typeof scriptedStream>[0]) =>
      new Agent({ model: "p/m", streamFn: scriptedStream(steps), tools: [tool] });
    const first = createPayingAgent([reply([toolCall("pay", {}, { id: "c" })]), reply("Done.")]);
    let stored = "";
    first.subscribe((event) => {
      if (event.type === type) stored = JSON.stringify(checkpoint(first));
    });
    await first.prompt("Pay");
    const [key] = ran.splice(0);
    const second = createPayingAgent([reply("Done.")]);
    restore(second, JSON.parse(stored));
    await second.continue();
    const result = second.state.messages.find((message) => message.role === "tool_result");
    assertStringIncludes(extractText(result?.content ?? []), expected);
    assertEquals(ran, Array(runs).fill(key));
  }
});

Deno.test("restore() restores pending approvals and the state of the approval gate", async () => {
  const createGatedAgent = () => {
    const gate = approvalGate({ ask: () => ({ type: "pending" }) });
    const steps = [reply([toolCall("pay", {}, { id: "c" })]), reply("Done.")];
    const streamFn = scriptedStream(steps);
    return { gate, agent: new Agent({ model: "p/m", streamFn, tools: [pay], approve: gate }) };
  };
  const first = createGatedAgent();
  first.gate.mode = "always";
  first.gate.trust({ type: "tool", name: "inspect" });
  await first.agent.prompt("Pay");
  const second = createGatedAgent();
  restore(second.agent, JSON.parse(JSON.stringify(checkpoint(first.agent))));
  assertEquals(second.gate.mode, "always");
  assertEquals(second.gate.trusted, [{ type: "tool", name: "inspect" }]);
  assertEquals(second.agent.state.pendingApprovals, [{
    toolCallId: "c",
    name: "pay",
    arguments: {},
  }]);
  const result = await second.agent.continue({ approvals: { c: true } });
  const [paid] = result.messages;
  assertEquals(paid?.role === "tool_result" && extractText(paid.content), "paid");
});

Deno.test("restore() does not run a call again that was started three times", async () => {
  let attempts = 0;
  const tool = {
    ...pay,
    sideEffect: "none",
    execute: () => {
      attempts++;
      return Promise.resolve("paid");
    },
  } as const;
  /** Runs as a process that crashes when the call has started; returns its last checkpoint. */
  const crash = async (stored?: string): Promise<string> => {
    const steps = [...stored ? [] : [reply([toolCall("pay", {}, { id: "c" })])], reply("Done.")];
    const agent = new Agent({ model: "p/m", streamFn: scriptedStream(steps), tools: [tool] });
    let last = "";
    agent.subscribe((event) => {
      if (event.type === "tool_execution_start") last = JSON.stringify(checkpoint(agent));
    });
    if (stored) restore(agent, JSON.parse(stored));
    await (stored ? agent.continue() : agent.prompt("Pay"));
    return last;
  };
  let stored = await crash();
  for (let restart = 0; restart < 2; restart++) stored = await crash(stored);
  const patient = new Agent({ model: "p/m", streamFn: scriptedStream([]), tools: [tool] });
  restore(patient, JSON.parse(stored), { maxToolAttempts: 4 });
  assertEquals(patient.state.interruptedCalls[0]?.rerun?.attempts, 3);
  const refused = await crash(stored);
  assertEquals(attempts, 3);
  await crash(refused);
  assertEquals(attempts, 3);
});

Deno.test("restore() leaves the agent unchanged if the model has a thinking level of a later version", () => {
  const agent = createAgent();
  const before = checkpoint(agent);
  const model = { ...before.model, thinkingLevel: "galactic" };
  const value = { ...before, systemPrompt: "other", model };
  assertThrows(() => restore(agent, value), BadRequestError, "damaged");
  assertEquals(checkpoint(agent), before);
});

Deno.test("restore() refuses a checkpoint with grants that a gate cannot read, and leaves the agent unchanged", () => {
  const agent = createAgent();
  const before = checkpoint(agent);
  for (const grant of [null, "bash", { type: "prefix", name: "bash" }, { type: "tool" }]) {
    const value = { ...before, approvals: { mode: "smart", grants: [grant] } };
    assertThrows(() => restore(agent, value), BadRequestError, "damaged");
  }
  const planMode = { ...before, planMode: "yes" };
  assertThrows(() => restore(agent, planMode), BadRequestError, "damaged");
  assertEquals(checkpoint(agent), before);
});
