/**
 * The agent loop: turns, one after the other, until nothing is left to say.
 *
 * @module
 */

import type { AgentContext } from "../core/context.ts";
import { InvalidContinueError, NoMessagesError } from "../core/errors.ts";
import type { AgentEvent, RunOutcome } from "../core/event.ts";
import { type HistoryRepair, repairHistory } from "../core/history.ts";
import type { AgentMessage, LlmMessage } from "../core/message.ts";
import type { StopReason } from "../core/model.ts";
import { Cancellation } from "./cancellation.ts";
import { type AgentLoopConfig, resolveConfig } from "./config.ts";
import { EventChannel } from "./event_channel.ts";
import { EventPipe } from "./event_pipe.ts";
import type { TurnInput } from "./message_source.ts";
import { runPostLoop } from "./policy_slots.ts";
import { RunContext } from "./run_context.ts";
import { runTurn } from "./turn.ts";

/** How a loop is stopped and watched. */
export interface LoopOptions {
  /** Aborts the run. */
  readonly signal?: AbortSignal;
}

/**
 * Starts a run that begins with new messages. It starts at once; leaving the stream aborts it. The context and
 * the messages are not changed; `agent_end` carries what the run appended.
 *
 * @throws {NoMessagesError} When there is neither a new message nor a history.
 */
export function agentLoop(
  messages: readonly AgentMessage[],
  context: AgentContext,
  config: AgentLoopConfig,
  options: LoopOptions = {},
): ReadableStream<AgentEvent> {
  const start = repairContext(context);
  if (start.context.messages.length === 0 && !hasValidMessages(messages)) {
    throw new NoMessagesError();
  }
  return startRun({ input: { messages }, ...start, config, ...options }).stream;
}

/**
 * Starts a run on a history as it is: after a tool result, after a user's message, after a reply that stopped
 * early, or with queued messages.
 *
 * @throws {NoMessagesError} When the history is empty and nothing is queued.
 * @throws {InvalidContinueError} When the last reply is finished and nothing is queued.
 */
export function agentLoopContinue(
  context: AgentContext,
  config: AgentLoopConfig,
  options: LoopOptions = {},
): ReadableStream<AgentEvent> {
  const valid = repairContext(context);
  const incoming = createContinueInput(valid.context.messages, config);
  return startRun({ input: incoming, ...valid, config, ...options }).stream;
}

function repairContext(context: AgentContext): Pick<RunStart, "context" | "repairs"> {
  const { messages, repairs } = repairHistory(context.messages);
  return { context: { ...context, messages }, repairs };
}

/** Whether anything is left of messages once they are mended. */
export function hasValidMessages(messages: readonly AgentMessage[]): boolean {
  return repairHistory(messages).messages.length > 0;
}

/**
 * What a continued run begins with: nothing where the history waits for a reply, else what is queued.
 *
 * @throws {NoMessagesError} When the history is empty and nothing is queued.
 * @throws {InvalidContinueError} When the last reply is finished and nothing is queued.
 */
export function createContinueInput(
  history: readonly AgentMessage[],
  { steering, followUp }: Pick<AgentLoopConfig, "steering" | "followUp">,
): TurnInput {
  const last = history.findLast((message): message is LlmMessage => message.role !== "custom");
  if (last && awaitsReply(last)) return { messages: [] };
  if (steering && steering.peek().length > 0) return { messages: [] };
  if (followUp && followUp.peek().length > 0) return { messages: [], queue: followUp };
  throw last ? new InvalidContinueError() : new NoMessagesError();
}

/** What {@linkcode startRun} takes. */
export interface RunStart extends LoopOptions {
  /** What the first turn says. */
  readonly input: TurnInput;
  /** Where the run starts from; its history must be valid. */
  readonly context: AgentContext;
  /** What had to be mended in that history, to be told of. */
  readonly repairs?: readonly HistoryRepair[];
  /** How it runs. */
  readonly config: AgentLoopConfig;
  /** The run begins when this has settled, and fails when it rejects. */
  readonly after?: Promise<void>;
  /**
   * Sees every event before the stream does; a promise is waited for before the next event. Must not throw or
   * reject, and must wait for others only through `withGrace`.
   */
  readonly observe?: (event: AgentEvent, withGrace: WithGrace) => Promise<void> | undefined;
  /** Is told when everything is over, before the stream closes. */
  readonly onSettled?: () => void;
}

