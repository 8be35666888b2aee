/**
 * Measures one scenario in a new process, cold and then warm, and prints the result as JSON.
 *
 * The arguments are the name of the scenario and, to measure the least code that does the same, `minimal`.
 *
 * @module
 */

import { setImmediate } from "node:timers";
import { Agent, type AgentTool, type AssistantMessageEvent, defineTool } from "../mod.ts";
import { testToolContext } from "../src/testing/test_tool_context.ts";

interface Call {
  readonly name: string;
  readonly chunks: readonly string[];
}

/** Yields a reply, with a task of the event loop after every 64 events, as chunks from a socket have. */
async function* streamReply(calls: readonly Call[]): AsyncGenerator<AssistantMessageEvent> {
  let count = 0;
  for (const event of createEvents(calls)) {
    yield event;
    if (++count % 64 === 0) await new Promise((resolve) => void setImmediate(resolve));
  }
}

function* createEvents(calls: readonly Call[]): Generator<AssistantMessageEvent> {
  yield { type: "start" };
  for (const [contentIndex, { name, chunks }] of calls.entries()) {
    yield { type: "tool_call_start", contentIndex, id: `c${contentIndex}`, name };
    for (const delta of chunks) yield { type: "tool_call_delta", contentIndex, delta };
    yield { type: "tool_call_end", contentIndex };
  }
  const usage = { input: 1, output: 1, cacheRead: 0, cacheWrite: 0, total: 2 };
  yield { type: "done", stopReason: calls.length > 0 ? "tool_use" : "stop", usage };
}

/** Runs a tool in a loop whose first `turns` replies make the calls. */
type RunLoop = (tool: AgentTool, calls: readonly Call[], turns?: number) => Promise<void>;

/** Runs the loop without events, checks and copies. */
const runMinimal: RunLoop = async (tool, calls, turns = 1) => {
  const history: unknown[] = ["go"];
  const context = testToolContext();
  for (let turn = 0; turn <= turns; turn++) {
    const texts: string[] = [];
    for await (const event of streamReply(turn < turns ? calls : [])) {
      if (event.type === "tool_call_start") texts.push("");
      else if (event.type === "tool_call_delta") texts[event.contentIndex] += event.delta;
    }
    const run = (text: string) => tool.execute(JSON.parse(text), context);
    history.push(texts, await Promise.all(texts.map(run)));
  }
};

/** Runs the loop as an agent. */
const runAgent: RunLoop = async (tool, calls, turns = 1) => {
  let turn = 0;
  const agent = new Agent({
    model: "bench/model",
    tools: [tool],
    maxTurns: turns + 1,
    streamFn: () => streamReply(turn++ < turns ? calls : []),
  });
  const { turns: completed } = await agent.prompt("go");
  if (completed !== turns + 1) throw new Error(`Expected ${turns + 1} turns, got ${completed}`);
};

function createTool(execute: () => string | Promise<string>): AgentTool {
  return defineTool({
    name: "tool",
    description: "A tool.",
    parameters: {
      type: "object",
      properties: { path: { type: "string", minLength: 1 }, content: { type: "string" } },
      required: ["path"],
      additionalProperties: false,
    },
    execute,
  });
}

function splitText(text: string, size: number): string[] {
  return Array.from(
    { length: Math.ceil(text.length / size) },
    (_, index) => text.slice(index * size, (index + 1) * size),
  );
}

const call: Call = { name: "tool", chunks: ['{"path":"a.ts"}'] };

const SCENARIOS: Readonly<Record<string, (run: RunLoop) => Promise<void>>> = {
  call: (run) => run(createTool(() => "ok"), [call]),
  turns: (run) => run(createTool(() => "ok"), [call], 100),
  arguments: (run) => {
    const json = JSON.stringify({ path: "a.ts", content: 'const a = "b";\n'.repeat(66_000) });
    return run(createTool(() => "ok"), [{ name: "tool", chunks: splitText(json, 20) }]);
  },
  fanout: (run) => {
    const wait = (): Promise<string> =>
      new Promise((resolve) => setTimeout(() => resolve("ok"), 1));
    return run(createTool(wait), Array.from({ length: 100 }, () => call));
  },
};

async function measureTime(work: () => Promise<void>): Promise<number> {
  const start = performance.now();
  await work();
  return performance.now() - start;
}

/** Runs an agent whose tool has a schema that no other agent has. */
function runWithOwnSchema(index: number): Promise<void> {
  const parameter = `p${index}`;
  const tool = defineTool({
    name: "tool",
    description: "A tool.",
    parameters: {
      type: "object",
      properties: { [parameter]: { type: "string" } },
      required: [parameter],
      additionalProperties: false,
    },
    execute: () => "ok",
  });
  return runAgent(tool, [{ name: "tool", chunks: [`{"${parameter}":"a"}`] }]);
}

/** A validator of a library, which creates its JSON Schema on each call. */
const answer = {
  "~standard": {
    version: 1,
    vendor: "bench",
    validate: (value: unknown) => ({ value }),
    jsonSchema: {
      input: () => ({
        type: "object",
        properties: { city: { type: "string", pattern: "^[A-Z]" } },
        required: ["city"],
      }),
      output: () => ({ type: "object" }),
    },
  },
} as const;

/** Runs an agent that gives an answer with the same schema as all others. */
async function runWithAnswer(): Promise<void> {
  const agent = new Agent({
    model: "bench/model",
    streamFn: () => streamReply([{ name: "structured_output", chunks: ['{"city":"Oslo"}'] }]),
  });
  await agent.structuredOutput("go", answer);
}

/** Returns the megabytes of the heap after 1,000 agents, and after 20,000 more. */
async function measureHeap(
  run: (index: number) => Promise<void>,
): Promise<{ cold: number; warm: number }> {
  for (let index = 0; index < 1_000; index++) await run(index);
  const cold = await getHeapSize();
  for (let index = 1_000; index < 21_000; index++) await run(index);
  return { cold, warm: await getHeapSize() };
}

async function getHeapSize(): Promise<number> {
  for (let round = 0; round < 4; round++) {
    (globalThis as unknown as { gc: () => void }).gc();
    // The values of weak references are freed in a later task.
    await new Promise((resolve) => void setImmediate(resolve));
  }
  return Deno.memoryUsage().heapUsed / 2 ** 20;
}

if (import.meta.main) {
  const [name = "", kind] = Deno.args;
  // The first tool call is compared with later ones, without what any first run loads.
  if (name === "call") await runAgent(createTool(() => "ok"), [], 0);
  const scenario = SCENARIOS[name];
  const run = kind === "minimal" ? runMinimal : runAgent;
  const result = scenario
    ? {
      cold: await measureTime(() => scenario(run)),
      warm: await measureTime(() => scenario(run)),
    }
    : await measureHeap(name === "schemas" ? runWithOwnSchema : runWithAnswer);
  console.log(JSON.stringify(result));
}
