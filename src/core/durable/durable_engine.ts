/**
 * Engines that run durable workflows.
 *
 * @module
 */

import type { ApprovalDecision, PendingApproval } from "../approval/approval.ts";
import type { JsonValue } from "../json/json.ts";
import type { PromptInput } from "../messages/message.ts";
import type { DurableSteps, RunMessage } from "./durable_steps.ts";

/** State of a durable run. `aborted`: it got an `abort` message and has ended. */
export type DurableStatus = "running" | "completed" | "failed" | "aborted";

/**
 * The code of a workflow. Every effect must be a step, since the code runs again from its beginning when a run is
 * continued in another process.
 */
export type WorkflowFunction<Input, Output> = (
  steps: DurableSteps,
  input: Input,
) => Output | Promise<Output>;

/** Options for {@linkcode DurableWorkflow.start}. */
export interface StartDurableRunOptions {
  /**
   * Id of the run, any text of 1 to 150 characters; a second start with the same id returns the first run. Default: a
   * random UUID.
   */
  readonly id?: string | undefined;
}

/** A workflow that an engine runs. */
export interface DurableWorkflow<Input = unknown, Output = unknown> {
  /** Name of the workflow, by which every process finds its code. */
  readonly name: string;
  /** Starts a run when its input is recorded. The input must be JSON. */
  start(input: Input, options?: StartDurableRunOptions): Promise<DurableRun<Output>>;
}

/**
 * An event that a run has published, or the note that another process continues the run: events since the last recorded
 * step, such as the parts of a reply, may then be followed by those of another attempt.
 */
export type PublishedEvent =
  & {
    /** Number of the event in its run, from 1. */
    readonly number: number;
  }
  & ({ readonly type: "event"; readonly event: JsonValue } | { readonly type: "continued" });

/** Options for {@linkcode DurableRun.events}. */
export interface RunEventsOptions {
  /** Number of the last event that is known, or `"checkpoint"` to begin with the latest checkpoint. Default: 0. */
  readonly after?: number | "checkpoint" | undefined;
  /** Ends the events. Default: they end with the run. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * A run of a workflow, in this process or another one. The methods that send a message resolve when it is recorded, and
 * reject with a `BadRequestError` if the run is unknown or has ended.
 */
export interface DurableRun<Output = unknown> {
  /** Id of the run. */
  readonly id: string;
  /** Returns the state; `undefined` if there is no run with the id. */
  status(): Promise<DurableStatus | undefined>;
  /**
   * Resolves to the output when the run has ended. Rejects with its error if it has failed, and with an `AbortedError` if
   * it was aborted and has no output.
   */
  result(): Promise<Output>;
  /**
   * Returns the events that the run publishes, in any process: those that are stored, in batches, and then new ones until
   * the run has ended. A run that does not exist yet is awaited.
   */
  events(options?: RunEventsOptions): AsyncIterable<readonly PublishedEvent[]>;
  /** Returns the events that are stored now. */
  readEvents(options?: Pick<RunEventsOptions, "after">): Promise<readonly PublishedEvent[]>;
  /** Returns the tool calls of the agent of the run that wait for `decide()`. */
  pendingApprovals(): Promise<readonly PendingApproval[]>;
  /** Sends a message. */
  send(message: RunMessage): Promise<void>;
  /** Queues a message for the next turn of the agent; depending on its `interrupt`, tool calls are cancelled. */
  steer(input: PromptInput): Promise<void>;
  /** Queues a message for when the agent would otherwise end its run. */
  followUp(input: PromptInput): Promise<void>;
  /** Aborts the run. Its workflow ends in order: an agent answers its tool calls, and the session is saved. */
  abort(reason?: string): Promise<void>;
  /** Decides about a tool call that waits for an approval. */
  decide(toolCallId: string, decision: ApprovalDecision | boolean): Promise<void>;
  /** Ends `steps.waitFor(name)`, also if the run waits for it only later. */
  signal(name: string, data?: JsonValue): Promise<void>;
}

/** Options for {@linkcode DurableEngine.close}. */
export interface CloseEngineOptions {
  /** Time for the steps that are executed now to end and to be recorded, in milliseconds. Default: 10,000. */
  readonly graceMs?: number | undefined;
}

/**
 * Runs workflows so that they survive the end of a process: `register()` the workflows in every process, then `start()`.
 * `testDurableEngine()` of `@swink/agent/testing` tests an implementation.
 */
export interface DurableEngine extends AsyncDisposable {
  /** Registers the code of a workflow, before {@linkcode DurableEngine.start}. */
  register<Input, Output>(
    name: string,
    workflow: WorkflowFunction<Input, Output>,
  ): DurableWorkflow<Input, Output>;
  /** Connects, and begins to continue the runs of processes that have ended. */
  start(): Promise<void>;
  /** Returns a run by its id, whether it exists or not. */
  getRun<Output = unknown>(id: string): DurableRun<Output>;
  /** Stops. Runs that are active here stay unfinished, and another process continues them. */
  close(options?: CloseEngineOptions): Promise<void>;
}
