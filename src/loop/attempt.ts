/**
 * One attempt of a model call: reads the stream, emits its deltas and accumulates the reply.
 *
 * @module
 */

import { type AccumulatedReply, ReplyAccumulator } from "../core/accumulate.ts";
import { copyAmounts } from "../core/copy_message.ts";
import {
  AbortedError,
  AgentError,
  BudgetExceededError,
  getErrorMessage,
  NetworkError,
  StreamError,
} from "../core/errors.ts";
import { cloneJson, type JsonObject, toJsonValue } from "../core/json.ts";
import type { ModelSpec, StopReason } from "../core/model.ts";
import { isThenable } from "../core/refuse_promise.ts";
import type { RetryStrategy } from "../core/retry.ts";
import type { StoppedBy } from "../core/stopped_by.ts";
import type {
  AssistantMessageEvent,
  StreamFn,
  StreamOptions,
  StreamRequest,
  StreamWarningEvent,
} from "../core/stream.ts";
import { type Cost, type Usage, zeroCost, zeroUsage } from "../core/usage.ts";
import type { AgentTool } from "../core/tool.ts";
import { preloadValidator, prepareValidation } from "../core/validate_arguments.ts";
import type { Cancellation } from "./cancellation.ts";
import type { GetApiKey } from "./config.ts";
import { toHookError } from "./hook_error.ts";
import { loadFacts, lookUpLimit } from "./model_facts.ts";
import { usesPreRequest } from "./pre_request.ts";
import { calculateCost, getPrices } from "./price.ts";
import { closeUnread, readEvents, type ReadOptions, type ReadOutcome } from "./read_events.ts";
import { parseReplyEnd, type ReplyEnd, toStreamError } from "./reply_end.ts";
import { type PreparedRequest, resolveStreamOptions } from "./request.ts";
import { addSpending } from "./run_progress.ts";
import type { RunServices } from "./run_services.ts";
import type { TurnContext } from "./turn_context.ts";

/** A model to call, with its own options. */
export interface Candidate {
  /** The model. */
  readonly model: ModelSpec;
  /** Calls the model. */
  readonly streamFn: StreamFn;
  /** Returns the API key of the model's provider. */
  readonly getApiKey: GetApiKey | undefined;
  /** Decides whether a failed call is retried. */
  readonly retry: RetryStrategy;
  /** Additional fields of the request body, in place of those of the request. */
  readonly extra?: JsonObject | undefined;
}

/** The result of reading a reply. */
interface ReplyOutcome {
  /** The reason why the attempt ended. */
  readonly stopReason: StopReason;
  /** The content that was received. */
  readonly reply: AccumulatedReply;
  /** Whether any content was emitted. */
  readonly hasOutput: boolean;
  /** Token counts of the attempt. */
  readonly usage: Usage;
  /** The cost that the provider reported, if any. */
  readonly reportedCost?: Cost;
  /** The provider's id of the reply, if it has one. */
  readonly responseId?: string;
  /** The error, if the attempt failed or was aborted. */
  readonly error?: AgentError;
  /** The policy that stopped the attempt, if one did. */
  readonly stoppedBy?: StoppedBy;
}

/** The result of an attempt. */
export interface Attempt extends ReplyOutcome {
  /** Cost of the attempt. */
  readonly cost: Cost;
  /** Number of model calls: 0 if the attempt ended before it called the model. */
  readonly calls: 0 | 1;
}

/** Options for `attempt()`. */
export interface AttemptOptions {
  /** The model to call. */
  readonly candidate: Candidate;
  /** The request. */
  readonly request: PreparedRequest;
  /** Number of the model call in the turn, from 1. */
  readonly number: number;
  /** Called before the model is called, when the API key is known. */
  readonly onStart: () => Promise<void> | undefined;
}

/** Milliseconds without any content before a validator is loaded: ajv blocks the thread for 40 ms. */
const PRELOAD_AFTER_MS = 20;

/** Microtasks without any content before the timer for that is set: a stream from memory has begun by then. */
const MICROTASKS_BEFORE_TIMER = 32;

