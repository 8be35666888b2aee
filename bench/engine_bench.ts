/**
 * Measures the engine in one process, compared with minimal code that does the same.
 *
 * Every model reply comes from an async generator that yields to the event loop once per 64 chunks, since one read of
 * a socket returns several events. Each value is the median of warm runs.
 *
 * @module
 */

import { setImmediate } from "node:timers";
import { Agent, type AgentTool, type AssistantMessageEvent, defineTool } from "../mod.ts";
import { testToolContext } from "../src/testing/test_tool_context.ts";
import { median, printReport, type Row } from "./report.ts";

const USAGE = { input: 1, output: 1, cacheRead: 0, cacheWrite: 0, total: 2 };
const CHUNKS_PER_TASK = 64;
const RUNS = 9;
const WARM_UP_RUNS = 2;

const yieldToEventLoop = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));

/** Streams events and yields to the event loop after every `chunksPerTask`. */
async function* paceEvents(
  events: Iterable<AssistantMessageEvent>,
  chunksPerTask = CHUNKS_PER_TASK,
): AsyncGenerator<AssistantMessageEvent> {
  let count = 0;
  for (const event of events) {
    if (++count % chunksPerTask === 0) await yieldToEventLoop();
    yield event;
  }
}

function* createTextReply(deltas: number): Generator<AssistantMessageEvent> {
  yield { type: "start" };
  yield { type: "text_start", contentIndex: 0 };
  for (let i = 0; i < deltas; i++) yield { type: "text_delta", contentIndex: 0, delta: "8 chars." };
  yield { type: "text_end", contentIndex: 0 };
  yield { type: "done", stopReason: "stop", usage: USAGE };
}

interface ScriptedCall {
  readonly id: string;
  readonly name: string;
  readonly chunks: Iterable<string>;
}

function* createCallReply(
  calls: Iterable<ScriptedCall>,
  text?: string,
): Generator<AssistantMessageEvent> {
  let contentIndex = -1;
  yield { type: "start" };
  if (text) {
    yield { type: "text_start", contentIndex: ++contentIndex };
    yield { type: "text_delta", contentIndex, delta: text };
    yield { type: "text_end", contentIndex };
  }
  for (const { id, name, chunks } of calls) {
    yield { type: "tool_call_start", contentIndex: ++contentIndex, id, name };
    for (const delta of chunks) yield { type: "tool_call_delta", contentIndex, delta };
    yield { type: "tool_call_end", contentIndex };
  }
  yield { type: "done", stopReason: "tool_use", usage: USAGE };
}

function* splitText(text: string, length: number): Generator<string> {
  for (let start = 0; start < text.length; start += length) yield text.slice(start, start + length);
}

async function measureTime(work: () => Promise<void>): Promise<number> {
  const startedAt = performance.now();
  await work();
  return performance.now() - startedAt;
}

/** Median times in milliseconds. */
interface Comparison {
  readonly engine: number;
  readonly baseline: number;
}

/** Runs the engine and its baseline alternately; returns the median time of each in milliseconds. */
async function compare(
  runEngine: () => Promise<void>,
  runBaseline: () => Promise<void>,
  runs = RUNS,
): Promise<Comparison> {
  const engine: number[] = [];
  const baseline: number[] = [];
  for (let run = -WARM_UP_RUNS; run < runs; run++) {
    const baselineMs = await measureTime(runBaseline);
    const engineMs = await measureTime(runEngine);
    if (run >= 0) baseline.push(baselineMs), engine.push(engineMs);
  }
  return { engine: median(engine), baseline: median(baseline) };
}

async function benchStreams(): Promise<Row[]> {
  const runAgent = (deltas: number, chunksPerTask?: number) => async () => {
    const agent = new Agent({
      model: "bench/model",
      streamFn: () => paceEvents(createTextReply(deltas), chunksPerTask),
    });
    // The reader only counts, because the agent builds the message.
    let characters = 0;
    for await (const event of agent.promptStream("go")) {
      if (event.type === "message_update" && event.delta.type === "text_delta") {
        characters += event.delta.delta.length;
      }
    }
    assertEqual(characters, deltas * 8);
  };
  const runLoop = (deltas: number) => async () => {
    let text = "";
    for await (const event of paceEvents(createTextReply(deltas))) {
      if (event.type === "text_delta") text += event.delta;
    }
    assertEqual(text.length, deltas * 8);
  };
  const many = await compare(runAgent(100_000), runLoop(100_000));
  const few = await compare(runAgent(10_000), runLoop(10_000), 30);
  const burst = await measureTime(runAgent(200_000, Number.MAX_SAFE_INTEGER));
  return [
    [
      "text delta, 100,000",
      formatPerUnit(many.engine, 100_000),
      `${formatRatio(many)} × loop`,
      "≤ 3",
    ],
    [
      "text delta, 100,000 vs. 10,000",
      "",
      `${(many.engine / few.engine / 10).toFixed(2)} ×`,
      "≤ 1.2",
    ],
    ["200,000 deltas in one burst", `${burst.toFixed(0)} ms`, "", "≤ 1,000 ms"],
  ];
}

