/**
 * Compaction that summarizes the middle of a history.
 *
 * @module
 */

import { omitCustomMessages } from "../../core/context/context.ts";
import { checkFunction } from "../../core/checks/check_function.ts";
import { createValueError } from "../../core/checks/check_object.ts";
import { type AgentError, getErrorMessage } from "../../core/errors/errors.ts";
import { refusePromise } from "../../core/errors/refuse_promise.ts";
import { exponentialBackoff, type RetryStrategy } from "../../core/hooks/retry.ts";
import { type ModelSpec, modelSpec } from "../../core/models/model.ts";
import { priceUsage } from "../../core/models/price_usage.ts";
import type { Cost, Prices, Rates, Usage } from "../../core/models/usage.ts";
import { addReportedSpending, toValidUsage } from "../../core/models/valid_usage.ts";
import { type Clock, resolvePorts, systemClock } from "../../core/ports/ports.ts";
import type { StreamFn, StreamOptions } from "../../core/streams/stream.ts";
import type { GetApiKey } from "../../loop/run/config.ts";
import { lookUpRates } from "../../loop/run/price.ts";
import { checkCompaction, COMPACTION_OPTIONS, refuseAsync } from "./check_compaction.ts";
import { createCompactingTransform } from "./compacting_transform.ts";
import type {
  CompactingTransform,
  CompactionOptions,
  SummaryRequest,
  SummaryResult,
  SummaryWriter,
} from "./compaction.ts";
import { SummaryReply } from "./summary_reply.ts";
import { createSummaryRequest } from "./summary_request.ts";

/** Fraction of the window that a request for a summary may use. */
const REQUEST_FRACTION = 0.75;
/** Maximum fraction of the window that a summary may take. */
const SUMMARY_FRACTION = 0.25;
/** Number of events of a stream after which other work is done. */
const EVENTS_PER_PAUSE = 256;
/** Time for a stream to end after it was aborted, in milliseconds; less than a run waits for `transformContext`. */
const ABORT_GRACE_MS = 50;
/** Context window to assume if it is unknown, in tokens. */
const DEFAULT_WINDOW = 32_000;

/** Options for {@linkcode summarize}. */
export interface SummarizeOptions extends CompactionOptions {
  /** Calls the model that writes summaries. */
  readonly streamFn: StreamFn;
  /** The model that writes summaries. Default: the agent's model, without thinking. */
  readonly model?: ModelSpec | string | undefined;
  /**
   * The models that write a summary when the calls of the model before them have failed, in this order. They get the same
   * request. Default: none.
   */
  readonly fallback?: readonly (ModelSpec | string)[] | undefined;
  /** Context window of that model, in tokens. Default: `contextWindow`. */
  readonly summaryWindow?: number | undefined;
  /** Maximum length of a summary, in tokens; a quarter of the context window if that is less. Default: 2,000. */
  readonly maxSummaryTokens?: number | undefined;
  /** Returns the API key of a provider. Default: none; the adapter uses its own key. */
  readonly getApiKey?: GetApiKey | undefined;
  /** Prices of models; a cost that the provider reports takes precedence. Default: those of `streamFn`. */
  readonly prices?: Prices | undefined;
  /** Maximum duration of a model call, in milliseconds. Default: 120,000. */
  readonly timeoutMs?: number | undefined;
  /** Decides whether and when a failed model call is retried. Default: `exponentialBackoff()`. */
  readonly retry?: RetryStrategy | undefined;
  /** Returns the time in milliseconds since the epoch. Default: `Date.now`. */
  readonly now?: Clock["now"] | undefined;
  /** Waits for retries and for the time limit. Default: based on `setTimeout`. */
  readonly sleep?: Clock["sleep"] | undefined;
}

const OPTION_NAMES: Readonly<Record<keyof SummarizeOptions, true>> = {
  ...COMPACTION_OPTIONS,
  streamFn: true,
  model: true,
  fallback: true,
  summaryWindow: true,
  maxSummaryTokens: true,
  getApiKey: true,
  prices: true,
  timeoutMs: true,
  retry: true,
  now: true,
  sleep: true,
};

