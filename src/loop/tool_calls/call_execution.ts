/**
 * Executes one tool call, until it returns, fails, times out or is cancelled.
 *
 * @module
 */

import { type AgentError, getErrorMessage, ToolTimeoutError } from "../../core/errors/errors.ts";
import type { AgentEvent, SubAgentEvent } from "../../core/events/event.ts";
import type { RunningCall } from "../../core/hooks/policy.ts";
import { cloneJson, type JsonObject } from "../../core/json/json.ts";
import { toToolResult } from "../../core/messages/to_tool_result.ts";
import {
  type AgentToolResult,
  errorResult,
  type ToolUpdate,
} from "../../core/messages/tool_result.ts";
import type { ToolContext } from "../../core/tools/tool.ts";
import { CallTimer } from "../callbacks/call_timer.ts";
import { GRACE_MS } from "../callbacks/cancellation.ts";
import { copyEvent } from "../events/copy_event.ts";
import { isUsable } from "../model_call/usable_tools.ts";
import type { StartingCall } from "../run/background_runs.ts";
import { ParentRun } from "../run/parent_run.ts";
import type { StepSpending } from "../run/run_progress.ts";
import type { RunServices } from "../run/run_services.ts";
import { SubAgentSpending } from "../run/sub_agent_spending.ts";
import type { TurnContext } from "../run/turn_context.ts";
import type { ReadyCall } from "./prepared_call.ts";

/** Maximum number of undelivered updates of a call; above it, a new update replaces the last one. */
const MAX_PENDING_UPDATES = 128;

/**
 * The property `messages` of a context: a long history is copied only for a tool that reads it. It is defined by a
 * descriptor that all contexts share, because a getter in each literal would take six times as long.
 */
const MESSAGES: PropertyDescriptor & ThisType<{ readonly run: ParentRun }> = {
  enumerable: true,
  get() {
    return this.run.messages;
  },
};

/** Runs one tool call. */
export class CallExecution {
  /** Resolves when the call has ended, even if the tool has not settled. Never rejects. */
  readonly settled: Promise<AgentToolResult>;
  /** The call. */
  readonly call: ReadyCall;
  readonly #services: RunServices;
  readonly #turn: TurnContext;
  readonly #controller = new AbortController();
  #timeout: CallTimer | undefined;
  /** The time in which a cancelled tool may settle. */
  #grace: AbortController | undefined;
  #startedAt: number | undefined;
  #durationMs = 0;
  #settle: (result: AgentToolResult) => void = () => {};
  #state: "waiting" | "running" | "cancelled" | "settled" | "ended" = "waiting";
  /** The result of the call once it is cancelled. */
  #cancelledResult: AgentToolResult | undefined;
  #updates: ToolUpdate[] = [];
  #emittingUpdates: Promise<void> | undefined;
  #subAgents: SubAgentSpending | undefined;