/** Calls the model once. Never rejects: every failure is an {@linkcode Attempt}. */
export async function attempt(turn: TurnContext, attempted: AttemptOptions): Promise<Attempt> {
  const { run, cancellation } = turn;
  const { candidate, request } = attempted;
  const { model } = candidate;
  let options: StreamOptions | undefined;
  try {
    const resolved = resolveStreamOptions(turn, candidate, request);
    options = resolved instanceof Promise ? await resolved : resolved;
  } catch (thrown) {
    if (!cancellation.aborted) return createFailedAttempt(toHookError("getApiKey", thrown));
  }
  if (!options || cancellation.aborted) return createAbortedAttempt(turn);
  const reader = new ReplyReader(turn, request.tools);
  const checked = turn.monitor && checkStart(turn, candidate, reader);
  if (checked) await checked;
  if (cancellation.aborted) return createAbortedAttempt(turn);
  const started = attempted.onStart();
  if (started) await started;
  const position = { turn: turn.progress.turn, attempt: attempted.number, model: cloneJson(model) };
  void run.events.emit({ type: "model_call_start", ...position });
  const delivered = run.untilDelivered();
  if (delivered) await delivered;
  const startedAt = run.config.now();
  const call = createCall(turn, attempted, options);
  const read = () => readReply(turn, reader, call);
  const outcome = await (run.observer ? run.observer.callModel(call.call, read) : read());
  const durationMs = run.config.now() - startedAt;
  const result = chargeReply(turn, candidate, { reader, outcome });
  const { usage, cost, responseId, error } = result;
  const { firstTokenAt } = reader;
  const ended = run.events.emit({
    type: "model_call_end",
    ...position,
    ...(firstTokenAt !== undefined && { ttftMs: firstTokenAt - startedAt }),
    durationMs,
    usage: copyAmounts(usage),
    cost: copyAmounts(cost),
    ...(responseId !== undefined && { responseId }),
    ...(error && { error }),
  });
  if (ended) await ended;
  return result;
}

/** Calls the `onDelta` policies before a call; returns a promise if its prices must be loaded first. */
function checkStart(
  turn: TurnContext,
  { model, streamFn }: Candidate,
  reply: ReplyReader,
): Promise<void> | undefined {
  const { run, progress, monitor } = turn;
  const check = (): void => {
    const prices = getPrices(run, streamFn);
    const maxOutputTokens = lookUpLimit(model, streamFn.maxOutputTokens);
    monitor?.start({ model, prices, progress, reply, maxOutputTokens });
  };
  if (usesPreRequest(run) && streamFn.loadFacts) return loadFacts(streamFn, turn).then(check);
  check();
  return undefined;
}

interface StreamCall {
  readonly streamFn: StreamFn;
  readonly call: Omit<StreamRequest, "signal">;
}

function createCall(
  { run, progress: { turn } }: TurnContext,
  { candidate: { model, streamFn, retry: { maxDelayMs } }, request: { context } }: AttemptOptions,
  options: StreamOptions,
): StreamCall {
  const maxWait = maxDelayMs !== undefined && { maxWaitMs: maxDelayMs };
  return { streamFn, call: { model, context, options, runId: run.runId, turn, ...maxWait } };
}

interface ReadReply {
  readonly reader: ReplyReader;
  readonly outcome: ReplyOutcome;
}

/** Adds the cost of a reply, and passes it to the monitor. */
function chargeReply(
  { run, progress, monitor }: TurnContext,
  { model, streamFn }: Candidate,
  { reader, outcome }: ReadReply,
): Attempt {
  const prices = getPrices(run, streamFn);
  const cost = calculateCost(run, outcome, { model, prices });
  const { usage, error } = outcome;
  if (error && usage.total === 0 && reader.characters > 0) {
    // Budgets estimate an attempt that reports no usage, which may have ended between two checks.
    monitor?.update({ model, prices, progress, reply: reader });
  }
  monitor?.update({ model, prices, progress: addSpending(progress, { usage, cost }) });
  return { ...outcome, cost, calls: 1 };
}

