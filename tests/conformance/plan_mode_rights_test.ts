import { assert, assertEquals } from "@std/assert";
import { Agent } from "../../src/agent/agent.ts";
import type { Policy } from "../../src/core/hooks/policy.ts";
import type { StreamFn } from "../../src/core/streams/stream.ts";
import { type AgentTool, defineTool } from "../../src/core/tools/tool.ts";
import { subAgentTool } from "../../src/sub_agents/mod.ts";
import { toolCall } from "../../src/testing/messages.ts";
import { reply } from "../../src/testing/script.ts";
import { scriptedStream } from "../../src/testing/scripted_stream.ts";
import { seededRandom } from "../../src/testing/seeded_random.ts";
import { createPlanMode, type PlanFile } from "../../src/tools/plan/mod.ts";

const SEEDS = Deno.env.get("SWINK_PROVE") === "1" ? 5_000 : 40;
/** Levels of agents below that of the host. */
const LEVELS = 3;
const NAMES = ["read", "write", "bash"] as const;
const PLAN = {
  title: "T",
  context: "",
  steps: [{ title: "a", description: "", files: [], criteria: ["b"] }],
};

/** The tools and the calls of the agents of a tree, by depth. */
interface Trial {
  /** Names of the tools in requests. */
  readonly offered: readonly Set<string>[];
  /** The calls that ran, as `read own`. */
  readonly ran: readonly Set<string>[];
  /** Plans that were written. */
  readonly plans: string[];
}

type Chance = (probability: number) => boolean;

/** A tool that records its calls; calls `onRun` with the depth of its agent. */
function recordingTool(
  trial: Trial,
  { name, readOnly, kind, onRun = () => {} }: {
    readonly name: string;
    readonly readOnly: boolean;
    readonly kind: string;
    readonly onRun?: (depth: number) => void;
  },
): AgentTool {
  return defineTool({
    name,
    description: "Records its calls.",
    parameters: { type: "object" },
    readOnly,
    execute: (_args, { run: { depth } }) => {
      trial.ran[depth]?.add(`${name} ${readOnly ? "safe" : "unsafe"} ${kind}`);
      onRun(depth);
      return "ok";
    },
  });
}

/** Agents that make every call in two turns, and start the agent of the next level; that of the host does so once. */
function createModel(trial: Trial): StreamFn {
  return (request) => {
    const { turn = 0, context: { messages, tools } } = request;
    const level = Number(/level (\d)/.exec(JSON.stringify(messages[0]))?.[1] ?? 0);
    for (const { name } of tools) trial.offered[level]?.add(name);
    const calls = NAMES.map((name) => toolCall(name, {}));
    const next = toolCall(`level_${level + 1}`, { prompt: `level ${level + 1}` });
    const delegates = level > 0 || turn === 1 ? [next] : [];
    const step = turn < 3
      ? reply([...calls, toolCall("write_plan", PLAN), ...delegates])
      : reply("Done");
    return scriptedStream([step])(request);
  };
}

/** Creates the tool that starts the agent of a level, in one of the three ways. */
function createLevel(
  level: number,
  { chance, model, own, policies }: {
    readonly chance: Chance;
    readonly model: StreamFn;
    /** Tools of an agent that does not take those of its parent. */
    readonly own: readonly AgentTool[];
    readonly policies: readonly Policy[];
  },
): AgentTool {
  const name = `level_${level}`;
  const options = { name, description: "Starts an agent.", readOnly: true } as const;
  if (chance(0.4)) {
    return subAgentTool({ ...options, readOnly: chance(0.8), maxDepth: LEVELS, policies });
  }
  const agent = { model: "test/model", streamFn: model, tools: own, policies };
  if (chance(0.5)) return new Agent(agent).asTool(options);
  return defineTool({
    ...options,
    parameters: { type: "object", properties: { prompt: { type: "string" } } },
    execute: async ({ prompt = "" }, { run, signal }) =>
      (await new Agent({ ...agent, parent: run }).prompt(prompt, { signal })).text,
  });
}

