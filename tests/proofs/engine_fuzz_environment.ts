/**
 * Random environments of a run: tools, options, approvals, policies, listeners and readers.
 *
 * @module
 */

import { setImmediate } from "node:timers";
import type { Agent } from "../../src/agent/agent.ts";
import type { AgentOptions } from "../../src/agent/options.ts";
import type { ApprovalDecision } from "../../src/core/approval.ts";
import type { AgentEvent } from "../../src/core/event.ts";
import { type AgentMessage, userMessage } from "../../src/core/message.ts";
import type { Policy } from "../../src/core/policy.ts";
import type { AgentTool } from "../../src/core/tool.ts";
import { assistantMessage, toolCall } from "../../src/testing/messages.ts";
import type { ManualClock } from "../../src/testing/manual_clock.ts";
import type { RandomSource } from "./engine_fuzz_random.ts";

/** State that the parts of an environment share. */
export interface FuzzEnvironment {
  readonly random: RandomSource;
  /** Clock of the tools, separate from that of the engine. */
  readonly toolClock: ManualClock;
  /** Whether all parts work: nothing fails, hangs or changes the run. */
  isWellBehaved: boolean;
}

const parameters = {
  type: "object",
  properties: { n: { type: "number" }, key: { type: "string" } },
};

/** Creates one tool of each kind: fast, slow, ignoring its signal, hanging, throwing and so on. */
export function randomTools(environment: FuzzEnvironment): AgentTool[] {
  const { random, toolClock } = environment;
  const tool = (
    name: string,
    execute: AgentTool["execute"],
    properties: Partial<AgentTool> = {},
  ): AgentTool => ({ name, description: "", parameters, execute, ...properties });
  const variants: Partial<AgentTool>[] = [
    {},
    { sequential: true },
    { concurrencyKey: ({ key }) => String(key) },
    { interruptible: false },
    { timeoutMs: 20 },
    { readOnly: true },
  ];
  return [
    tool("fast", () => Promise.resolve("done"), random.oneOf(variants)),
    tool("slow", async (_args, { signal }) => {
      await toolClock.sleep(random.integer(80), signal);
      return signal.aborted ? "stopped" : "done";
    }, random.oneOf(variants)),
    tool("ignores_signal", async () => {
      await toolClock.sleep(random.integer(300));
      return "done";
    }, random.oneOf(variants)),
    tool("stuck", () => new Promise(() => {}), random.oneOf([{ timeoutMs: 50 }, {}])),
    tool("throwing", () => {
      throw random.oneOf([new Error("no such file"), "disk full", null]);
    }, random.oneOf(variants)),
    tool("updating", async (_args, { onUpdate, signal }) => {
      for (let count = random.integer(200); count > 0; count--) onUpdate(`${count} left`);
      await toolClock.sleep(random.integer(50), signal);
      queueMicrotask(() => onUpdate("late"));
      void toolClock.sleep(200).then(() => onUpdate("very late"));
      return { content: [], details: { a: 1 } };
    }, random.oneOf(variants)),
    tool("greedy", (args) => {
      Object.assign(args, { stolen: true });
      return Promise.resolve(undefined as unknown as string);
    }, random.oneOf(variants)),
  ];
}

/** Creates random options of an agent. */
export function randomOptions(environment: FuzzEnvironment): Partial<AgentOptions> {
  const { random } = environment;
  const spare = { provider: "other", modelId: "spare", thinkingLevel: "off" } as const;
  return {
    maxTurns: 12,
    interrupt: random.oneOf(["cancel", "boundary", "after_batch"]),
    steeringMode: random.oneOf(["one_at_a_time", "all"]),
    followUpMode: random.oneOf(["one_at_a_time", "all"]),
    policies: random.array(0, 2, () => randomPolicy(environment)),
    ...(random.chance(0.3) && { toolTimeoutMs: 30 + random.integer(100) }),
    ...(random.chance(0.5) && { fallback: [{ model: spare }] }),
    ...(random.chance(0.3) && { retry: ({ attempt }) => attempt < 2 ? 50 : null }),
    ...(random.chance(0.4) && { approve: () => randomDecision(environment) }),
    ...(random.chance(0.2) && { approvalMode: random.oneOf(["enabled", "smart", "bypassed"]) }),
    ...(random.chance(0.4) && {
      transformContext: (messages, { overflow }) => {
        if (!environment.isWellBehaved && random.chance(0.1)) throw new Error("context too small");
        return overflow ? messages.slice(-1) : messages;
      },
    }),
    ...(random.chance(0.2) && {
      getApiKey: () =>
        random.chance(0.9) || environment.isWellBehaved ? "key" : Promise.reject(new Error("no")),
    }),
  };
}

