/**
 * Starts a run.
 *
 * @module
 */

import type { AgentContext } from "../core/context/context.ts";
import type { AgentEvent, RunOutcome } from "../core/events/event.ts";
import type { AgentMessage } from "../core/messages/message.ts";
import { Cancellation } from "./callbacks/cancellation.ts";
import { EventChannel } from "./events/event_channel.ts";
import { type EventObserver, EventPipe } from "./events/event_pipe.ts";
import { Arrivals } from "./queues/arrivals.ts";
import { isOwnQueue } from "./queues/message_queue.ts";
import { checkStreamOptions } from "./run/check_config.ts";
import { resolveConfig, type ResolvedConfig, type RunConfig } from "./run/config.ts";
import type { RunProgress } from "./run/run_progress.ts";
import type { RunServicesOptions } from "./run/run_services.ts";
import type { FirstTurn } from "./run_turns.ts";

/** Options for `startRun()`. */
export interface StartRunOptions extends FirstTurn {
  /** Aborts the run. */
  readonly signal?: AbortSignal | undefined;
  /** The system prompt, tools and history; the history must be valid. */
  readonly context: AgentContext;
  /** The configuration. */
  readonly config: RunConfig;
  /** Ids of calls of the last reply that wait for an approval. Default: none. */
  readonly pendingCalls?: ReadonlySet<string>;
  /** Models, and parts of their costs, whose missing price has been reported; the run adds to it. Default: empty. */
  readonly unpricedModels?: Set<string>;
  /** Called once the options of the run are valid; the run starts when the promise resolves, and fails when it rejects. */
  readonly after?: () => Promise<unknown>;
  /**
   * Returns the final configuration before the run starts, soon after an abort at the latest; a rejection fails the run.
   * Default: no change.
   */
  readonly prepare?:
    | ((config: ResolvedConfig, cancellation: Cancellation) => Promise<ResolvedConfig>)
    | undefined;
  /** Gets the events unless the pipe of the run has another observer before the first one. */
  readonly observer?: EventObserver;
  /** Called when the run is over, before the stream closes, with its progress; `undefined` if it did not start. */
  readonly onSettled?: (progress: RunProgress | undefined) => void;
}

/** The part of a run that an observer needs, which must await promises of the application only through `withGrace`. */
export interface ObservedRun {
  /** The history of the run, including messages whose events are not delivered yet. */
  readonly messages: readonly AgentMessage[];
  /** Awaits a promise; rejects if it has not settled 100 ms after an abort. */
  readonly withGrace: WithGrace;
}

/** Awaits a promise; rejects if it has not settled 100 ms after an abort. */
export type WithGrace = (work: Promise<void>) => Promise<void>;

/** A run that was started. */
export interface StartedRun extends ObservedRun {
  /** Creates the stream of the events of the run; call it once. */
  readonly createStream: () => ReadableStream<AgentEvent>;
  /** Discards the events for the stream, which then only ends. */
  readonly discard: () => void;
  /** Aborts the run. */
  readonly abort: (reason?: unknown) => void;
  /** Delivers the events of the run, and those that are emitted after its end. */
  readonly pipe: EventPipe;
  /** Resolves when the run is over. Never rejects. */
  readonly settled: Promise<void>;
  /** Resolves to the summary of the run when it is over; rejects if the run did not start. */
  readonly summary: Promise<RunSummary>;
}

/** The outcome of a run, with its id and length. The messages are those of the history, which must not be changed. */
export interface RunSummary extends RunOutcome {
  /** Id of the run. */
  readonly runId: string;
  /** Number of turns. */
  readonly turns: number;
}

/** Starts a run. */
export function startRun(start: StartRunOptions): StartedRun {
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
  const { observer, context, unpricedModels = new Set(), pendingCalls = new Set() } = start;
  // The history of the run, which only grows by its own messages.
  const messages = [...context.messages];
  const events = new EventPipe({ channel, observer });
  const arrivals = new Arrivals();
  // A message that is queued from now on may cancel tool calls. Code of the application is called when the run has begun.
  if (isOwnQueue(config.steering)) arrivals.watch(config.steering);
  const run: RunServicesOptions = {
    runId: config.newId("run"),
    startedAt: config.now(),
    context,
    messages,
    config,
    cancellation,
    events,
    arrivals,
    unpricedModels,
    pendingCalls,
    checkStreamOptions,
    isOwnQueue,
  };
  const summary = executeRun(run, start, channel);
  const settled = summary.then(() => {}, () => {});
  return {
    createStream: () => channel.stream(),
    discard: () => channel.discard(),
    abort: (reason) => cancellation.abort(reason),
    pipe: events,
    messages,
    withGrace,
    settled,
    summary,
  };
}

async function executeRun(
  options: RunServicesOptions,
  start: StartRunOptions,
  channel: EventChannel,
): Promise<RunSummary> {
  const { runId, config, events } = options;
  let progress: RunProgress | undefined;
  const settle = (): void => {
    events.abandon();
    start.onSettled?.(progress);
    options.arrivals.dispose();
    options.cancellation.dispose();
  };
  // The code of runs loads meanwhile; if it cannot be loaded, the run reports it below.
  const loading = import("./run_turns.ts");
  loading.catch(() => {});
  try {
    await start.after?.();
    const prepared = await start.prepare?.(config, options.cancellation) ?? config;
    // Before `agent_start`: a run that its parent refuses does not start, and so has no `agent_end` either.
    const inherited = prepared.parent ? (await loading).inheritRules(prepared) : prepared;
    await events.begin({ type: "agent_start", runId });
    const { RunServices, runTurns, finishRun } = await loading;
    const run = new RunServices({ ...options, config: inherited });
    progress = await runTurns(run, start);
    const outcome = await finishRun(run, progress);
    settle();
    channel.close();
    return { ...outcome, runId, turns: progress.turn };
  } catch (error) {
    settle();
    channel.fail(error);
    throw error;
  }
}