const add = defineTool({
  name: "add",
  description: "Adds.",
  parameters: {
    type: "object",
    properties: { x: { type: "number" } },
    required: ["x"],
    additionalProperties: false,
  },
  execute: () => "ok",
});

async function benchTurns(): Promise<Row[]> {
  const createReply = (turn: number, turns: number) =>
    paceEvents(
      turn < turns
        ? createCallReply(
          [{ id: `c${turn}`, name: "add", chunks: [`{"x":${turn}}`] }],
          "twenty characters ok",
        )
        : createTextReply(1),
    );
  const runAgent = (turns: number) => async () => {
    let turn = 0;
    const agent = new Agent({
      model: "bench/model",
      tools: [add],
      maxTurns: turns + 5,
      streamFn: () => createReply(turn++, turns),
    });
    let ends = 0;
    for await (const event of agent.promptStream("go")) if (event.type === "turn_end") ends++;
    assertEqual(ends, turns + 1);
  };
  const runLoop = (turns: number) => async () => {
    const history: unknown[] = ["go"];
    for (let turn = 0; turn <= turns; turn++) {
      const message = { text: "", calls: [] as { name: string; json: string }[] };
      for await (const event of createReply(turn, turns)) {
        if (event.type === "text_delta") message.text += event.delta;
        else if (event.type === "tool_call_start") {
          message.calls.push({ name: event.name, json: "" });
        } else if (event.type === "tool_call_delta") {
          const call = message.calls.at(-1);
          if (call) call.json += event.delta;
        }
      }
      history.push(message);
      history.push(
        ...await Promise.all(message.calls.map(async ({ json }) => await runTool(add, json))),
      );
    }
    assertEqual(history.length, turns * 2 + 2);
  };
  const thousand = await compare(runAgent(1000), runLoop(1000));
  const few = await compare(runAgent(400), runLoop(400), 15);
  const many = await compare(runAgent(4000), runLoop(4000), 5);
  const growth = many.engine / few.engine / 10;
  return [
    [
      "turn with one call, 1,000",
      formatPerUnit(thousand.engine, 1000),
      `${formatRatio(thousand)} × loop`,
      "≤ 30 µs",
    ],
    ["  minimal loop", formatPerUnit(thousand.baseline, 1000), "", "5 to 8 µs"],
    ["turn with one call, 4,000 vs. 400", "", `${growth.toFixed(2)} ×`, "≤ 1.3"],
  ];
}

async function benchArguments(): Promise<Row[]> {
  const line = 'const greeting = "hello";\n\treturn greeting + 42; // ok\n';
  const json = JSON.stringify({ path: "src/a.ts", content: line.repeat(17_000) });
  const write = defineTool({
    name: "write",
    description: "Writes.",
    parameters: {
      type: "object",
      properties: { path: { type: "string" }, content: { type: "string" } },
      required: ["path", "content"],
    },
    execute: ({ content }) => String(content.length),
  });
  const reply = () =>
    paceEvents(createCallReply([{ id: "c", name: "write", chunks: splitText(json, 20) }]));
  const comparison = await compare(async () => {
    let calls = 0;
    const streamFn = () => calls++ === 0 ? reply() : paceEvents(createTextReply(1));
    await drain(new Agent({ model: "bench/model", tools: [write], streamFn }));
  }, async () => {
    let text = "";
    for await (const event of reply()) if (event.type === "tool_call_delta") text += event.delta;
    await runTool(write, text);
  });
  return [[
    "arguments, 1 MB in chunks of 20 characters",
    formatMilliseconds(comparison.engine),
    `${formatRatio(comparison)} × loop`,
    "≤ 2.5",
  ]];
}