function randomDecision(
  { random, isWellBehaved }: FuzzEnvironment,
): ApprovalDecision | boolean | Promise<ApprovalDecision> {
  if (isWellBehaved) return true;
  return random.create<ApprovalDecision | boolean | Promise<ApprovalDecision>>([
    () => true,
    () => true,
    () => false,
    () => ({ type: "denied", reason: "not today" }),
    () => ({ type: "approved", arguments: { n: random.integer(9) } }),
    () => ({ type: "approved", arguments: { n: "wrong" } }),
    () => undefined as unknown as boolean,
    () => Promise.reject(new Error("no terminal")),
    () => new Promise(() => {}),
  ]);
}

function randomPolicy(environment: FuzzEnvironment): Policy {
  const { random } = environment;
  const sometimes = <Verdict>(act: () => Verdict): Verdict | undefined =>
    !environment.isWellBehaved && random.chance(0.15) ? act() : undefined;
  const throwError = (): never => {
    throw new Error("broken policy");
  };
  const hang = (): Promise<never> => new Promise(() => {});
  const stop = () => ({ type: "stop", reason: "enough" }) as const;
  const inject = () =>
    ({
      type: "inject",
      messages: random.oneOf<AgentMessage[]>([
        [userMessage("hint", 0)],
        [],
        [assistantMessage([toolCall("fast", {}, { id: "a" })])],
        [{ role: "custom", type: "note", data: null, timestamp: 0 }],
      ]),
    }) as const;
  return random.oneOf<Policy>([
    { name: "stops", postTurn: () => sometimes(stop), preDispatch: () => sometimes(stop) },
    { name: "injects", preTurn: () => sometimes(inject), postTurn: () => sometimes(inject) },
    {
      name: "breaks",
      preTurn: () => sometimes(throwError),
      postTurn: () => sometimes(throwError),
      postLoop: () => sometimes(throwError),
    },
    {
      name: "hangs",
      preTurn: () => sometimes(hang),
      postTurn: () => sometimes(hang),
      preDispatch: () => sometimes(hang),
    },
    {
      name: "skips",
      preDispatch: () => sometimes(() => ({ type: "skip", reason: "no" }) as const),
    },
    {
      name: "rewrites",
      preDispatch: ({ arguments: args }) => {
        sometimes(() => args["n"] = random.oneOf([1, "wrong"]));
        sometimes(throwError);
      },
    },
  ]);
}

/**
 * Disturbs the run at random events: steers, follows up, changes settings, aborts, throws or delays. Returns a function
 * that does so at other times.
 */
export function createDisturbances(agent: Agent, environment: FuzzEnvironment): () => void {
  const { random } = environment;
  const probability = random.oneOf([0, 0.01, 0.05]);
  const disturbances: (() => void | Promise<void>)[] = [
    () => void agent.steer("Wait"),
    () => void agent.steer("Wait"),
    () => void agent.steer("Wait"),
    () => void agent.followUp("And then?"),
    () => void agent.steer({ role: "custom", type: "alarm", data: 1, timestamp: 0 }),
    () => agent.clearQueues(),
    () => agent.setModel(random.oneOf(["test/model", "other/model:high"])),
    () => agent.setTools(agent.state.tools.toSpliced(0, random.integer(2))),
    () => agent.abort("in the middle"),
    () => Promise.resolve(),
    () => new Promise((resolve) => setImmediate(resolve)),
  ];
  agent.subscribe(() => {
    if (!environment.isWellBehaved && random.chance(probability)) {
      return random.oneOf(disturbances)();
    }
  });
  agent.subscribe(() => {
    if (!environment.isWellBehaved && random.chance(0.005)) {
      throw new Error("The listener is broken");
    }
    if (!environment.isWellBehaved && random.chance(0.002)) return new Promise(() => {});
  });
  return () => {
    if (!environment.isWellBehaved && random.chance(probability)) void random.oneOf(disturbances)();
  };
}

/** Reads a run at random speed. Returns the events, or `undefined` if it stopped before the end. */
export async function readRandomly(
  stream: ReadableStream<AgentEvent>,
  { random }: FuzzEnvironment,
): Promise<AgentEvent[] | undefined> {
  const pause = () => new Promise((resolve) => setImmediate(resolve));
  const stopAfter = random.chance(0.1) ? random.integer(20) : Infinity;
  const events: AgentEvent[] = [];
  if (random.chance(0.3)) {
    const reader = stream.getReader();
    for (let read = await reader.read(); !read.done; read = await reader.read()) {
      if (events.push(read.value) > stopAfter) {
        await reader.cancel("stop early");
        return undefined;
      }
    }
    return events;
  }
  const isSlow = random.chance(0.2);
  for await (const event of stream) {
    if (events.push(event) > stopAfter) return undefined;
    if (isSlow && random.chance(0.2)) await pause();
  }
  return events;
}
