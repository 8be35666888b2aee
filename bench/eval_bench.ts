/**
 * Measures evaluations of scripted cases, compared with the bare runs of their agents: the time, and the memory that
 * remains.
 *
 * A case has two messages of the user, four tool calls and six replies. Values are medians of warm runs.
 *
 * @module
 */

import v8 from "node:v8";
import vm from "node:vm";
import { Agent, type AgentTool, type AssistantMessageEvent, defineTool } from "../mod.ts";
import { createEvalRun, type EvalSet, runEvalSet } from "../src/eval/mod.ts";
import { median, printReport, type Row } from "./report.ts";

const CASES = 1_000;
const PARALLEL = 8;
const RUNS = 5;
const USAGE = { input: 900, output: 100, cacheRead: 0, cacheWrite: 0, total: 1_000 };
/** Cases after which the memory is compared with that after all of them. */
const EARLY_CASES = 200;

v8.setFlagsFromString("--expose-gc");
const collectGarbage: () => void = vm.runInNewContext("gc");

async function* streamReply(turn: number): AsyncGenerator<AssistantMessageEvent> {
  // The adapters read a socket for several events.
  await Promise.resolve();
  yield { type: "start" };
  yield { type: "text_start", contentIndex: 0 };
  for (let word = 0; word < 20; word++) {
    yield { type: "text_delta", contentIndex: 0, delta: `word ${word} ` };
  }
  yield { type: "text_end", contentIndex: 0 };
  const callsTools = turn % 3 !== 2;
  if (callsTools) {
    yield { type: "tool_call_start", contentIndex: 1, id: `call_${turn}`, name: "read_file" };
    yield { type: "tool_call_delta", contentIndex: 1, delta: `{"path":"src/file_${turn}.ts"}` };
    yield { type: "tool_call_end", contentIndex: 1 };
  }
  yield { type: "done", stopReason: callsTools ? "tool_use" : "stop", usage: USAGE };
}

const readFile: AgentTool = defineTool({
  name: "read_file",
  description: "Reads a file.",
  parameters: { type: "object", properties: { path: { type: "string" } }, required: ["path"] },
  readOnly: true,
  execute: ({ path }) => `${path}\n${"export const value = 1;\n".repeat(80)}`,
});

function createAgent(): Agent {
  let turn = 0;
  return new Agent({
    model: "bench/model",
    streamFn: () => streamReply(turn++),
    tools: [readFile],
  });
}

const MESSAGES = ["Explain the code", "Explain the rest"];

function createSet(count: number): EvalSet {
  return {
    id: "bench",
    cases: Array.from({ length: count }, (_, index) => ({
      id: `case_${index}`,
      userMessages: MESSAGES,
      expectedTrajectory: {
        match: "in_order",
        calls: [{
          tool: "read_file",
          matchers: { path: { type: "regex", pattern: "\\.ts$" } },
        }, { tool: "read_file" }],
      },
      expectedResponse: { type: "contains", text: "word 19" },
      budget: { maxTurns: 10, maxTokens: 100_000 },
      evaluators: [{ name: "efficiency", options: { threshold: 0.1 } }],
    })),
  };
}

/** Makes the runs of the cases without an evaluation. */
async function runBare(count: number): Promise<void> {
  const queue = Array.from({ length: count }, (_, index) => index).values();
  const work = async () => {
    for (const _ of queue) {
      const agent = createAgent();
      for (const message of MESSAGES) {
        // deno-lint-ignore no-empty -- reads all events
        for await (const _event of agent.promptStream(message)) {}
      }
    }
  };
  await Promise.all(Array.from({ length: PARALLEL }, work));
}

/** Evaluates the cases, and calls `onResult` with the number of results so far. */
async function evaluate(count: number, onResult: (number: number) => void): Promise<void> {
  const directory = await Deno.makeTempDir({ prefix: "swink_bench_" });
  try {
    const set = createSet(count);
    using writer = await createEvalRun(`${directory}/run`, { set });
    let number = 0;
    const { results } = await runEvalSet(set, createAgent, {
      parallel: PARALLEL,
      omitCalls: true,
      onResult: async (result) => {
        await writer.append(result);
        onResult(++number);
      },
    });
    const failed = results.filter(({ outcome }) => outcome !== "passed").length;
    if (failed > 0) {
      throw new Error(`${failed} cases failed: ${JSON.stringify(results[0]?.scores)}`);
    }
  } finally {
    await Deno.remove(directory, { recursive: true });
  }
}

async function measureTime(work: () => Promise<void>): Promise<number> {
  const startedAt = performance.now();
  await work();
  return performance.now() - startedAt;
}

/** Measures both in turn, so that other programs on the machine change both. */
async function measureTimes(): Promise<Row> {
  const bare: number[] = [];
  const evaluated: number[] = [];
  for (let run = -1; run < RUNS; run++) {
    bare[run + 1] = await measureTime(() => runBare(CASES));
    evaluated[run + 1] = await measureTime(() => evaluate(CASES, () => {}));
  }
  const [before, after] = [median(bare.slice(1)), median(evaluated.slice(1))];
  const value = `${Math.round(after)} ms, bare ${Math.round(before)} ms`;
  return [`${CASES} cases, ${PARALLEL} in parallel`, value, (after / before).toFixed(2), "2"];
}

/** Measures the memory in use after the garbage collection, in bytes. */
function measureHeap(): number {
  collectGarbage();
  return Deno.memoryUsage().heapUsed;
}

async function measureMemory(): Promise<Row> {
  const heaps = new Map<number, number>();
  await evaluate(CASES, (number) => {
    if (number === EARLY_CASES || number === CASES) heaps.set(number, measureHeap());
  });
  const [early = NaN, late = NaN] = [heaps.get(EARLY_CASES), heaps.get(CASES)];
  const toMegabytes = (bytes: number) => (bytes / 1e6).toFixed(1);
  const value = `${toMegabytes(late)} MB, after ${EARLY_CASES} cases ${toMegabytes(early)} MB`;
  return [`memory after ${CASES} cases`, value, (late / early).toFixed(2), "1.2"];
}

printReport("Evaluations", [await measureTimes(), await measureMemory()]);
