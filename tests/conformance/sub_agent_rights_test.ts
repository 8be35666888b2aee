import { assert, assertEquals } from "@std/assert";
import { Agent } from "../../src/agent/agent.ts";
import type { Approve } from "../../src/core/hooks/approve.ts";
import type { Policy } from "../../src/core/hooks/policy.ts";
import type { WorktreePort } from "../../src/core/ports/worktree_port.ts";
import type { StreamFn } from "../../src/core/streams/stream.ts";
import { type AgentTool, defineTool } from "../../src/core/tools/tool.ts";
import { InMemorySessionStore, openSession } from "../../src/memory/mod.ts";
import { allowTools, denyTools } from "../../src/policies/mod.ts";
import { subAgentTool } from "../../src/sub_agents/mod.ts";
import { toolCall } from "../../src/testing/messages.ts";
import { reply } from "../../src/testing/script.ts";
import { scriptedStream } from "../../src/testing/scripted_stream.ts";
import { seededRandom } from "../../src/testing/seeded_random.ts";
import { approvalGate } from "../../src/tools/mod.ts";

const SEEDS = Deno.env.get("SWINK_PROVE") === "1" ? 20_000 : 80;
const NAMES = ["read_file", "write_file", "edit_file", "run"] as const;
const PATHS = ["a/1", "b/1", "b/2"] as const;
/** Levels of agents below that of the host. */
const LEVELS = 3;

/** Chooses at random; the same for the same seed. */
class Choices {
  readonly #random: () => number;

  constructor(seed: number) {
    this.#random = seededRandom(seed);
  }

  chance(probability: number): boolean {
    return this.#random() < probability;
  }

