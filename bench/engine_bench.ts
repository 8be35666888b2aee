/**
 * What the engine costs over the least code that does the same, in ratios taken in one process.
 *
 * The source of every model reply is an async generator that lets other tasks run once per 64 chunks, the way
 * one read of a socket carries a handful of events. Each figure is the median of warm runs.
 *
 * @module
 */

import { setImmediate } from "node:timers";
import { Agent, type AgentTool, type AssistantMessageEvent, defineTool } from "../mod.ts";
import { median, printReport, type Row } from "./report.ts";

const USAGE = { input: 1, output: 1, cacheRead: 0, cacheWrite: 0, total: 2 };
const CHUNKS_PER_TASK = 64;
const RUNS = 9;

const yieldToEventLoop = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));

/** Streams events, and lets other tasks run now and then. */
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
  readonly pieces: Iterable<string>;
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
  for (const { id, name, pieces } of calls) {
    yield { type: "tool_call_start", contentIndex: ++contentIndex, id, name };
    for (const delta of pieces) yield { type: "tool_call_delta", contentIndex, delta };
    yield { type: "tool_call_end", contentIndex };
  }
  yield { type: "done", stopReason: "tool_use", usage: USAGE };
}

function* splitText(text: string, length: number): Generator<string> {
  for (let at = 0; at < text.length; at += length) yield text.slice(at, at + length);
}

async function measureTime(work: () => Promise<void>): Promise<number> {
  const begun = performance.now();
  await work();
  return performance.now() - begun;
}

/** Runs two ways of the same work in turn, so that both see the same machine, and gives the median of each. */
async function compare(
  work: () => Promise<void>,
  floor: () => Promise<void>,
  runs = RUNS,
): Promise<{ readonly ours: number; readonly floor: number }> {
  const ours: number[] = [];
  const floors: number[] = [];
  for (let run = -2; run < runs; run++) {
    const floorMs = await measureTime(floor);
    const ourMs = await measureTime(work);
    if (run >= 0) floors.push(floorMs), ours.push(ourMs);
  }
  return { ours: median(ours), floor: median(floors) };
}