async function runTrial(
  seed: number,
  { turnsOff }: { readonly turnsOff: boolean },
): Promise<Trial> {
  const random = seededRandom(seed);
  const chance: Chance = (probability) => random() < probability;
  const trial: Trial = {
    offered: Array.from({ length: LEVELS + 1 }, () => new Set<string>()),
    ran: Array.from({ length: LEVELS + 1 }, () => new Set<string>()),
    plans: [],
  };
  const model = createModel(trial);
  const createTools = (kind: string) => [
    recordingTool(trial, {
      name: "read",
      readOnly: true,
      kind,
      onRun: (depth) => void (turnsOff && depth === LEVELS && mode.turnOff(agent)),
    }),
    recordingTool(trial, { name: "write", readOnly: false, kind }),
    recordingTool(trial, { name: "bash", readOnly: chance(0.5), kind }),
  ];
  const levels: AgentTool[] = [];
  for (let level = LEVELS; level > 0; level--) {
    const own = createTools(`own of ${level}`);
    const added = createTools(`added to ${level}`);
    const adds: Policy = {
      name: "adds",
      preRequest: ({ tools }) => ({
        type: "change",
        tools: [...new Map([...tools, ...added].map((tool) => [tool.name, tool])).values()],
      }),
    };
    const policies = chance(0.4) ? [adds] : [];
    levels.unshift(createLevel(level, { chance, model, own: [...own, ...levels], policies }));
  }
  const file: PlanFile = {
    path: "/plan.md",
    read: () => Promise.resolve({ type: "missing" }),
    write: (text) => Promise.resolve(void trial.plans.push(text)),
  };
  const readBash = recordingTool(trial, { name: "bash", readOnly: true, kind: "plan" });
  const mode = createPlanMode({ file, tools: chance(0.5) ? [readBash] : [] });
  const agent = new Agent({
    model: "test/model",
    streamFn: model,
    tools: [...createTools("host"), ...levels],
    policies: [mode],
  });
  mode.turnOn(agent);
  const { error } = await agent.prompt("level 0");
  assertEquals(error, undefined);
  return trial;
}

Deno.test("plan mode: no agent of a tree has or runs a tool that changes something, three levels deep [AC-26]", async () => {
  const reached = Array.from({ length: LEVELS + 1 }, () => 0);
  for (let seed = 1; seed <= SEEDS; seed++) {
    const { offered, ran, plans } = await runTrial(seed, { turnsOff: false });
    ran.forEach((calls, depth) => {
      const unsafe = [...calls].filter((call) => call.includes("unsafe"));
      assertEquals(unsafe, [], `seed ${seed}, depth ${depth}`);
      assertEquals(offered[depth]?.has("write"), false, `seed ${seed}, depth ${depth}`);
      assertEquals(offered[depth]?.has("write_plan"), depth === 0, `seed ${seed}, depth ${depth}`);
      reached[depth] = (reached[depth] ?? 0) + calls.size;
    });
    assertEquals(plans.length, 2, `seed ${seed}: only the agent of the host writes the plan`);
  }
  for (const count of reached) assert(count > SEEDS / 4, `calls by depth: ${reached}`);
});

Deno.test("plan mode: agents that started in it stay in it when the agent of the host leaves it", async () => {
  let trials = 0;
  for (let seed = 1; seed <= SEEDS; seed++) {
    const { ran, offered } = await runTrial(seed, { turnsOff: true });
    if (ran[LEVELS]?.size === 0) continue;
    trials++;
    assert(offered[0]?.has("write"), `seed ${seed}: the agent of the host has left it`);
    for (let depth = 1; depth <= LEVELS; depth++) {
      const unsafe = [...ran[depth] ?? []].filter((call) => call.includes("unsafe"));
      assertEquals([unsafe, offered[depth]?.has("write")], [[], false], `seed ${seed}, ${depth}`);
    }
  }
  assert(trials > SEEDS / 4, `${trials} trials`);
});
