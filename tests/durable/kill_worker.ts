/**
 * A worker that tests kill at random: it starts its share of the runs, and continues those of dead workers.
 *
 * @module
 */

import type { Agent } from "../../src/agent/agent.ts";
import type { DurableSteps } from "../../src/core/durable/durable_steps.ts";
import { extractText } from "../../src/core/messages/content.ts";
import type { LlmMessage } from "../../src/core/messages/message.ts";
import type { StreamRequest } from "../../src/core/streams/stream.ts";
import { type AgentTool, defineTool } from "../../src/core/tools/tool.ts";
import { DbosEngine } from "../../src/durable/dbos/mod.ts";
import { durableAgent, openDurableSession } from "../../src/durable/mod.ts";
import { PostgresSessionStore } from "../../src/memory/postgres/mod.ts";
import { toolCall } from "../../src/testing/messages.ts";
import { reply, type ScriptedAnswer } from "../../src/testing/script.ts";
import { scriptedStream } from "../../src/testing/scripted_stream.ts";

/** The tools; operation number `n` uses tool `n % 3`. */
const TOOLS = ["append", "write", "inspect"] as const;
const BATCH_SIZE = 3;
/** Number of operations of a run. */
export const OPERATIONS = 12;
/** Duration of the lease of a session that a worker saves, in milliseconds. */
export const LEASE_MS = 1_000;
/** Longest time of a tool, in milliseconds. */
const TOOL_MS = 30;

/** Options for {@linkcode runWorker}. */
export interface WorkerOptions {
  /** URL of the database. */
  readonly url: string;
  /** Directory of the files that tools change. */
  readonly directory: string;
  /** Number of the worker. */
  readonly worker: number;
  /** The ids of the runs that the worker starts. */
  readonly runs: readonly string[];
}

/** Starts an engine and the runs of the worker. */
async function runWorker({ url, directory, worker, runs }: WorkerOptions): Promise<void> {
  const engine = new DbosEngine({
    databaseUrl: url,
    executorId: `worker-${worker}`,
    recoveryMs: 200,
    maxConnections: 6,
  });
  const store = new PostgresSessionStore({
    connection: url,
    leaseMs: LEASE_MS,
    maxConnections: 2,
    retryMs: 60_000,
  });
  const work = engine.register("work", async (steps: DurableSteps, id: string) => {
    const agent = createKillAgent(directory, steps);
    const session = await openDurableSession(agent, store, { id, steps });
    const result = await agent.prompt("work");
    await session.save(result);
    return result.text;
  });
  await engine.start();
  console.log("ready");
  // A run that exists is not started again.
  await Promise.all(runs.map((id) => work.start(id, { id })));
}

/** Creates the agent of a run, which calls tools until all operations are done. */
export function createKillAgent(directory: string, steps: DurableSteps): Agent {
  return durableAgent({
    model: "scripted/model",
    streamFn: scriptedStream(Array.from({ length: 1000 }, () => createNextStep(steps))),
    tools: createTools(directory),
    validator: () => () => [],
  }, steps);
}

/** Calls tools for the next open operations, and gives the final reply after the last one. */
function createNextStep(steps: DurableSteps): (request: StreamRequest) => ScriptedAnswer {
  return ({ context: { messages } }) => {
    const open = findOpenOperations(messages).slice(0, BATCH_SIZE);
    if (open.length === 0) return reply("all done");
    return reply(
      open.map((operation) =>
        toolCall(TOOLS[operation % 3] ?? "inspect", { run: steps.runId, operation }, {
          id: `operation_${operation}`,
        })
      ),
    );
  };
}

function findOpenOperations(messages: readonly LlmMessage[]): number[] {
  const settled = new Set(
    messages.flatMap((message) => message.role === "tool_result" ? [message.toolCallId] : []),
  );
  return Array.from(Array(OPERATIONS).keys()).filter((operation) =>
    !settled.has(`operation_${operation}`)
  );
}

function createTools(directory: string): AgentTool[] {
  const parameters = {
    type: "object",
    properties: { run: { type: "string" }, operation: { type: "integer" } },
    required: ["run", "operation"],
  } as const;
  const record = async (file: string, line: string) => {
    await new Promise((resolve) => setTimeout(resolve, Math.random() * TOOL_MS));
    await Deno.writeTextFile(`${directory}/${file}`, `${line}\n`, { append: true });
    await new Promise((resolve) => setTimeout(resolve, Math.random() * TOOL_MS));
  };
  return [
    defineTool({
      name: "append",
      description: "Must not be repeated.",
      parameters,
      sideEffect: "once",
      execute: async ({ run, operation }) => {
        await record("effects.txt", `${run} ${operation}`);
        return `done ${operation}`;
      },
    }),
    defineTool({
      name: "write",
      description: "May be repeated under the same key.",
      parameters,
      sideEffect: "idempotent",
      execute: async ({ run, operation }, { idempotencyKey }) => {
        await record("keys.txt", `${run} ${operation} ${idempotencyKey}`);
        return `done ${operation}`;
      },
    }),
    defineTool({
      name: "inspect",
      description: "Changes nothing.",
      parameters,
      readOnly: true,
      execute: ({ operation }) => `done ${operation}`,
    }),
  ];
}

/** Whether a message reports that the outcome of its call is not known. */
export function isUnknown(message: LlmMessage): boolean {
  return message.role === "tool_result" && extractText(message.content).includes("is not known");
}

if (import.meta.main) {
  const [url = "", directory = "", worker = "0", ...runs] = Deno.args;
  await runWorker({ url, directory, worker: Number(worker), runs });
}
