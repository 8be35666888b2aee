/**
 * Everything around a model that a run may meet: tools, people, policies, listeners and readers of every kind.
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
import type { ManualClock } from "../conformance/ports.ts";
import type { RandomSource } from "./engine_fuzz_random.ts";

/** What the world is made with. */
export interface FuzzEnvironment {
  readonly random: RandomSource;
  /** The time of the tools, which is not the engine's. */
  readonly toolClock: ManualClock;
  /** Once true, everybody behaves. */
  isCalm: boolean;
}

const parameters = {
  type: "object",
  properties: { n: { type: "number" }, key: { type: "string" } },
};

/** Tools of every kind, by names of their own. */
export function randomTools(world: FuzzEnvironment): AgentTool[] {
  const { random: dice, toolClock } = world;
  const tool = (
    name: string,
    execute: AgentTool["execute"],
    more: Partial<AgentTool> = {},
  ): AgentTool => ({ name, description: "", parameters, execute, ...more });
  const oddities: Partial<AgentTool>[] = [
    {},
    { sequential: true },
    { concurrencyKey: ({ key }) => String(key) },
    { interruptible: false },
    { timeoutMs: 20 },
    { readOnly: true },
  ];
  return [
    tool("fast", () => Promise.resolve("done"), dice.oneOf(oddities)),
    tool("slow", async (_args, { signal }) => {
      await toolClock.sleep(dice.integer(80), signal);
      return signal.aborted ? "stopped" : "done";
    }, dice.oneOf(oddities)),
    tool("deaf", async () => {
      await toolClock.sleep(dice.integer(300));
      return "heard nothing";
    }, dice.oneOf(oddities)),
    tool("stuck", () => new Promise(() => {}), dice.oneOf([{ timeoutMs: 50 }, {}])),
    tool("throwing", () => {
      throw dice.oneOf([new Error("no such file"), "disk full", null]);
    }, dice.oneOf(oddities)),
    tool("updating", async (_args, { onUpdate, signal }) => {
      for (let count = dice.integer(200); count > 0; count--) onUpdate(`${count} left`);
      await toolClock.sleep(dice.integer(50), signal);
      queueMicrotask(() => onUpdate("late"));
      void toolClock.sleep(200).then(() => onUpdate("very late"));
      return { content: [], details: { a: 1 } };
    }, dice.oneOf(oddities)),
    tool("greedy", (args) => {
      Object.assign(args, { stolen: true });
      return Promise.resolve(undefined as unknown as string);
    }, dice.oneOf(oddities)),
  ];
}

/** Options of every kind. */
export function randomOptions(world: FuzzEnvironment): Partial<AgentOptions> {
  const { random: dice } = world;
  const spare = { provider: "other", modelId: "spare", thinkingLevel: "off" } as const;
  return {
    maxTurns: 12,
    interrupt: dice.oneOf(["cancel", "boundary", "after_batch"]),
    steeringMode: dice.oneOf(["one_at_a_time", "all"]),
    followUpMode: dice.oneOf(["one_at_a_time", "all"]),
    policies: dice.array(0, 2, () => randomPolicy(world)),
    ...(dice.chance(0.3) && { toolTimeoutMs: 30 + dice.integer(100) }),
    ...(dice.chance(0.5) && { fallback: [{ model: spare }] }),
    ...(dice.chance(0.3) && { retry: ({ attempt }) => attempt < 2 ? 50 : null }),
    ...(dice.chance(0.4) && { approve: () => randomDecision(world) }),
    ...(dice.chance(0.2) && { approvalMode: dice.oneOf(["enabled", "smart", "bypassed"]) }),
    ...(dice.chance(0.4) && {
      transformContext: (messages, { overflow }) => {
        if (!world.isCalm && dice.chance(0.1)) throw new Error("no room");
        return overflow ? messages.slice(-1) : messages;
      },
    }),
    ...(dice.chance(0.2) && {
      getApiKey: () => dice.chance(0.9) || world.isCalm ? "key" : Promise.reject(new Error("no")),
    }),
  };
}

function randomDecision(
  { random: dice, isCalm }: FuzzEnvironment,
): ApprovalDecision | boolean | Promise<ApprovalDecision> {
  if (isCalm) return true;
  return dice.create<ApprovalDecision | boolean | Promise<ApprovalDecision>>([
    () => true,
    () => true,
    () => false,
    () => ({ type: "denied", reason: "not today" }),
    () => ({ type: "approved", arguments: { n: dice.integer(9) } }),
    () => ({ type: "approved", arguments: { n: "wrong" } }),
    () => undefined as unknown as boolean,
    () => Promise.reject(new Error("no terminal")),
    () => new Promise(() => {}),
  ]);
}

