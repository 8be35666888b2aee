/**
 * Compaction that summarizes the middle of a history.
 *
 * @module
 */

import { AbortedError, getErrorMessage } from "../../core/errors.ts";
import { type ModelSpec, modelSpec } from "../../core/model.ts";
import type { AssistantMessageEvent, StreamFn, StreamOptions } from "../../core/stream.ts";
import { priceUsage } from "../../core/price_usage.ts";
import { type Cost, findRates, type Prices, type Usage } from "../../core/usage.ts";
import type { GetApiKey } from "../../loop/config.ts";
import { createCompactingTransform } from "./compacting_transform.ts";
import type {
  CompactingTransform,
  CompactionOptions,
  SummaryRequest,
  SummaryResult,
  SummaryWriter,
} from "./compaction.ts";
import { createSummaryRequest } from "./summary_request.ts";

/** Fraction of the window that a request for a summary may use. */
const REQUEST_FRACTION = 0.75;
/** Context window to assume if it is unknown, in tokens. */
const DEFAULT_WINDOW = 32_000;

/** Options for {@linkcode summarize}. */
export interface SummarizeOptions extends CompactionOptions {
  /** Calls the model that writes summaries. */
  readonly streamFn: StreamFn;
  /** The model that writes summaries. Default: the agent's model, without thinking. */
  readonly model?: ModelSpec | string;
  /** Context window of that model, in tokens. Default: `contextWindow`. */
  readonly summaryWindow?: number;
  /** Maximum length of a summary, in tokens. Default: 2,000. */
  readonly maxSummaryTokens?: number;
  /** Returns the API key of a provider. Default: none; the adapter uses its own key. */
  readonly getApiKey?: GetApiKey;
  /** Prices of models. Default: none; only costs that the provider reports are counted. */
  readonly prices?: Prices;
}

/**
 * Returns a `transformContext` that replaces the middle of a history that exceeds the model's context window with a
 * summary that a model writes: goal, decisions, files touched and open steps. The request for the summary is truncated
 * to fit, and its usage counts towards the run. If no summary can be written, the middle is omitted without one, and
 * the report's `problem` gives the reason.
 *
 * The transform keeps its cut between requests, so each agent needs its own.
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
  return createCompactingTransform(options, new ModelSummaryWriter(options));
}

class ModelSummaryWriter implements SummaryWriter {
  readonly maxTokens: number;
  readonly #options: SummarizeOptions;

  constructor(options: SummarizeOptions) {
    this.maxTokens = options.maxSummaryTokens ?? 2_000;
    this.#options = options;
  }

  async write(request: SummaryRequest): Promise<SummaryResult> {
    const { signal } = request.input;
    const model = this.#selectModel(request);
    const reply = new SummaryCollector();
    try {
      const options = await this.#createStreamOptions(model);
      const context = createSummaryRequest({
        ...request,
        maxTokens: this.#getRequestBudget(request),
      });
      for await (const event of this.#options.streamFn({ model, context, options, signal })) {
        reply.addEvent(event);
      }
    } catch (thrown) {
      reply.fail(getErrorMessage(thrown));
    }
    if (signal.aborted) throw new AbortedError(undefined, { cause: signal.reason });
    return { ...reply.result(), ...this.#getUsageAndCost(model, reply) };
  }

  #selectModel({ input }: SummaryRequest): ModelSpec {
    const { model } = this.#options;
    return model === undefined ? { ...input.model, thinkingLevel: "off" } : modelSpec(model);
  }

  #getRequestBudget({ contextWindow }: SummaryRequest): number {
    const window = this.#options.summaryWindow ?? contextWindow ?? DEFAULT_WINDOW;
    return Math.floor(window * REQUEST_FRACTION) - this.maxTokens;
  }

  async #createStreamOptions({ provider }: ModelSpec): Promise<StreamOptions> {
    const apiKey = await this.#options.getApiKey?.(provider);
    const options: StreamOptions = { maxTokens: this.maxTokens, cache: "off" };
    return apiKey === undefined ? options : { ...options, apiKey };
  }

  #getUsageAndCost(
    model: ModelSpec,
    { usage, cost }: SummaryCollector,
  ): Pick<SummaryResult, "usage" | "cost"> {
    if (!usage) return {};
    const { prices } = this.#options;
    const rates = prices && findRates(prices, model);
    const priced = cost ?? (rates && priceUsage(usage, rates));
    return priced ? { usage, cost: priced } : { usage };
  }
}

/** Collects the text and the usage of a reply. */
class SummaryCollector {
  usage: Usage | undefined;
  cost: Cost | undefined;
  #text = "";
  #problem: string | undefined;

  addEvent(event: AssistantMessageEvent): void {
    if (event.type === "text_delta") this.#text += event.delta;
    if (event.type === "done" || event.type === "error") this.usage = event.usage;
    if (event.type === "done") this.cost = event.cost;
    if (event.type === "error") this.fail(event.error.message);
  }

  fail(problem: string): void {
    this.#problem = problem;
  }

  result(): SummaryResult {
    const summary = this.#text.trim();
    if (this.#problem === undefined && summary !== "") return { summary };
    return { problem: `No summary was written: ${this.#problem ?? "the reply has no text"}` };
  }
}