function readReply(
  { cancellation }: TurnContext,
  reader: ReplyReader,
  { streamFn, call }: StreamCall,
): Promise<ReplyOutcome> {
  // A signal for each call, so that what listens to it is released with the call.
  const controller = new AbortController();
  const unsubscribe = cancellation.onAbort((reason) => controller.abort(reason));
  const release = (): void => {
    reader.stopPreload();
    unsubscribe();
  };
  const fail = (thrown: unknown): ReplyOutcome => {
    release();
    return reader.fail(toStreamError(thrown));
  };
  const finish = (outcome: ReadOutcome): ReplyOutcome => {
    try {
      release();
      return reader.finish(outcome);
    } catch (thrown) {
      return fail(thrown);
    }
  };
  try {
    const source = openSource(streamFn({ ...call, signal: controller.signal }), cancellation);
    reader.startPreload();
    const reading = source instanceof Promise
      ? source.then((stream) => readEvents(stream, reader))
      : readEvents(source, reader);
    return reading.then(finish, fail);
  } catch (thrown) {
    return Promise.resolve(fail(thrown));
  }
}

/** Returns the stream; an untyped function may return a promise of it. */
function openSource(
  source: AsyncIterable<AssistantMessageEvent>,
  cancellation: Cancellation,
): AsyncIterable<AssistantMessageEvent> | Promise<AsyncIterable<AssistantMessageEvent>> {
  if (!isThenable(source)) return source;
  const opening = source as PromiseLike<AsyncIterable<AssistantMessageEvent>>;
  return cancellation.untilAborted(opening).catch((thrown) => {
    opening.then(closeUnread, () => {});
    throw thrown;
  });
}

/** Accumulates a reply and emits its deltas as they arrive. */
class ReplyReader implements ReadOptions {
  /** Ends reading. */
  readonly cancellation: Cancellation;
  readonly #turn: TurnContext;
  readonly #run: RunServices;
  readonly #reply = new ReplyAccumulator();
  readonly #tools: readonly AgentTool[];
  readonly #callIds: string[] = [];
  #preparedTool: string | undefined;
  #firstTokenAt: number | undefined;
  #isPreloadStopped = false;
  #end: ReplyEnd | undefined;

  constructor(turn: TurnContext, tools: readonly AgentTool[]) {
    this.cancellation = turn.cancellation;
    this.#turn = turn;
    this.#run = turn.run;
    this.#tools = tools;
  }

  get characters(): number {
    return this.#reply.characters;
  }

  /** Time of the first content, in milliseconds since the epoch; `undefined` before it. */
  get firstTokenAt(): number | undefined {
    return this.#firstTokenAt;
  }

  /** Accumulates an event and emits deltas and warnings. */
  accept(event: AssistantMessageEvent): Promise<void> | undefined {
    switch (event.type) {
      case "text_delta":
      case "thinking_delta":
      case "tool_call_delta":
        this.#reply.append(event);
        this.#noteContent();
        return this.#run.events.emitDelta(event);
      case "tool_call_start": {
        const id = this.#run.history.claimCallId(event.id);
        this.#callIds.push(id);
        this.#prepareTool(event.name);
        const delta = id === event.id ? event : { ...event, id };
        this.#reply.apply(delta);
        this.#noteContent();
        return this.#run.events.emitDelta(delta);
      }
      case "warning":
        return this.#warn(event);
      case "done":
      case "error":
        this.#end = parseReplyEnd(event);
        this.#reply.apply(event);
        return undefined;
      default:
        this.#reply.apply(event);
        return undefined;
    }
  }