  pick<Value>(values: readonly Value[]): Value {
    const { [Math.floor(this.#random() * values.length)]: value } = values;
    assert(value !== undefined);
    return value;
  }

  some<Value>(values: readonly Value[], probability = 0.6): Value[] {
    return values.filter(() => this.chance(probability));
  }
}

/** The calls that ran, by the depth of their agent, and those that a person was asked about. */
interface Trial {
  readonly ran: readonly Set<string>[];
  readonly asked: Set<string>;
}

/** A tool that records its calls; `kind` distinguishes tools with the same name. */
function recordingTool(trial: Trial, name: string, kind: string, choices: Choices): AgentTool {
  return defineTool({
    name,
    description: "Records its calls.",
    parameters: {
      type: "object",
      properties: { path: { type: "string" } },
      required: ["path"],
    },
    readOnly: name === "read_file",
    risk: choices.pick(["read", "write", "execute", "network"]),
    execute: ({ path }, { run }) => {
      trial.ran[run.depth]?.add(`${kind} ${name} ${path}`);
      return "ok";
    },
  });
}

function createPolicies(choices: Choices, extra: readonly AgentTool[]): Policy[] {
  const policies: Policy[] = [];
  if (choices.chance(0.3)) policies.push(denyTools(choices.some(NAMES, 0.3)));
  if (choices.chance(0.2)) {
    policies.push(allowTools([...choices.some(NAMES, 0.8), ...listDelegates()]));
  }
  if (choices.chance(0.3)) {
    const from = choices.pick(PATHS);
    const to = choices.pick(PATHS);
    policies.push({
      name: "rewrites",
      preDispatch: ({ arguments: args }) => {
        if (args["path"] === from) args["path"] = to;
      },
    });
  }
  if (choices.chance(0.3)) {
    const refused = choices.pick(PATHS);
    policies.push({
      name: "refuses",
      preDispatch: async ({ arguments: args }) => {
        await Promise.resolve();
        return args["path"] === refused ? { type: "skip", reason: "refused" } : undefined;
      },
    });
  }
  if (choices.chance(0.3)) {
    const added = choices.some(extra);
    policies.push({
      name: "adds_tools",
      preRequest: ({ tools }) => {
        const byName = new Map([...added, ...tools].map((tool) => [tool.name, tool]));
        return { type: "change", tools: [...byName.values()] };
      },
    });
  }
  return policies;
}

function createApproval(choices: Choices, { asked }: Trial): {
  readonly approve?: Approve;
  readonly approvalMode?: "always" | "smart" | "bypassed";
} {
  const answer = choices.chance(0.5);
  const ask = ({ name, arguments: args }: { name: string; arguments: Record<string, unknown> }) => {
    if (name.startsWith("delegate")) return true;
    asked.add(`${name} ${args["path"]}`);
    return answer;
  };
  const mode = choices.pick(["always", "smart", "bypassed"] as const);
  switch (choices.pick(["none", "gate", "gate", "gate", "function", "mode"] as const)) {
    case "none":
      return {};
    case "mode":
      return { approvalMode: mode };
    case "function":
      return { approve: ask, approvalMode: mode };
    case "gate": {
      const rules = NAMES.flatMap((name) => [name, `${name}(a/**)`, `${name}(b/1)`]);
      const approve = approvalGate({
        mode,
        ask,
        allow: [...choices.some(rules, 0.3), ...listDelegates()],
        deny: choices.some(rules, 0.1),
        classes: { network: choices.pick(["auto", "ask", "deny"]) },
      });
      if (choices.chance(0.3)) approve.trust({ type: "tool", name: choices.pick(NAMES) });
      return { approve };
    }
  }
}

function listDelegates(): string[] {
  return Array.from({ length: LEVELS }, (_, level) => `delegate_${level + 1}`);
}

/** How the agent of the host starts sub-agents. */
type Mode = "foreground" | "background" | "detached";

/** Agents that make every call they can think of, and start the agent of the next level. */
const createStream = (mode: Mode): StreamFn => (request) => {
  const [first] = request.context.messages;
  const level = Number(/level (\d)/.exec(JSON.stringify(first))?.[1] ?? 0);
  const calls = NAMES.flatMap((name) => PATHS.map((path) => toolCall(name, { path })));
  const delegate = toolCall(`delegate_${level + 1}`, {
    prompt: `level ${level + 1}`,
    ...(mode !== "foreground" && level === 0 && { [mode]: true }),
  });
  const step = request.turn === 1 ? reply([...calls, delegate]) : reply("Done");
  return scriptedStream([step])(request);
};

const WORKTREES: WorktreePort = {
  create: () => {
    const remove = () => Promise.resolve({ type: "removed" } as const);
    const worktree = { directory: "/tree", branch: "swink/tree", remove };
    return Promise.resolve({ type: "created", worktree });
  },
};

/** Tools of a worktree, some of which claim to do less than those of the run. */
function createBoundTools(trial: Trial, choices: Choices): AgentTool[] {
  return choices.some(NAMES, 0.9).map((name) => ({
    ...recordingTool(trial, name, "own", choices),
    ...(choices.chance(0.5) && { readOnly: true, requiresApproval: false }),
  }));
}

async function runTrial(seed: number): Promise<Trial> {
  const choices = new Choices(seed);
  const trial: Trial = {
    ran: Array.from({ length: LEVELS + 1 }, () => new Set<string>()),
    asked: new Set(),
  };
  const all = NAMES.map((name) => recordingTool(trial, name, "own", choices));
  const others = NAMES.map((name) => recordingTool(trial, name, "other", choices));
  const delegates: readonly AgentTool[] = listDelegates().map((name) =>
    subAgentTool({
      name,
      description: "Starts the next level.",
      background: true,
      detached: true,
      maxDepth: choices.pick([1, LEVELS, LEVELS]),
      ...(choices.chance(0.6) && {
        tools: [
          ...choices.some<AgentTool | string>([...NAMES, ...all, ...others]),
          ...listDelegates(),
        ],
      }),
      ...(choices.chance(0.15) && { readOnly: true }),
      policies: createPolicies(choices, [...all, ...others]),
      ...(choices.chance(0.2) && {
        worktrees: WORKTREES,
        worktreeTools: () => ({
          tools: [...createBoundTools(trial, choices), ...delegates],
        }),
      }),
    })
  );
  const agent = new Agent({
    model: "test/model",
    streamFn: createStream(choices.pick(["foreground", "background", "detached"])),
    tools: [...choices.some(all, 0.8), ...delegates],
    policies: createPolicies(choices, all),
    ...createApproval(choices, trial),
  });
  await using session = await openSession(new InMemorySessionStore(), {}, agent);
  const { error } = await agent.prompt("level 0");
  assertEquals(error, undefined);
  await Promise.all(session.detachedAgents.map(({ ended }) => ended));
  return trial;
}

Deno.test("sub-agents: the calls that run are a subset of those of the agent above, three levels deep", async () => {
  const reached = Array.from({ length: LEVELS + 1 }, () => 0);
  for (let seed = 1; seed <= SEEDS; seed++) {
    const { ran, asked } = await runTrial(seed);
    for (const [depth, calls] of ran.entries()) {
      reached[depth] = (reached[depth] ?? 0) + calls.size;
      const above = ran[depth - 1];
      if (!above) continue;
      const added = [...calls].filter((call) => !above.has(call));
      assertEquals(added, [], `seed ${seed}, depth ${depth}`);
      const unasked = [...calls].filter((call) => asked.has(call.replace(/^\w+ /, "")));
      assertEquals(unasked, [], `seed ${seed}: a person is asked about these`);
    }
  }
  // The subset is not empty by accident.
  for (const count of reached) assert(count > SEEDS / 10, `calls by depth: ${reached}`);
});
