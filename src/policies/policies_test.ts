import { assertEquals, assertThrows } from "@std/assert";
import { Agent } from "../agent/agent.ts";
import type { AgentOptions } from "../agent/options.ts";
import { extractText } from "../core/content.ts";
import type { AgentMessage } from "../core/message.ts";
import { defineTool } from "../core/tool.ts";
import { reply, scriptedStream, toolCall } from "../testing/mod.ts";
import {
  allowTools,
  auditLog,
  type AuditRecord,
  budget,
  denyTools,
  loopDetection,
  maxTurns,
} from "./mod.ts";

const USAGE = { input: 10, output: 5, cacheRead: 0, cacheWrite: 0, total: 15 };

const noop = defineTool({
  name: "noop",
  description: "Does nothing.",
  parameters: { type: "object" },
  execute: () => "done",
});

function createAgent(options: Partial<AgentOptions>, turns = 10): Agent {
  const steps = Array.from(
    { length: turns },
    (_, index) => reply([toolCall("noop", { index }, { id: `c${index}` })], { usage: USAGE }),
  );
  return new Agent({
    model: "test/model",
    tools: [noop],
    streamFn: scriptedStream([...steps, reply("done")]),
    now: () => 0,
    ...options,
  });
}

function getResultTexts(messages: readonly AgentMessage[]): string[] {
  return messages.filter((message) => message.role === "tool_result")
    .map(({ content }) => extractText(content));
}

Deno.test("maxTurns() stops an endless chain of tool calls at its limit [A102]", async () => {
  const { turns, stoppedBy } = await createAgent({ policies: [maxTurns(2)] }).prompt("go");
  assertEquals(turns, 2);
  assertEquals(stoppedBy?.policy, "max_turns");
});

Deno.test("budget() stops the run when the token limit is reached [A103]", async () => {
  const { turns, stoppedBy } = await createAgent({ policies: [budget({ tokens: 30 })] }).prompt(
    "go",
  );
  assertEquals(turns, 2);
  assertEquals(stoppedBy, { policy: "budget", reason: "The run reached the limit of 30 tokens" });
});

Deno.test("budget() counts the cost that is calculated from prices [A103]", async () => {
  const prices = { "test/model": { input: 1_000_000, output: 0 } };
  const { turns, cost, stoppedBy } = await createAgent({ prices, policies: [budget({ cost: 20 })] })
    .prompt("go");
  assertEquals([turns, cost.total], [2, 20]);
  assertEquals(stoppedBy?.policy, "budget");
});

Deno.test("budget() aborts a hanging reply at the time limit and keeps its text", async () => {
  let now = 0;
  const agent = new Agent({
    model: "test/model",
    now: () => now,
    // Advances the clock only when all other tasks have run.
    sleep: async (ms) => {
      await new Promise((resolve) => setTimeout(resolve, 0));
      now += ms;
    },
    streamFn: async function* () {
      yield { type: "start" };
      yield { type: "text_start", contentIndex: 0 };
      yield { type: "text_delta", contentIndex: 0, delta: "a beginning" };
      await new Promise(() => {});
    },
    policies: [budget({ elapsedMs: 1000 })],
  });
  const { messages, stoppedBy, stopReason } = await agent.prompt("go");
  const last = messages.findLast((message) => message.role === "assistant");
  assertEquals(extractText(last?.content ?? []), "a beginning");
  assertEquals([stopReason, stoppedBy?.policy], ["aborted", "budget"]);
});

Deno.test("budget() throws for a negative limit or NaN", () => {
  assertThrows(() => budget({ cost: Number.NaN }), Error, "cost must be a number");
  assertThrows(() => budget({ tokens: -1 }), Error, "tokens must be a number");
});

Deno.test("denyTools() refuses a listed tool with a reason for the model [A104]", async () => {
  const { messages } = await createAgent({ policies: [denyTools(["noop"])] }, 1).prompt("go");
  assertEquals(getResultTexts(messages), [
    'Tool call refused: The tool "noop" is not allowed',
  ]);
});

Deno.test("allowTools() refuses a tool that is not listed", async () => {
  const { messages } = await createAgent({ policies: [allowTools(["other"])] }, 1).prompt("go");
  assertEquals(getResultTexts(messages), [
    'Tool call refused: The tool "noop" is not allowed. Allowed tools: other',
  ]);
});

Deno.test("loopDetection() stops after three equal turns, regardless of call ids [A105]", async () => {
  const same = (id: string) => reply([toolCall("noop", { b: 1, a: [2] }, { id })]);
  const streamFn = scriptedStream([same("1"), same("2"), same("3"), reply("never")]);
  const { turns, stoppedBy } = await createAgent({ streamFn, policies: [loopDetection()] }).prompt(
    "go",
  );
  assertEquals([turns, stoppedBy?.policy], [3, "loop_detection"]);
});

Deno.test("loopDetection() does not stop calls with different arguments [A105]", async () => {
  const { stoppedBy } = await createAgent({ policies: [loopDetection()] }, 5).prompt("go");
  assertEquals(stoppedBy, undefined);
});

Deno.test("loopDetection() injects the `steer` message instead of stopping [A105]", async () => {
  const same = (id: string) => reply([toolCall("noop", {}, { id })]);
  const streamFn = scriptedStream([same("1"), same("2"), reply("another way")]);
  const policies = [loopDetection({ lookback: 2, steer: "Try another way" })];
  const { messages, stoppedBy } = await createAgent({ streamFn, policies }).prompt("go");
  const users = messages.filter(({ role }) => role === "user");
  assertEquals([users.length, stoppedBy], [2, undefined]);
});

Deno.test("loopDetection() ignores turns without tool calls", async () => {
  const streamFn = scriptedStream([reply("a"), reply("a"), reply("a")]);
  const agent = createAgent({ streamFn, policies: [loopDetection({ lookback: 2 })] });
  for (let prompt = 0; prompt < 3; prompt++) {
    assertEquals((await agent.prompt("again")).stoppedBy, undefined);
  }
});

Deno.test("loopDetection() counts only turns after the last user message", async () => {
  const call = reply([toolCall("noop", {})]);
  const policies = [loopDetection({ lookback: 2 })];
  const agent = createAgent({ streamFn: scriptedStream([call, call]), policies, maxTurns: 1 });
  for (const prompt of ["first", "second"]) {
    assertEquals((await agent.prompt(prompt)).stoppedBy?.policy, "max_turns");
  }
});

Deno.test("auditLog() writes tool calls, turns and runs in order", async () => {
  const records: AuditRecord[] = [];
  const write = (record: AuditRecord) => void records.push(record);
  await createAgent({ policies: [auditLog({ write })] }, 1).prompt("go");
  assertEquals(records.map(({ type, turn }) => [type, turn]), [
    ["tool_call", 1],
    ["turn", 1],
    ["turn", 2],
    ["run", 2],
  ]);
  assertEquals(JSON.parse(JSON.stringify(records)), records);
});

Deno.test("auditLog(): the run continues with a warning per record when `write` rejects", async () => {
  const write = () => Promise.reject(new Error("disk full"));
  const agent = createAgent({ policies: [auditLog({ write })] }, 0);
  const warnings: string[] = [];
  agent.subscribe((event) => void (event.type === "warning" && warnings.push(event.message)));
  assertEquals((await agent.prompt("go")).stopReason, "stop");
  assertEquals(warnings.length, 2);
});
