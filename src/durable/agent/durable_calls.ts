/**
 * Tool calls that are steps.
 *
 * @module
 */

import { BadRequestError } from "../../core/errors/errors.ts";
import type { AgentEvent } from "../../core/events/event.ts";
import type { JsonObject } from "../../core/json/json.ts";
import { type AgentToolResult, errorResult } from "../../core/messages/tool_result.ts";
import { createDeferred, type Deferred } from "../../core/ports/deferred.ts";
import type { Ports } from "../../core/ports/ports.ts";
import { replaceExecute } from "../../core/tools/replace_execute.ts";
import type { AgentTool, ToolContext } from "../../core/tools/tool.ts";
import type { InterruptPolicy } from "../../loop/run/config.ts";
import { isPolicyText } from "../../loop/tool_calls/cancel_text.ts";
import type { RunSteps } from "../steps/run_steps.ts";
import type { BegunOperation, EndedStep } from "../steps/step_executor.ts";
import { unwrapOutcome } from "../steps/step_record.ts";
import { type CallOutcome, executeCall } from "./execute_call.ts";
import type { PolicyChecks } from "./policy_checks.ts";

/** Result of a call that must not run again and was interrupted by the end of its process. */
const UNKNOWN_TEXT =
  "The outcome of this tool call is not known: it was running when its process ended. Check what it has done " +
  "before you make the call again.";

/** A tool call that the loop has announced with `tool_execution_start`. */
interface AnnouncedCall {
  readonly id: string;
  readonly name: string;
  readonly arguments: JsonObject;
}

/** The call of a tool by the loop. */
interface StartedCall {
  readonly tool: AgentTool;
  readonly args: JsonObject;
  readonly context: ToolContext;
}

/** A call whose steps have not begun. */
interface PreparedCall {
  readonly id: string;
  /** Resolves when the loop starts the call, and to `undefined` if it does not. */
  readonly start: Deferred<StartedCall | undefined>;
  /** Resolves to the step that records the intent to make the call; to `undefined` if the call may be repeated. */
  readonly intent: Deferred<EndedStep | undefined>;
  /** The steps: that of the intent, if the call must not be repeated, and that of the call. */
  readonly operations: readonly BegunOperation[];
}

/** The step of a call. */
interface CallStep extends Pick<PreparedCall, "start"> {
  readonly ended: Promise<EndedStep>;
}

/** Options for {@linkcode DurableCalls}. */
export interface DurableCallsOptions {
  /** The effect of steering on unfinished calls. */
  readonly interrupt: InterruptPolicy;
  /** The ports of agents that tools run. */
  readonly ports: Ports;
  /** Returns the tool of a name. */
  readonly findTool: (name: string) => AgentTool | undefined;
  /** Returns the name of the turn, with which the names of its steps begin. */
  readonly getTurnName: () => string;
  /** The checks of policies. */
  readonly checks: PolicyChecks;
}

/**
 * Runs the tool calls of a batch as concurrent steps.
 *
 * The steps of a batch begin together, in call order, when the loop starts its first call: their positions in the record
 * are then the same in every replay, whatever the order in which calls end and start others.
 */
export class DurableCalls {
  readonly #steps: RunSteps;
  readonly #options: DurableCallsOptions;
  readonly #wrapped = new WeakSet<AgentTool>();
  #runId: string | undefined;
  #announced: AnnouncedCall[] = [];
  #calls = new Map<string, CallStep>();
  /** The steps of calls whose results the loop has, and whose ends it has not emitted yet. */
  readonly #reported = new Map<string, EndedStep>();
  /** Number of calls whose cancellation the loop limits in time. */
  #cancelling = 0;
  #cancelled: AbortSignal | undefined;

  constructor(steps: RunSteps, options: DurableCallsOptions) {
    this.#steps = steps;
    this.#options = options;
  }

