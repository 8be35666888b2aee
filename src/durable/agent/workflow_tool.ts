/**
 * A tool that runs a workflow, such as that of another agent.
 *
 * @module
 */

import type { DurableRun, DurableWorkflow } from "../../core/durable/durable_engine.ts";
import { EngineClosedError } from "../../core/durable/engine_closed_error.ts";
import { BadRequestError, getErrorMessage } from "../../core/errors/errors.ts";
import { toToolResult } from "../../core/messages/to_tool_result.ts";
import { errorResult } from "../../core/messages/tool_result.ts";
import { realSleep } from "../../core/ports/ports.ts";
import { type AgentTool, defineTool } from "../../core/tools/tool.ts";
import { MAX_ID_LENGTH } from "../engine/workflow_registry.ts";
import { isUnreachable } from "../events/is_unreachable.ts";
import { hashJson } from "../steps/hash_json.ts";
import { DetachedError } from "../steps/step_journal.ts";

/** Pause between two attempts to abort the run of a call, in milliseconds. */
const RETRY_MS = 500;

/** Options for {@linkcode workflowTool}: those of a tool, apart from what the workflow determines. */
export interface WorkflowToolOptions
  extends Omit<AgentTool, "parameters" | "validate" | "execute" | "sideEffect" | "countedBy"> {
  /** Name by which the model calls it. */
  readonly name: string;
  /** Description for the model: what the workflow can do, and what its prompt must contain. */
  readonly description: string;
  /** The workflow. Its input is the prompt of the call; its output is the result: a text, JSON, or a tool result. */
  readonly workflow: DurableWorkflow<string, unknown>;
}

/**
 * Creates a tool whose calls are runs of a workflow: the durable form of a sub-agent. The run of a call has an id of its
 * own, so that it continues when the worker of the calling run ends, and its steps are not repeated. An abort of the call
 * aborts it.
 *
 * The agent of the workflow has its own policies and approvals: those of the calling run do not apply to it.
 *
 * @throws {BadRequestError} If the workflow is not registered, or an option is invalid.
 *
 * @example
 * ```ts
 * import { InProcessEngine, durableAgent, workflowTool } from "@swink/agent/durable";
 * import { InMemorySessionStore } from "@swink/agent/memory";
 * import { reply, scriptedStream, toolCall } from "@swink/agent/testing";
 *
 * await using engine = new InProcessEngine({ store: new InMemorySessionStore() });
 * const research = engine.register("research", async (steps, prompt: string) => {
 *   const streamFn = scriptedStream([reply("Found it.")]);
 *   return (await durableAgent({ model: "any/model", streamFn }, steps).prompt(prompt)).text;
 * });
 * const tools = [
 *   workflowTool({ name: "research", description: "Looks things up.", workflow: research }),
 * ];
 * const chat = engine.register("chat", async (steps, prompt: string) => {
 *   const call = reply([toolCall("research", { prompt: "Look" })]);
 *   const streamFn = scriptedStream([call, reply("Here it is.")]);
 *   return (await durableAgent({ model: "any/model", streamFn, tools }, steps).prompt(prompt)).text;
 * });
 * await engine.start();
 * await (await chat.start("Find it")).result(); // "Here it is."
 * ```
 */
export function workflowTool({ workflow, ...options }: WorkflowToolOptions): AgentTool {
  if (typeof workflow?.start !== "function") {
    throw new BadRequestError("Pass the workflow of a tool as register() of the engine returns it");
  }
  return defineTool({
    ...options,
    // A repeated call finds the run of the first one.
    sideEffect: "idempotent",
    parameters: {
      type: "object",
      properties: {
        prompt: { type: "string", description: "The task, with all that is needed to do it." },
      },
      required: ["prompt"],
      additionalProperties: false,
    },
    execute: async ({ prompt }, { idempotencyKey, signal }) => {
      const id = toRunId(idempotencyKey);
      const run = await repeatUntilReached(() => workflow.start(prompt, { id }));
      const abort = () => {
        // The run continues, as the calling one, when only this process ends.
        if (signal.reason instanceof DetachedError) return;
        const reason = getErrorMessage(signal.reason);
        // Nothing else would end the run.
        void repeatUntilReached(() => run.abort(reason)).catch(() => {});
      };
      if (signal.aborted) abort();
      signal.addEventListener("abort", abort);
      try {
        const output = await repeatUntilReached(() => run.result(), () => hasFailed(run));
        return typeof output === "string" ? output : toToolResult(output);
      } catch (thrown) {
        if (thrown instanceof EngineClosedError) throw thrown;
        return errorResult(getErrorMessage(thrown));
      } finally {
        signal.removeEventListener("abort", abort);
      }
    },
  });
}

/**
 * Repeats a call, which has the same effect when it is made twice, while the engine cannot be reached: the run of the tool
 * call would continue without it. `isFinal` returns whether such an error is another one.
 */
async function repeatUntilReached<Value>(
  call: () => Promise<Value>,
  isFinal: () => Promise<boolean> = () => Promise.resolve(false),
): Promise<Value> {
  while (true) {
    try {
      return await call();
    } catch (error) {
      if (!isUnreachable(error) || await isFinal()) throw error;
    }
    await realSleep(RETRY_MS);
  }
}

/** Whether a run has ended with an error, which may be that of a server that cannot be reached. */
async function hasFailed(run: DurableRun): Promise<boolean> {
  return await repeatUntilReached(() => run.status()) === "failed";
}

/** Returns the id of the run of a call, which engines limit in length; that of a deeply nested call begins with a hash. */
function toRunId(idempotencyKey: string): string {
  if (idempotencyKey.length <= MAX_ID_LENGTH) return idempotencyKey;
  return `${hashJson(idempotencyKey)}:${idempotencyKey.slice(-MAX_ID_LENGTH / 2)}`;
}