/** Waits for work, but not longer than the grace after an abort; then it rejects. */
export type WithGrace = (work: Promise<void>) => Promise<void>;

/** A run that was started. */
export interface StartedRun {
  /** Its events. */
  readonly stream: ReadableStream<AgentEvent>;
  /** Aborts it. */
  readonly abort: (reason?: unknown) => void;
  /** Through which everything is told, also what is said after its end. */
  readonly pipe: EventPipe;
  /** Settles when the run is over. Never rejects. */
  readonly settled: Promise<void>;
}

/** Starts a run: the one way in, for the loop's own entry points and for the agent. */
export function startRun(start: RunStart): StartedRun {
  const config = resolveConfig(start.config);
  const cancellation = new Cancellation({ signal: start.signal, sleep: config.sleep });
  const channel: EventChannel = new EventChannel({
    onCancel: (reason) => {
      cancellation.abort(reason);
      return settled;
    },
  });
  cancellation.onAbort(() => channel.release());
  const withGrace: WithGrace = (work) => cancellation.withGrace(work);
  const { observe } = start;
  const pipe = new EventPipe({
    channel,
    observe: observe && ((event) => observe(event, withGrace)),
  });
  const run = new RunContext({ context: start.context, config, pipe, cancellation });
  const settled = Promise.resolve(start.after)
    .then(() => executeRun(run, pipe, start))
    .finally(() => {
      pipe.abandon();
      start.onSettled?.();
    })
    .then(() => channel.close(), (thrown) => channel.fail(thrown))
    .finally(() => run.dispose());
  return {
    stream: channel.stream(),
    abort: (reason) => cancellation.abort(reason),
    pipe,
    settled,
  };
}

async function executeRun(
  run: RunContext,
  pipe: EventPipe,
  { input: incoming, repairs = [] }: RunStart,
): Promise<void> {
  await pipe.begin({ type: "agent_start", runId: run.runId });
  if (repairs.length > 0) {
    await run.warn("history_repaired", "The history was not valid and was mended", repairs);
  }
  await runTurns(run, incoming);
  await finishRun(run);
}

async function finishRun(run: RunContext): Promise<void> {
  const outcome = createOutcome(run);
  const { stopReason, error } = outcome;
  const context = run.policyContext(run.settings().model);
  await runPostLoop(run, { ...context, stopReason, ...(error && { error }) });
  await run.emit({ type: "agent_end", ...outcome });
}

async function runTurns(run: RunContext, first: TurnInput): Promise<void> {
  let incoming: TurnInput | undefined = first;
  while (incoming) {
    const outcome = await runTurn(run, incoming);
    if (outcome.type === "end" || run.cancellation.aborted) return;
    incoming = outcome.type === "next_turn"
      ? { messages: outcome.injected }
      : nextInput(run, outcome.injected);
  }
}

/** What the next turn begins with after the model has finished; `undefined` when nothing waits. */
function nextInput(
  run: RunContext,
  injected: readonly AgentMessage[],
): TurnInput | undefined {
  if (injected.length > 0 || run.steering.peek().length > 0) return { messages: injected };
  const { followUp } = run.config;
  return followUp && followUp.peek().length > 0 ? { messages: [], queue: followUp } : undefined;
}

function createOutcome(run: RunContext): RunOutcome {
  const { newMessages: messages, usage, cost, error, stoppedBy, cancellation } = run;
  return {
    messages,
    stopReason: getStopReason(run),
    usage,
    cost,
    ...(error && { error }),
    ...(stoppedBy && { stoppedBy }),
    ...(cancellation.aborted && { abortReason: cancellation.reason }),
  };
}

function getStopReason({ error, cancellation, stopReason }: RunContext): StopReason {
  if (error) return "error";
  return cancellation.aborted ? "aborted" : stopReason;
}

function awaitsReply(message: LlmMessage): boolean {
  if (message.role !== "assistant") return true;
  return message.stopReason !== "stop" && message.stopReason !== "tool_use";
}