  /** Creates an execution that waits for {@linkcode CallExecution.start}. */
  constructor(turn: TurnContext, call: ReadyCall) {
    this.#services = turn.run;
    this.#turn = turn;
    this.call = call;
    this.settled = new Promise((resolve) => this.#settle = resolve);
  }

  /** Time from the start of the tool to the end of the call, in milliseconds. */
  get durationMs(): number {
    return this.#durationMs;
  }

  /** The call for policies, from the start of the tool to the end of the call. */
  get running(): RunningCall | undefined {
    if (this.#startedAt === undefined || this.#state === "ended") return undefined;
    const { block: { id: toolCallId }, tool } = this.call;
    return { toolCallId, tool, durationMs: this.#services.config.now() - this.#startedAt };
  }

  /** Whether the call waits for its start, and was not cancelled before it. */
  get isWaiting(): boolean {
    return this.#state === "waiting";
  }

  /**
   * Starts the tool, unless the call was already cancelled or a policy has withdrawn the tool meanwhile. Never throws: a
   * tool whose properties cannot be read gives an error result.
   */
  start(): void {
    if (this.#state !== "waiting") return;
    try {
      const { tool } = this.call;
      if (!isUsable(this.#turn, tool)) {
        return this.#end(errorResult(`Tool "${tool.name}" is no longer available`));
      }
      if (!this.isWaiting) return; // The policies may have cancelled it.
      this.#state = "running";
      const startedAt = this.#startedAt = this.#services.config.now();
      this.#startTimeout(startedAt);
    } catch (thrown) {
      return this.#end(errorResult(`Tool call failed: ${getErrorMessage(thrown)}`));
    }
    void this.#run();
  }

  /**
   * Cancels the call; its result is an error with the message of `reason`. Aborts the tool's signal, and waits for the
   * tool to settle for at most {@linkcode GRACE_MS}. No effect on a tool that has settled.
   */
  cancel(reason: AgentError): void {
    if (this.#state !== "waiting" && this.#state !== "running") return;
    const result = errorResult(reason.message);
    this.#services.observer?.onCancel(this.call.block.id, reason.code);
    if (this.#state === "waiting") return this.#end(result);
    this.#state = "cancelled";
    this.#cancelledResult = result;
    this.#controller.abort(reason);
    this.#timeout?.stop();
    const grace = this.#grace = new AbortController();
    void this.#services.config.sleep(GRACE_MS, grace.signal).then(() =>
      this.#end(withSpending(result, this.#subAgents?.total))
    );
  }

  /**
   * Runs the tool on copies of the arguments and ends the call with a copy of its result, so that it can change neither
   * history nor events.
   */
  async #run(): Promise<void> {
    const { tool, input, arguments: args } = this.call;
    let result: AgentToolResult;
    try {
      // The output of `validate` is the tool's own, and may be more than JSON.
      const owned = input === args ? cloneJson(args) : input;
      const context = this.#createContext();
      const execute = () => tool.execute(owned as JsonObject, context);
      const { observer } = this.#services;
      const { id } = this.call.block;
      result = toToolResult(await (observer ? observer.executeTool(id, execute) : execute()));
    } catch (thrown) {
      const failure = errorResult(getErrorMessage(thrown) || "The tool failed without a message");
      // A tool that throws cannot report what its agents have spent.
      result = withSpending(failure, this.#subAgents?.total);
    }
    if (this.#state === "running") {
      this.#state = "settled";
      this.#timeout?.stop();
      if (this.#emittingUpdates) await this.#emittingUpdates;
    }
    this.#end(this.#cancelledResult ? this.#replaceResult(this.#cancelledResult, result) : result);
  }

  /** Returns the result of a cancelled call, with what the tool has used. */
  #replaceResult(cancelled: AgentToolResult, result: AgentToolResult): AgentToolResult {
    const spending = result.usage || result.cost ? result : this.#subAgents?.total;
    return withSpending(cancelled, spending);
  }

  #createContext(): ToolContext {
    const { id } = this.call.block;
    const { runId, history, observer, config: { context } } = this.#services;
    const { idempotencyKey = `${runId}:${id}` } = this.call;
    const count = history.messages.length;
    const timeout = this.#timeout;
    const onUpdate: ToolContext["onUpdate"] = (update) => this.#queueUpdate(update);
    const onEvent: ToolContext["onEvent"] = (event) => this.#emitSubAgentEvent(event);
    const own: Omit<ToolContext, "messages"> = {
      toolCallId: id,
      idempotencyKey,
      runId,
      run: this.#createHandle(() => history.snapshot(count)),
      turn: this.#turn.progress.turn,
      context,
      signal: this.#controller.signal,
      ...(observer && { traceHeaders: observer.getTraceHeaders(id) }),
      onUpdate,
      onEvent,
      ...(timeout && { pauseTimeout: () => timeout.pause() }),
    };
    // The property completes the type.
    return Object.defineProperty(own, "messages", MESSAGES) as ToolContext;
  }

  #createHandle(getMessages: () => ToolContext["messages"]): ParentRun {
    const { runId, depth, config, tree, background, session, instrumentation } = this.#services;
    const createChannel = () => background.createChannel({ onEvent: this.#createLateChannel() });
    let onDetachedEvent: StartingCall["onEvent"] | undefined;
    return new ParentRun({
      runId,
      depth,
      config,
      tree,
      session,
      toolCallId: this.call.block.id,
      instrumentation,
      settings: this.#turn.settings,
      background: (work) => {
        const { id, name } = this.call.block;
        background.start({ id, name, onEvent: this.#createLateChannel() }, work);
      },
      onDetachedEvent: (event) => (onDetachedEvent ??= createChannel())(event),
      getMessages,
    });
  }

  /** Returns a function that emits events of an agent that the call does not wait for. */
  #createLateChannel(): StartingCall["onEvent"] {
    const spending = new SubAgentSpending();
    return async (passed) => {
      const event = this.#copyEvent(passed);
      if (!event) return;
      this.#services.lateSpending.add(this.call.block.id, spending.add(event));
      await this.#services.events.emit(this.#wrapEvent(event));
    };
  }

  /** Emits an event of an agent that the tool runs; its path begins with this call. */
  async #emitSubAgentEvent(passed: AgentEvent): Promise<void> {
    const event = this.#copyEvent(passed);
    if (!event) return;
    const added = (this.#subAgents ??= new SubAgentSpending()).add(event);
    if (this.#state === "ended" && this.#cancelledResult) {
      this.#services.lateSpending.add(this.call.block.id, added);
    }
    if (this.#emittingUpdates) await this.#emittingUpdates; // They came first.
    if (this.#state !== "running" && this.#state !== "cancelled") return;
    await this.#services.events.emit(this.#wrapEvent(event));
  }

  /** Returns an event of an agent with the id of this call in its path. */
  #wrapEvent(event: AgentEvent): SubAgentEvent {
    const { id } = this.call.block;
    return event.type === "sub_agent"
      ? { type: "sub_agent", path: [id, ...event.path], event: event.event }
      : { type: "sub_agent", path: [id], event };
  }

  /** Returns a copy of an event, which the tool or another agent may change; a value that is no event is reported. */
  #copyEvent(event: AgentEvent): AgentEvent | undefined {
    try {
      return copyEvent(event);
    } catch (thrown) {
      const { tool: { name } } = this.call;
      const message = `An event of the tool "${name}" is not emitted: ${getErrorMessage(thrown)}`;
      void this.#services.events.warn("invalid_sub_agent_event", message, { tool: name });
      return undefined;
    }
  }

  #startTimeout(startedAt: number): void {
    const { tool } = this.call;
    const { config } = this.#services;
    const limitMs = tool.timeoutMs ?? config.toolTimeoutMs;
    if (limitMs === undefined || !Number.isFinite(limitMs)) return;
    const message = `The tool "${tool.name}" timed out after ${limitMs} ms`;
    const onEnd = () => this.cancel(new ToolTimeoutError(message));
    this.#timeout = new CallTimer({ clock: config, limitMs, startedAt, onEnd });
  }

  /** Queues an update; it is emitted in a later microtask, so that `onUpdate()` returns immediately. */
  #queueUpdate(update: ToolUpdate): void {
    if (this.#state !== "running") return;
    if (this.#updates.length >= MAX_PENDING_UPDATES) this.#updates.pop();
    this.#updates.push(typeof update === "string" ? update : toToolResult(update));
    this.#emittingUpdates ??= Promise.resolve().then(() => this.#emitUpdates());
  }

  async #emitUpdates(): Promise<void> {
    const { id } = this.call.block;
    for (let update = this.#updates.shift(); update !== undefined; update = this.#updates.shift()) {
      if (this.#state === "ended") break;
      await this.#services.events.emit({ type: "tool_execution_update", id, update });
    }
    this.#emittingUpdates = undefined;
  }

  #end(result: AgentToolResult): void {
    if (this.#state === "ended") return;
    this.#state = "ended";
    this.#timeout?.stop();
    this.#grace?.abort();
    if (this.#startedAt !== undefined) {
      this.#durationMs = this.#services.config.now() - this.#startedAt;
    }
    this.#settle(result);
  }
}

/** Returns the result of a call that failed or was cancelled, with what the tool has used until then. */
function withSpending(
  result: AgentToolResult,
  { usage, cost }: StepSpending = {},
): AgentToolResult {
  return { ...result, ...(usage && { usage }), ...(cost && { cost }) };
}
