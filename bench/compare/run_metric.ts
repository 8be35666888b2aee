/**
 * Measures one figure of one library, in a process of its own: `run_metric.ts NAME METRIC` prints a number.
 *
 * @module
 */

import process from "node:process";
import { aiSdk } from "./ai_sdk.ts";
import { type Contender, DELTA, type Reply, type RunScenario } from "./contender.ts";
import { openAiAgents } from "./openai_agents.ts";
import { pi } from "./pi.ts";
import { swink } from "./swink.ts";

/** The libraries. */
export const CONTENDERS: readonly Contender[] = [swink, aiSdk, openAiAgents, pi];

const TURNS = 200;
const DELTAS = 50_000;
const WARM_UP_RUNS = 2;
/** Duration of the tool that ignores the abort, in milliseconds. */
const DEAF_TOOL_MS = 3_000;

const METRICS: Readonly<Record<string, (run: RunScenario) => Promise<number>>> = {
  /** Microseconds of processor time per turn with one tool call. */
  async turn(run) {
    const calls = Array.from({ length: TURNS }, (_, index): Reply => ({
      type: "call",
      id: `call_${index}`,
    }));
    const milliseconds = await measureWarm(run, [...calls, { type: "text", deltas: 1 }]);
    return milliseconds / TURNS * 1_000;
  },
  /** Microseconds of processor time per text delta. */
  async delta(run) {
    return await measureWarm(run, [{ type: "text", deltas: DELTAS }]) / DELTAS * 1_000;
  },
  /** Milliseconds from an abort to the end of the run, while a tool ignores its signal. */
  async abort(run) {
    const controller = new AbortController();
    let abortedAt = 0;
    const lookup = (): Promise<string> => {
      setTimeout(() => {
        abortedAt = performance.now();
        controller.abort();
      }, 50);
      return new Promise((resolve) => setTimeout(() => resolve("found"), DEAF_TOOL_MS));
    };
    const replies: Reply[] = [{ type: "call", id: "call_1" }, { type: "text", deltas: 1 }];
    await run({ replies, lookup, signal: controller.signal }).catch(() => {});
    return performance.now() - abortedAt;
  },
};

/** Returns the processor time of a run after others, in milliseconds: other programs on the machine hardly change it. */
async function measureWarm(run: RunScenario, replies: readonly Reply[]): Promise<number> {
  const expected = replies.reduce(
    (sum, reply) => sum + (reply.type === "text" ? reply.deltas * DELTA.length : 0),
    0,
  );
  let milliseconds = 0;
  for (let count = 0; count <= WARM_UP_RUNS; count++) {
    const start = process.cpuUsage();
    const length = await run({ replies, lookup: () => "found" });
    const { user, system } = process.cpuUsage(start);
    milliseconds = (user + system) / 1_000;
    if (length !== expected) throw new Error(`${length} characters instead of ${expected}`);
  }
  return milliseconds;
}

if (import.meta.main) {
  const [name, metric = ""] = Deno.args;
  const contender = CONTENDERS.find((contender) => contender.name === name);
  const run = await contender?.load();
  if (!run || !METRICS[metric]) throw new Error(`Unknown: ${Deno.args.join(" ")}`);
  console.log(await METRICS[metric](run));
  Deno.exit();
}