async function benchStreams(): Promise<Row[]> {
  const agentOver = (deltas: number, chunksPerTask?: number) => async () => {
    const agent = new Agent({
      model: "bench/model",
      streamFn: () => paceEvents(createTextReply(deltas), chunksPerTask),
    });
    // The agent builds the message; its reader only looks, as a terminal does.
    let characters = 0;
    for await (const event of agent.promptStream("go")) {
      if (event.type === "message_update" && event.delta.type === "text_delta") {
        characters += event.delta.delta.length;
      }
    }
    assertEqual(characters, deltas * 8);
  };
  const floorOver = (deltas: number) => async () => {
    let text = "";
    for await (const event of paceEvents(createTextReply(deltas))) {
      if (event.type === "text_delta") text += event.delta;
    }
    assertEqual(text.length, deltas * 8);
  };
  const many = await compare(agentOver(100_000), floorOver(100_000));
  const few = await compare(agentOver(10_000), floorOver(10_000), 30);
  const burst = await measureTime(agentOver(200_000, Number.MAX_SAFE_INTEGER));
  return [
    [
      "text delta, 100,000",
      formatPerUnit(many.ours, 100_000),
      `${formatRatio(many)} x floor`,
      "<= 3",
    ],
    [
      "text delta, 100,000 against 10,000",
      "",
      `${(many.ours / few.ours / 10).toFixed(2)} x`,
      "<= 1.2",
    ],
    ["200,000 deltas in one burst", `${burst.toFixed(0)} ms`, "", "<= 1,000 ms"],
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
  const replyOf = (turn: number, turns: number) =>
    paceEvents(
      turn < turns
        ? createCallReply(
          [{ id: `c${turn}`, name: "add", pieces: [`{"x":${turn}}`] }],
          "twenty characters ok",
        )
        : createTextReply(1),
    );
  const agentOver = (turns: number) => async () => {
    let turn = 0;
    const agent = new Agent({
      model: "bench/model",
      tools: [add],
      maxTurns: turns + 5,
      streamFn: () => replyOf(turn++, turns),
    });
    let ends = 0;
    for await (const event of agent.promptStream("go")) if (event.type === "turn_end") ends++;
    assertEqual(ends, turns + 1);
  };
  const floorOver = (turns: number) => async () => {
    const history: unknown[] = ["go"];
    for (let turn = 0; turn <= turns; turn++) {
      const message = { text: "", calls: [] as { name: string; json: string }[] };
      for await (const event of replyOf(turn, turns)) {
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
  const thousand = await compare(agentOver(1000), floorOver(1000));
  const few = await compare(agentOver(400), floorOver(400), 15);
  const many = await compare(agentOver(4000), floorOver(4000), 5);
  const growth = many.ours / few.ours / 10;
  return [
    [
      "turn with one call, 1,000",
      formatPerUnit(thousand.ours, 1000),
      `${formatRatio(thousand)} x floor`,
      "<= 30 us",
    ],
    ["  its floor", formatPerUnit(thousand.floor, 1000), "", "5 to 8 us"],
    ["turn at 4,000 against 400", "", `${growth.toFixed(2)} x`, "<= 1.3"],
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
    paceEvents(createCallReply([{ id: "c", name: "write", pieces: splitText(json, 20) }]));
  const both = await compare(async () => {
    let calls = 0;
    const streamFn = () => calls++ === 0 ? reply() : paceEvents(createTextReply(1));
    await drain(new Agent({ model: "bench/model", tools: [write], streamFn }));
  }, async () => {
    let text = "";
    for await (const event of reply()) if (event.type === "tool_call_delta") text += event.delta;
    await runTool(write, text);
  });
  return [[
    "arguments, 1 MB in 20 characters",
    formatMilliseconds(both.ours),
    `${formatRatio(both)} x floor`,
    "<= 2.5",
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
  const calls = ids.map((id) => ({ id: `c${id}`, name: "slow", pieces: [`{"x":${id}}`] }));
  const both = await compare(async () => {
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
    "1,000 calls of 1 ms together",
    formatMilliseconds(both.ours),
    `${formatRatio(both)} x Promise.all`,
    "<= 3",
  ]];
}

async function benchAbort(): Promise<Row[]> {
  const never = new Promise<never>(() => {});
  const endless = function* (): Generator<AssistantMessageEvent> {
    yield { type: "start" };
    yield { type: "text_start", contentIndex: 0 };
    while (true) yield { type: "text_delta", contentIndex: 0, delta: "8 chars." };
  };
  const deaf = async function* (): AsyncGenerator<AssistantMessageEvent> {
    yield { type: "start" };
    await never;
  };
  const deafTool = defineTool({
    name: "deaf",
    description: "Never ends.",
    parameters: { type: "object" },
    execute: () => never,
  });
  const settle = async (
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
  const call = () => paceEvents(createCallReply([{ id: "c", name: "deaf", pieces: ["{}"] }]));
  return [
    [
      "abort in a flooded stream",
      formatMilliseconds(await settle(() => paceEvents(endless()))),
      "",
      "<= 10 ms",
    ],
    ["abort in a deaf stream", formatMilliseconds(await settle(deaf)), "", "<= 10 ms"],
    ["abort in a deaf tool", formatMilliseconds(await settle(call, [deafTool])), "", "<= 120 ms"],
  ];
}

/** A reader that looks at every thousandth event in a task of its own, over a million deltas. */
async function benchMemory(): Promise<Row[]> {
  const agent = new Agent({
    model: "bench/model",
    streamFn: () => paceEvents(createTextReply(1_000_000)),
  });
  const used: number[] = [];
  let events = 0;
  for await (const _event of agent.promptStream("go")) {
    if (++events % 1000 === 0) await yieldToEventLoop();
    if (events % 100_000 === 0) used.push(Deno.memoryUsage().heapUsed / 2 ** 20);
  }
  const message = 8;
  const growth = (used.at(-1) ?? 0) - (used[0] ?? 0);
  return [[
    "heap over 1,000,000 deltas, slow reader",
    `${growth.toFixed(0)} MB`,
    `message itself ${message} MB, held twice`,
    "flat",
  ]];
}

async function drain(agent: Agent): Promise<void> {
  for await (const _event of agent.promptStream("go"));
}

async function runTool(tool: AgentTool, json: string): Promise<unknown> {
  return await tool.execute(JSON.parse(json), {
    toolCallId: "",
    idempotencyKey: "",
    signal: new AbortController().signal,
    onUpdate: () => {},
  });
}

function assertEqual(actual: number, expected: number): void {
  if (actual !== expected) throw new Error(`Expected ${expected}, got ${actual}`);
}

const formatMilliseconds = (value: number): string => `${value.toFixed(1)} ms`;
const formatPerUnit = (value: number, units: number): string =>
  `${(value / units * 1000).toFixed(2)} us`;
const formatRatio = ({ ours, floor }: { readonly ours: number; readonly floor: number }): string =>
  (ours / floor).toFixed(2);

if (import.meta.main) {
  printReport("engine", [
    ...await benchStreams(),
    ...await benchTurns(),
    ...await benchArguments(),
    ...await benchFanOut(),
    ...await benchAbort(),
    ...await benchMemory(),
  ]);
}
