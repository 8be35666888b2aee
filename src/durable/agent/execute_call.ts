/**
 * Executes a tool call within its step.
 *
 * @module
 */

import { AbortedError, BadRequestError, getErrorMessage } from "../../core/errors/errors.ts";
import { isJsonObject, type JsonObject } from "../../core/json/json.ts";
import { toToolResult } from "../../core/messages/to_tool_result.ts";
import { type AgentToolResult, errorResult } from "../../core/messages/tool_result.ts";
import { createDeferred } from "../../core/ports/deferred.ts";
import { type Ports, realSleep } from "../../core/ports/ports.ts";
import type { AgentTool, ToolContext } from "../../core/tools/tool.ts";
import { GRACE_MS } from "../../loop/callbacks/cancellation.ts";
import type { InterruptPolicy } from "../../loop/run/config.ts";
import { ParentRun } from "../../loop/run/parent_run.ts";
import type { StepSpending } from "../../loop/run/run_progress.ts";
import { SubAgentSpending } from "../../loop/run/sub_agent_spending.ts";
import type { RunSteps } from "../steps/run_steps.ts";
import { DetachedError } from "../steps/step_journal.ts";

/**
 * The outcome of a call, as it is recorded. `cancelled`: by its timeout or a message. `unknown`: it must not run again, and
 * an earlier process had started it. `skipped`: the loop has not started it.
 */
export type CallOutcome =
  | { readonly type: "result"; readonly result: AgentToolResult }
  | ({ readonly type: "cancelled"; readonly text: string } & StepSpending)
  | { readonly type: "unknown" | "skipped" };

/** A call that is executed. */
export interface ExecutedCall {
  /** The tool. */
  readonly tool: AgentTool;
  /** The arguments. */
  readonly args: JsonObject;
  /** The context of the loop. */
  readonly context: ToolContext;
  /** The steps of the run. */
  readonly steps: RunSteps;
  /** Aborted when the run is aborted. */
  readonly signal: AbortSignal;
  /** The effect of steering. */
  readonly interrupt: InterruptPolicy;
  /** Whether no earlier process has executed the tool. A repeated call ends what it has begun, as a run of another agent. */
  readonly isFirst: boolean;
  /** The ports of agents that the tool runs: those of the run are the same in a replay, which does not run the tool. */
  readonly ports: Ports;
}

/**
 * Executes a tool. It is cancelled by the loop and by messages that arrive; one that does not settle in the grace period
 * is no longer awaited. Rejects with the error of the tool.
 */
export async function executeCall(call: ExecutedCall): Promise<CallOutcome> {
  const { tool, args, context, steps, signal, ports, isFirst } = call;
  const cancellation = new AbortController();
  const cancelled = createDeferred<CallOutcome>();
  const timer = new AbortController();
  const agents = new CallAgents(context);
  const cancel = (reason: unknown) => {
    if (cancellation.signal.aborted) return;
    cancellation.abort(reason);
    if (reason instanceof DetachedError) return; // The step no longer waits for the tool.
    const text = getErrorMessage(reason);
    void realSleep(GRACE_MS, timer.signal).then(() =>
      cancelled.resolve({ type: "cancelled", text, ...agents.spending })
    );
  };
  const unsubscribe = [
    onAbort(signal, cancel),
    onAbort(context.signal, cancel),
    steps.onArrival(() => {
      if (isSteered(call)) cancel(new AbortedError("tool call cancelled"));
    }),
  ];
  if (isSteered(call)) cancel(new AbortedError("tool call cancelled"));
  try {
    const execute = async (): Promise<CallOutcome> => {
      if (isFirst) cancellation.signal.throwIfAborted();
      const output = await tool.execute(
        args,
        toStepContext(context, { signal: cancellation.signal, ports, onEvent: agents.onEvent }),
      );
      return { type: "result", result: toToolResult(output) };
    };
    const outcome = await Promise.race([execute(), cancelled.promise]);
    if (!cancellation.signal.aborted) return outcome;
    const reported = outcome.type === "result" ? outcome.result : {};
    return toCancelled(cancellation.signal, agents.choose(reported));
  } catch (thrown) {
    if (cancellation.signal.aborted) return toCancelled(cancellation.signal, agents.spending);
    if (!agents.spending) throw thrown;
    // The loop knows what they have spent only while they run.
    const failure = errorResult(getErrorMessage(thrown) || "The tool failed without a message");
    return { type: "result", result: { ...failure, ...agents.spending } };
  } finally {
    for (const stop of unsubscribe) stop();
    timer.abort();
  }
}

function toCancelled({ reason }: AbortSignal, { usage, cost }: StepSpending = {}): CallOutcome {
  const text = getErrorMessage(reason);
  return { type: "cancelled", text, ...(usage && { usage }), ...(cost && { cost }) };
}

/** The agents that a call runs. A replay does not emit their events, by which the loop counts what they spend. */
class CallAgents {
  readonly #spending = new SubAgentSpending();
  #areRunning = false;
  /** Passes an event of an agent on. */
  readonly onEvent: ToolContext["onEvent"];

  constructor(context: ToolContext) {
    this.onEvent = async (event) => {
      if (isJsonObject(event)) {
        this.#areRunning = true;
        this.#spending.add(event);
      }
      await context.onEvent(event);
    };
  }

  /** Spending so far; `undefined` if the call has run no agent. */
  get spending(): StepSpending | undefined {
    return this.#areRunning ? this.#spending.total : undefined;
  }

  /** Returns what the result of the call reports, or else the spending so far. */
  choose(reported: StepSpending): StepSpending | undefined {
    return reported.usage || reported.cost ? reported : this.spending;
  }
}

function isSteered({ steps, interrupt, tool }: ExecutedCall): boolean {
  return interrupt === "cancel" && tool.interruptible !== false &&
    steps.arrived.some(({ message }) => message.type === "steer");
}

function onAbort(signal: AbortSignal, listener: (reason: unknown) => void): () => void {
  const handle = () => listener(signal.reason);
  if (signal.aborted) handle();
  signal.addEventListener("abort", handle);
  return () => signal.removeEventListener("abort", handle);
}

/** Returns the context of a call within its step; its `messages` are still copied only when they are read. */
function toStepContext(
  context: ToolContext,
  { signal, ports, onEvent }: Pick<ExecutedCall, "signal" | "ports"> & Pick<ToolContext, "onEvent">,
): ToolContext {
  const { run } = context;
  const services = { ports, background: refuseBackground };
  return Object.defineProperties({}, {
    ...Object.getOwnPropertyDescriptors(context),
    signal: { value: signal, enumerable: true },
    onEvent: { value: onEvent, enumerable: true },
    run: {
      value: run instanceof ParentRun ? run.withServices(services) : run,
      enumerable: true,
    },
  }) as ToolContext;
}

/** Throws: the work would not be part of the step, so that a replay would have neither the work nor its messages. */
function refuseBackground(): never {
  throw new BadRequestError(
    "A durable run has no work in the background: make the call without it, or use workflowTool()",
  );
}