async function benchFanOut(): Promise<Row[]> {
  const wait = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 1));
  const slow = defineTool({
    name: "slow",
    description: "Waits.",
    parameters: { type: "object", properties: { x: { type: "number" } } },
    execute: () => wait().then(() => "ok"),
  });
  const ids = Array.from({ length: 1000 }, (_, id) => id);
  const calls = ids.map((id) => ({ id: `c${id}`, name: "slow", chunks: [`{"x":${id}}`] }));
  const comparison = await compare(async () => {
    let turn = 0;
    const streamFn = () =>
      turn++ === 0 ? paceEvents(createCallReply(calls)) : paceEvents(createTextReply(1));
    await drain(new Agent({ model: "bench/model", tools: [slow], streamFn }));
  }, async () => {
    const jsons: string[] = [];
    for await (const event of paceEvents(createCallReply(calls))) {
      if (event.type === "tool_call_delta") jsons.push(event.delta);
    }
    await Promise.all(jsons.map((text) => runTool(slow, text)));
  });
  return [[
    "1,000 concurrent calls of 1 ms",
    formatMilliseconds(comparison.engine),
    `${formatRatio(comparison)} × Promise.all`,
    "≤ 3",
  ]];
}

async function benchAbort(): Promise<Row[]> {
  const never = new Promise<never>(() => {});
  const endless = function* (): Generator<AssistantMessageEvent> {
    yield { type: "start" };
    yield { type: "text_start", contentIndex: 0 };
    while (true) yield { type: "text_delta", contentIndex: 0, delta: "8 chars." };
  };
  const hanging = async function* (): AsyncGenerator<AssistantMessageEvent> {
    yield { type: "start" };
    await never;
  };
  const hangingTool = defineTool({
    name: "hang",
    description: "Never ends.",
    parameters: { type: "object" },
    execute: () => never,
  });
  const measureAbort = async (
    streamFn: () => AsyncGenerator<AssistantMessageEvent>,
    tools?: AgentTool[],
  ) => {
    const agent = new Agent({ model: "bench/model", streamFn, ...(tools && { tools }) });
    const done = agent.prompt("go");
    await new Promise((resolve) => setTimeout(resolve, 20));
    return await measureTime(async () => {
      agent.abort();
      await done;
    });
  };
  const call = () => paceEvents(createCallReply([{ id: "c", name: "hang", chunks: ["{}"] }]));
  return [
    [
      "abort in a stream without pauses",
      formatMilliseconds(await measureAbort(() => paceEvents(endless()))),
      "",
      "≤ 10 ms",
    ],
    ["abort in a hanging stream", formatMilliseconds(await measureAbort(hanging)), "", "≤ 10 ms"],
    [
      "abort in a hanging tool",
      formatMilliseconds(await measureAbort(call, [hangingTool])),
      "",
      "≤ 120 ms",
    ],
  ];
}

/** Measures the heap over a million deltas whose reader yields to the event loop every 1,000 events. */
async function benchMemory(): Promise<Row[]> {
  const agent = new Agent({
    model: "bench/model",
    streamFn: () => paceEvents(createTextReply(1_000_000)),
  });
  const heapSizes: number[] = [];
  let events = 0;
  for await (const _event of agent.promptStream("go")) {
    if (++events % 1000 === 0) await yieldToEventLoop();
    if (events % 100_000 === 0) heapSizes.push(Deno.memoryUsage().heapUsed / 2 ** 20);
  }
  const growth = (heapSizes.at(-1) ?? 0) - (heapSizes[0] ?? 0);
  return [[
    "heap over 1,000,000 deltas, slow reader",
    `${growth.toFixed(0)} MB`,
    "message of 8 MB, held twice",
    "flat",
  ]];
}

async function drain(agent: Agent): Promise<void> {
  for await (const _event of agent.promptStream("go"));
}

async function runTool(tool: AgentTool, json: string): Promise<unknown> {
  return await tool.execute(JSON.parse(json), testToolContext());
}

function assertEqual(actual: number, expected: number): void {
  if (actual !== expected) throw new Error(`Expected ${expected}, got ${actual}`);
}

const formatMilliseconds = (value: number): string => `${value.toFixed(1)} ms`;
const formatPerUnit = (value: number, units: number): string =>
  `${(value / units * 1000).toFixed(2)} µs`;
const formatRatio = ({ engine, baseline }: Comparison): string => (engine / baseline).toFixed(2);

if (import.meta.main) {
  printReport("Engine", [
    ...await benchStreams(),
    ...await benchTurns(),
    ...await benchArguments(),
    ...await benchFanOut(),
    ...await benchAbort(),
    ...await benchMemory(),
  ]);
}