  /** Returns a tool whose calls by the agent are steps; those by agents that a tool runs are part of its step. */
  wrap(tool: AgentTool): AgentTool {
    if (typeof tool?.execute !== "function" || this.#wrapped.has(tool)) return tool;
    if (!this.#steps.recordsConcurrently) checkIndependent(tool);
    const wrapped = replaceExecute(
      tool,
      (args, context) =>
        context.runId === this.#runId
          ? this.#execute({ tool, args, context })
          : tool.execute(args, context),
    );
    this.#wrapped.add(wrapped);
    return wrapped;
  }

  /** Follows the run; called with every event before the loop continues. */
  onEvent(event: AgentEvent): void {
    switch (event.type) {
      case "agent_start":
        this.#runId = event.runId;
        return;
      case "tool_execution_start":
        this.#announced.push(event);
        return;
      case "tool_execution_end": {
        this.#announced = this.#announced.filter(({ id }) => id !== event.id);
        this.#complete(event.id);
        return;
      }
      case "turn_end":
      case "agent_end":
        this.#steps.replayedCalls.clear();
        for (const { start } of this.#calls.values()) start.resolve(undefined);
        for (const id of [...this.#reported.keys()]) this.#complete(id);
        this.#calls = new Map();
        this.#announced = [];
        return;
    }
  }

  /**
   * Whether the loop has just cancelled a call, and now limits the time for that. The step of the call must be recorded
   * first; it ends by itself in that time.
   */
  takeCancellation(): boolean {
    const isCancelling = this.#cancelled !== undefined && this.#cancelling > 0;
    this.#cancelled = undefined;
    return isCancelling;
  }

  async #execute(call: StartedCall): Promise<AgentToolResult> {
    const { context: { toolCallId, signal } } = call;
    if (!this.#calls.has(toolCallId)) this.#begin();
    const step = this.#calls.get(toolCallId);
    if (!step) throw new Error(`The call "${toolCallId}" was not announced`);
    this.#cancelling++;
    signal.addEventListener("abort", () => this.#cancelled = signal);
    try {
      step.start.resolve(call);
      const ended = await step.ended;
      // A replay reports it before the loop starts a call that has waited for others, whose time begins then.
      this.#steps.advance(ended.at);
      if (ended.isReplayed && isStopped(ended)) await this.#options.checks.request();
      return this.#report(toolCallId, ended);
    } finally {
      this.#cancelling--;
    }
  }

  /** Delivers the messages of a call when the loop has emitted its end, so that they do not change its result. */
  #complete(toolCallId: string): void {
    const step = this.#reported.get(toolCallId);
    this.#reported.delete(toolCallId);
    step?.deliver();
    step?.release();
  }

  /** Returns the result of a call. Messages that have cancelled the call are delivered before its end. */
  #report(toolCallId: string, step: EndedStep): AgentToolResult {
    const { outcome } = step;
    const ended = "value" in outcome ? outcome.value as unknown as CallOutcome : undefined;
    this.#reported.set(toolCallId, step);
    if (step.isReplayed) this.#steps.replayedCalls.add(toolCallId);
    switch (ended?.type) {
      case "cancelled": {
        step.deliver();
        const { text, usage, cost } = ended;
        return { ...errorResult(text), ...(usage && { usage }), ...(cost && { cost }) };
      }
      case "unknown":
      case "skipped":
        return errorResult(UNKNOWN_TEXT);
      case "result":
        return ended.result;
      case undefined:
        unwrapOutcome(outcome);
        throw new Error("The tool failed");
    }
  }

  /** Begins the steps of the announced calls. */
  #begin(): void {
    const mayBeRepeated = this.#steps.isReplaying;
    const calls = this.#announced.map((call, index) =>
      this.#prepare(call, { index, mayBeRepeated })
    );
    const ended = this.#steps.begin(calls.flatMap(({ operations }) => operations));
    let next = 0;
    for (const { id, start, intent, operations } of calls) {
      const own = ended.slice(next, next += operations.length);
      const [call, recorded] = own.toReversed();
      if (recorded) followIntent(recorded, intent);
      else intent.resolve(undefined);
      if (!call) continue;
      this.#calls.set(id, { start, ended: call });
      void releaseSkipped(start.promise, call);
    }
    this.#announced = [];
  }

  #prepare(
    { id, name, arguments: args }: AnnouncedCall,
    { index, mayBeRepeated }: { readonly index: number; readonly mayBeRepeated: boolean },
  ): PreparedCall {
    const start: PreparedCall["start"] = createDeferred();
    const intent: PreparedCall["intent"] = createDeferred();
    const isOnce = isOnceTool(this.#options.findTool(name));
    const isFirst = isOnce || !mayBeRepeated;
    const stepName = `${this.#options.getTurnName()}, call ${index + 1} of ${name}`;
    const execution: BegunOperation = {
      name: stepName,
      hasTimes: true,
      input: [id, name, args],
      execute: async ({ signal }) => {
        const call = await start.promise;
        if (!call) return { type: "skipped" };
        if ((await intent.promise)?.isReplayed) return { type: "unknown" };
        const { interrupt, ports } = this.#options;
        const services = { steps: this.#steps, signal, interrupt, ports, isFirst };
        return await executeCall({ ...call, ...services });
      },
    };
    const recordIntent: BegunOperation = {
      name: `${stepName}: intent`,
      hasTimes: true,
      execute: async () => (await start.promise) !== undefined,
    };
    return { id, start, intent, operations: isOnce ? [recordIntent, execution] : [execution] };
  }
}

/** Passes on the recorded intent. A failure to record it also fails the step of the call, which then does not run. */
function followIntent(recorded: Promise<EndedStep>, intent: PreparedCall["intent"]): void {
  recorded.then((step) => {
    step.deliver();
    step.release();
    intent.resolve(step);
  }, (thrown) => intent.reject(thrown));
  intent.promise.catch(() => {});
}

/** Whether a policy has stopped the turn while a call was executed. */
function isStopped({ outcome }: EndedStep): boolean {
  const ended = "value" in outcome ? outcome.value as unknown as CallOutcome : undefined;
  return ended?.type === "cancelled" && isPolicyText(ended.text);
}

/** Whether a call of a tool must not be repeated. */
function isOnceTool({ readOnly, sideEffect }: Partial<AgentTool> = {}): boolean {
  return (sideEffect ?? (readOnly ? "none" : "once")) === "once";
}

/** Checks a tool for an engine that records a step only when no other one is executed: a call would wait for it forever. */
function checkIndependent(tool: AgentTool): void {
  const { name, sequential, concurrencyKey } = tool;
  const reason = isOnceTool(tool)
    ? 'it has the side effect "once"'
    : sequential || concurrencyKey
    ? "its calls run one after the other"
    : undefined;
  if (reason === undefined) return;
  throw new BadRequestError(
    `The tool "${name}" needs an engine that records a step while others are executed, since ${reason}: ` +
      "use a server with HTTP/2 and bidirectional: true, or declare the tool as read-only or idempotent and concurrent",
  );
}

/** Releases the step of a call that the loop does not start. */
async function releaseSkipped(
  start: Promise<StartedCall | undefined>,
  ended: Promise<EndedStep>,
): Promise<void> {
  if (await start) return;
  await ended.then(({ release }) => release(), () => {});
}