  /** Emits a warning, as text whatever its parts are; data that is not JSON is omitted. */
  #warn({ code, message, data }: StreamWarningEvent): Promise<void> | undefined {
    const copy = toJsonValue(data);
    const json = "value" in copy ? copy.value : undefined;
    return this.#run.events.warn(getErrorMessage(code), getErrorMessage(message), json);
  }

  /** Compiles the schema of a tool while the model still writes its arguments. */
  #prepareTool(name: string): void {
    if (name === this.#preparedTool) return;
    this.#preparedTool = name;
    const tool = this.#tools.find((tool) => tool.name === name);
    if (tool) prepareValidation(tool, this.#run.config.validator);
  }

  /** Loads the validator if the first reply of a run takes long, so that loading it delays nothing. */
  startPreload(): void {
    if (this.#turn.progress.turn > 1 || this.#tools.length === 0) return;
    void this.#preloadLater();
  }

  async #preloadLater(): Promise<void> {
    for (let count = 0; count < MICROTASKS_BEFORE_TIMER; count++) {
      await undefined;
      if (this.#isPreloadStopped) return;
    }
    const { validator } = this.#run.config;
    // Not with setTimeout(), whose first call takes 5 ms on Deno, which would delay the request.
    AbortSignal.timeout(PRELOAD_AFTER_MS).addEventListener("abort", () => {
      if (!this.#isPreloadStopped) preloadValidator(this.#tools, validator);
    });
  }

  stopPreload(): void {
    this.#isPreloadStopped = true;
  }

  #noteContent(): void {
    if (this.#firstTokenAt !== undefined) return;
    this.#firstTokenAt = this.#run.config.now();
    this.stopPreload();
  }

  /** Reads the terminal event of an aborted reply; blocks that are still open no longer matter. */
  acceptTerminal(event: AssistantMessageEvent): void {
    if (event.type === "done" || event.type === "error") this.#end = parseReplyEnd(event);
  }

  finish(outcome: "terminal" | "closed" | "aborted"): ReplyOutcome {
    const end = this.#end;
    const stoppedBy = this.#turn.monitor?.stoppedBy;
    if (stoppedBy || outcome === "aborted") return this.#abort();
    if (!end) {
      return this.fail(new NetworkError("The model stream ended before the reply was complete"));
    }
    if (end.error) return this.fail(end.error);
    const { stopReason, cost, responseId } = end;
    if (stopReason === "aborted") return this.#abort();
    if (stopReason === "error") {
      return this.fail(new StreamError('The model stream ended with the stop reason "error"'));
    }
    return {
      ...this.#snapshot(),
      stopReason,
      ...(cost && { reportedCost: cost }),
      ...(responseId !== undefined && { responseId }),
    };
  }

  fail(error: AgentError): ReplyOutcome {
    const isAborted = this.#end?.type === "error" && this.#end.stopReason === "aborted";
    if (this.#turn.cancellation.aborted || isAborted) return this.#abort();
    return { ...this.#withoutToolCalls(), stopReason: "error", error };
  }

  #abort(): ReplyOutcome {
    const stoppedBy = this.#turn.monitor?.stoppedBy;
    const error = stoppedBy
      ? new BudgetExceededError(stoppedBy.reason)
      : createAbortedError(this.#run);
    const outcome = { ...this.#withoutToolCalls(), stopReason: "aborted", error } as const;
    return stoppedBy ? { ...outcome, stoppedBy } : outcome;
  }

  /** Drops the tool calls: those of a failed reply get no results, so they must not enter the history. */
  #withoutToolCalls(): Pick<ReplyOutcome, "reply" | "hasOutput" | "usage"> {
    this.#run.history.releaseCallIds(this.#callIds);
    const { reply, ...rest } = this.#snapshot();
    const content = reply.content.filter(({ type }) => type !== "tool_call");
    return { reply: { content, calls: [] }, ...rest };
  }

  #snapshot(): Pick<ReplyOutcome, "reply" | "hasOutput" | "usage"> {
    const hasOutput = this.#firstTokenAt !== undefined;
    return { reply: this.#reply.finish(), hasOutput, usage: this.#end?.usage ?? zeroUsage() };
  }
}

function createOutcomeWithoutOutput(): Omit<Attempt, "stopReason"> {
  return {
    reply: { content: [], calls: [] },
    hasOutput: false,
    usage: zeroUsage(),
    cost: zeroCost(),
    calls: 0,
  };
}

/** Creates the result of an attempt that failed before anything was sent. */
export function createFailedAttempt(error: AgentError): Attempt {
  return { ...createOutcomeWithoutOutput(), stopReason: "error", error };
}

/** Creates the result of an attempt that was not made because the turn was aborted, or was stopped by a policy. */
export function createAbortedAttempt(
  { run, monitor }: TurnContext,
  stoppedBy: StoppedBy | undefined = monitor?.stoppedBy,
): Attempt {
  const outcome = { ...createOutcomeWithoutOutput(), stopReason: "aborted" } as const;
  if (!stoppedBy) return { ...outcome, error: createAbortedError(run) };
  return { ...outcome, error: new BudgetExceededError(stoppedBy.reason), stoppedBy };
}

/** Returns the abort reason if it is an `AbortedError`, otherwise an `AbortedError` with it as the cause. */
export function createAbortedError({ cancellation: { reason } }: RunServices): AgentError {
  if (AgentError.is(reason) && reason.code === "aborted") return reason;
  return new AbortedError(undefined, { cause: reason });
}