/**
 * Returns a `transformContext` that replaces the middle of a history that exceeds the model's context window with a
 * summary that a model writes: goal, decisions, files touched and open steps. The request for the summary is truncated
 * to fit, and its usage counts towards the run. A summary that is too long is truncated.
 *
 * A model call that fails is retried, then the models of `fallback` are called. When all attempts fail, or the summary does
 * not fit, the report's `problem` gives the reason, and the messages stay while they fit; only when they no longer fit, the
 * middle is omitted without a summary of it. Later requests try again, 30 seconds after the first failure and at most
 * 10 minutes after the last.
 *
 * The transform keeps its cut between requests, so each agent needs its own.
 *
 * @throws {BadRequestError} If an option is unknown, a number is below 0 or not a number, `streamFn` is no function, or a
 * model is invalid, such as a name that is not of the form `provider/model`.
 *
 * @example
 * ```ts
 * import { Agent } from "@swink/agent";
 * import { summarize } from "@swink/agent/memory";
 * import { reply, scriptedStream } from "@swink/agent/testing";
 *
 * const streamFn = scriptedStream([reply("Hello!")]);
 * const agent = new Agent({
 *   model: "any/model",
 *   streamFn,
 *   transformContext: summarize({ streamFn, contextWindow: 200_000 }),
 * });
 * await agent.prompt("Hello");
 * ```
 */
export function summarize(options: SummarizeOptions): CompactingTransform {
  checkCompaction(options, OPTION_NAMES, "summarize()");
  checkFunction("streamFn", options.streamFn);
  return createCompactingTransform(options, new ModelSummaryWriter(options));
}

type Spending = Pick<SummaryResult, "usage" | "cost">;

/** The calls of a model for a summary. */
interface ModelCalls {
  readonly model: ModelSpec;
  /** The spending of the earlier calls for the summary. */
  readonly spent: Spending;
}

/** One call of a model for a summary. */
interface SummaryCall extends ModelCalls {
  readonly signal: AbortSignal;
}

/** The last reply of a model, and the spending of all calls for the summary. */
interface LastReply {
  readonly reply: SummaryReply;
  readonly spent: Spending;
}

class ModelSummaryWriter implements SummaryWriter {
  readonly now: Clock["now"];
  readonly #options: SummarizeOptions;
  readonly #model: ModelSpec | undefined;
  readonly #fallback: readonly ModelSpec[];
  readonly #maxSummaryTokens: number;
  readonly #retry: RetryStrategy;
  readonly #sleep: Clock["sleep"];

  constructor(options: SummarizeOptions) {
    const { model, fallback = [], maxSummaryTokens = 2_000, retry } = options;
    const { now, sleep } = resolvePorts({ now: options.now, sleep: options.sleep });
    if (!Array.isArray(fallback)) throw createValueError("fallback must be an array", fallback);
    this.#model = model === undefined ? undefined : modelSpec(model);
    this.#fallback = Array.from(fallback, (other) => modelSpec(other));
    this.#maxSummaryTokens = maxSummaryTokens;
    this.#options = options;
    this.#retry = retry ?? exponentialBackoff();
    this.now = now;
    this.#sleep = sleep;
  }

  getMaxTokens(contextWindow: number | undefined): number {
    const { summaryWindow = Infinity } = this.#options;
    const window = Math.min(contextWindow ?? Infinity, summaryWindow);
    return Math.min(this.#maxSummaryTokens, Math.floor(window * SUMMARY_FRACTION));
  }

  async write(request: SummaryRequest): Promise<SummaryResult> {
    const { input: { signal }, contextWindow } = request;
    let last = await this.#callUntilEnd(request, { model: this.#selectModel(request), spent: {} });
    for (const model of this.#fallback) {
      if (!last.reply.hasFailed || signal.aborted) break;
      last = await this.#callUntilEnd(request, { model, spent: last.spent });
    }
    return { ...last.reply.toResult(this.getMaxTokens(contextWindow)), ...last.spent };
  }

  /** Calls a model until a call succeeds, or must not be retried. */
  async #callUntilEnd(request: SummaryRequest, calls: ModelCalls): Promise<LastReply> {
    const { signal } = request.input;
    const { model } = calls;
    let { spent } = calls;
    for (let attempt = 1;; attempt++) {
      const reply = await this.#callModel(request, { model, spent });
      spent = addReportedSpending(spent, this.#getUsageAndCost(model, reply));
      const delay = reply.error && !signal.aborted
        ? this.#getRetryDelay(reply.error, attempt)
        : null;
      if (delay === null) return { reply, spent };
      await this.#sleep(delay, signal);
    }
  }

  /** Returns the delay before the next attempt in milliseconds, or `null` to stop retrying, also for an invalid delay. */
  #getRetryDelay(error: AgentError, attempt: number): number | null {
    if (error.code === "context_window_overflow" || error.code === "aborted") return null;
    try {
      const delay: unknown = this.#retry({ error, attempt });
      refusePromise(delay, "retry");
      return typeof delay === "number" && Number.isFinite(delay) ? Math.max(0, delay) : null;
    } catch {
      return null; // The report has the error of the model.
    }
  }