function randomPolicy(world: FuzzEnvironment): Policy {
  const { random: dice } = world;
  const odd = <Verdict>(act: () => Verdict): Verdict | undefined =>
    !world.isCalm && dice.chance(0.15) ? act() : undefined;
  const broken = (): never => {
    throw new Error("no ink");
  };
  const hanging = (): Promise<never> => new Promise(() => {});
  const stop = () => ({ type: "stop", reason: "enough" }) as const;
  const inject = () =>
    ({
      type: "inject",
      messages: dice.oneOf<AgentMessage[]>([
        [userMessage("hint", 0)],
        [],
        [assistantMessage([toolCall("fast", {}, { id: "a" })])],
        [{ role: "custom", type: "note", data: null, timestamp: 0 }],
      ]),
    }) as const;
  return dice.oneOf<Policy>([
    { name: "stops", postTurn: () => odd(stop), preDispatch: () => odd(stop) },
    { name: "injects", preTurn: () => odd(inject), postTurn: () => odd(inject) },
    {
      name: "breaks",
      preTurn: () => odd(broken),
      postTurn: () => odd(broken),
      postLoop: () => odd(broken),
    },
    {
      name: "hangs",
      preTurn: () => odd(hanging),
      postTurn: () => odd(hanging),
      preDispatch: () => odd(hanging),
    },
    { name: "skips", preDispatch: () => odd(() => ({ type: "skip", reason: "no" }) as const) },
    {
      name: "rewrites",
      preDispatch: ({ arguments: args }) => {
        odd(() => args["n"] = dice.oneOf([1, "wrong"]));
        odd(broken);
      },
    },
  ]);
}

/**
 * Does something odd at random events: says more, changes its mind, aborts, throws, takes its time. Gives a function
 * that does so now and then at other times.
 */
export function createDisturbances(agent: Agent, world: FuzzEnvironment): () => void {
  const { random: dice } = world;
  const probability = dice.oneOf([0, 0.01, 0.05]);
  const acts: (() => void | Promise<void>)[] = [
    () => void agent.steer("Wait"),
    () => void agent.steer("Wait"),
    () => void agent.steer("Wait"),
    () => void agent.followUp("And then?"),
    () => void agent.steer({ role: "custom", type: "alarm", data: 1, timestamp: 0 }),
    () => agent.clearQueues(),
    () => agent.setModel(dice.oneOf(["test/model", "other/model:high"])),
    () => agent.setTools(agent.state.tools.toSpliced(0, dice.integer(2))),
    () => agent.abort("in the middle"),
    () => Promise.resolve(),
    () => new Promise((resolve) => setImmediate(resolve)),
  ];
  agent.subscribe(() => {
    if (!world.isCalm && dice.chance(probability)) return dice.oneOf(acts)();
  });
  agent.subscribe(() => {
    if (!world.isCalm && dice.chance(0.005)) throw new Error("The listener is broken");
    if (!world.isCalm && dice.chance(0.002)) return new Promise(() => {});
  });
  return () => {
    if (!world.isCalm && dice.chance(probability)) void dice.oneOf(acts)();
  };
}

/** Reads a run in one of many ways. Gives what was read, or `undefined` when not all of it was. */
export async function readRandomly(
  stream: ReadableStream<AgentEvent>,
  { random: dice }: FuzzEnvironment,
): Promise<AgentEvent[] | undefined> {
  const pause = () => new Promise((resolve) => setImmediate(resolve));
  const leaveAfter = dice.chance(0.1) ? dice.integer(20) : Infinity;
  const events: AgentEvent[] = [];
  if (dice.chance(0.3)) {
    const reader = stream.getReader();
    for (let read = await reader.read(); !read.done; read = await reader.read()) {
      if (events.push(read.value) > leaveAfter) {
        await reader.cancel("seen enough");
        return undefined;
      }
    }
    return events;
  }
  const isSlow = dice.chance(0.2);
  for await (const event of stream) {
    if (events.push(event) > leaveAfter) return undefined;
    if (isSlow && dice.chance(0.2)) await pause();
  }
  return events;
}