  /** Calls the model, unless a policy stops that. Never rejects: an error, an abort or a timeout is in the reply. */
  async #callModel(request: SummaryRequest, { model, spent }: ModelCalls): Promise<SummaryReply> {
    const { timeoutMs = 120_000 } = this.#options;
    const reply = new SummaryReply();
    const limit = new AbortController();
    const signal = AbortSignal.any([request.input.signal, limit.signal]);
    const reading = this.#read(reply, request, { model, spent, signal })
      .catch((thrown) => reply.fail(getErrorMessage(thrown)));
    const expired = this.#sleep(timeoutMs, signal).then(() => {
      if (!signal.aborted) reply.expire(`it took more than ${timeoutMs} ms`);
    });
    await Promise.race([reading, expired]);
    limit.abort(); // Ends the timer, and a stream that did not finish in time.
    await waitBriefly(reading); // The last event of an aborted stream has its usage.
    reply.close();
    return reply;
  }

  /** Asks the policies about the call, and reads the events of its reply. */
  async #read(
    reply: SummaryReply,
    request: SummaryRequest,
    { model, spent, signal }: SummaryCall,
  ): Promise<void> {
    const { streamFn, prices } = this.#options;
    const options = await this.#createStreamOptions(model, request);
    const maxTokens = this.#getRequestBudget(request);
    const convert = refuseAsync(
      "convertToLlm",
      request.input.convertToLlm ?? omitCustomMessages,
    );
    const messages = request.messages.flatMap((message) => convert(message) ?? []);
    const context = createSummaryRequest({ ...request, messages, maxTokens });
    const call = { model, context, options, streamFn, prices, ...spent };
    const stoppedBy = await request.input.checkRequest?.(call);
    if (stoppedBy) return reply.refuse(stoppedBy.reason);
    if (signal.aborted) return;
    let events = 0;
    // An untyped function may return a promise of its stream.
    for await (const event of await streamFn({ model, context, options, signal })) {
      if (reply.closed.aborted) return;
      reply.addEvent(event);
      // A stream that never waits would keep the time limit from expiring.
      if (++events % EVENTS_PER_PAUSE === 0) await systemClock.sleep(0, reply.closed);
    }
    reply.end();
  }

  #selectModel({ input }: SummaryRequest): ModelSpec {
    return this.#model ?? { ...input.model, thinkingLevel: "off" };
  }

  #getRequestBudget({ contextWindow }: SummaryRequest): number {
    const window = this.#options.summaryWindow ?? contextWindow ?? DEFAULT_WINDOW;
    return Math.floor(window * REQUEST_FRACTION) - this.getMaxTokens(contextWindow);
  }

  async #createStreamOptions(
    { provider }: ModelSpec,
    { contextWindow }: SummaryRequest,
  ): Promise<StreamOptions> {
    const apiKey = await this.#options.getApiKey?.(provider);
    const options: StreamOptions = { maxTokens: this.getMaxTokens(contextWindow), cache: "off" };
    return apiKey === undefined ? options : { ...options, apiKey };
  }

  #getUsageAndCost(
    model: ModelSpec,
    { usage: reported, cost }: SummaryReply,
  ): Spending {
    if (!reported) return {};
    const usage = toValidUsage(reported);
    const { prices = this.#options.streamFn.prices } = this.#options;
    const priced = cost ?? tryPriceUsage(usage, lookUpRates(prices, model));
    return priced ? { usage, cost: priced } : { usage };
  }
}

/** Waits until a promise has settled, or for a short time. */
async function waitBriefly(promise: Promise<unknown>): Promise<void> {
  const settled = new AbortController();
  void promise.finally(() => settled.abort());
  await systemClock.sleep(ABORT_GRACE_MS, settled.signal);
}

/** Returns the cost of a usage; `undefined` without rates, and for rates that are invalid. */
function tryPriceUsage(usage: Usage, rates: Rates | undefined): Cost | undefined {
  try {
    return rates && priceUsage(usage, rates);
  } catch {
    return undefined;
  }
}
