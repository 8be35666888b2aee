/**
 * The metrics of the GenAI conventions.
 *
 * @module
 */

import type { Usage } from "../core/models/usage.ts";
import type { Attributes, Counter, Histogram, Meter } from "./api.ts";

/** Boundaries that the conventions recommend for model calls and tool calls, in seconds: 0.01 to 81.92. */
const CALL_SECONDS = doubleFrom(0.01, 14);

/** Boundaries that the conventions recommend for runs, in seconds: 0.1 to 409.6. */
const RUN_SECONDS = doubleFrom(0.1, 13);

/** Boundaries that the conventions recommend for numbers of calls: 1 to 128. */
const CALLS = doubleFrom(1, 8);

/** Boundaries that the conventions recommend, in tokens: the powers of 4 up to 4^13. */
const TOKENS = Array.from({ length: 14 }, (_, exponent) => 4 ** exponent);

/** The attributes of the metrics of a model. */
export interface ModelSeries {
  /** Those of its calls. */
  readonly attributes: Attributes;
  /** Those of its tokens. */
  readonly tokens: Attributes;
}

/** Returns the attributes of metrics. Providers do not report the modality of their tokens in one form. */
export function createModelSeries(attributes: Attributes): ModelSeries {
  return { attributes, tokens: { ...attributes, "gen_ai.token.modality": "unknown" } };
}

/** Records the metrics. */
export class Metrics {
  readonly #modelCall: Histogram;
  readonly #firstChunk: Histogram;
  readonly #inputTokens: Histogram;
  readonly #outputTokens: Histogram;
  readonly #usage: TokenCounters;
  readonly #run: Histogram;
  readonly #runModelCalls: Histogram;
  readonly #runToolCalls: Histogram;
  readonly #tool: Histogram;

  /** Creates the instruments. */
  constructor(meter: Meter) {
    const create = ([unit, explicitBucketBoundaries]: Scale, name: string, description: string) =>
      meter.createHistogram(name, { description, unit, advice: { explicitBucketBoundaries } });
    const timer: Scale = ["s", CALL_SECONDS];
    const tokens: Scale = ["{token}", TOKENS];
    this.#modelCall = create(timer, "gen_ai.client.inference.duration", "Duration of model calls");
    this.#firstChunk = create(
      timer,
      "gen_ai.client.inference.time_to_first_chunk",
      "Time from the request of a model call to its first content",
    );
    this.#inputTokens = create(
      tokens,
      "gen_ai.client.inference.operation.input_tokens",
      "Input tokens of a model call, with cached ones",
    );
    this.#outputTokens = create(
      tokens,
      "gen_ai.client.inference.operation.output_tokens",
      "Output tokens of a model call, with those of reasoning",
    );
    this.#usage = new TokenCounters(meter);
    this.#run = create(["s", RUN_SECONDS], "gen_ai.invoke_agent.duration", "Duration of runs");
    this.#runModelCalls = create(
      ["{inference_call}", CALLS],
      "gen_ai.invoke_agent.inference_calls",
      "Model calls of a run",
    );
    this.#runToolCalls = create(
      ["{tool_call}", CALLS],
      "gen_ai.invoke_agent.tool_calls",
      "Tool calls of a run",
    );
    this.#tool = create(timer, "gen_ai.execute_tool.duration", "Duration of tool calls");
  }

  /** Records a model call, also one that failed; durations are in milliseconds. */
  recordModelCall(call: {
    readonly durationMs: number;
    readonly ttftMs: number | undefined;
    readonly usage: Usage;
    readonly errorType: string | undefined;
    readonly series: ModelSeries;
  }): void {
    const { durationMs, ttftMs, usage, errorType, series } = call;
    const attributes = errorType === undefined
      ? series.attributes
      : { ...series.attributes, "error.type": errorType };
    this.#modelCall.record(durationMs / 1000, attributes);
    // The conventions leave failed calls out, whose tokens are few or none.
    if (errorType === undefined) {
      this.#inputTokens.record(countInput(usage), attributes);
      this.#outputTokens.record(usage.output, attributes);
    }
    if (ttftMs !== undefined) this.#firstChunk.record(ttftMs / 1000, series.attributes);
    this.#usage.add(usage, series.tokens);
  }

  /** Records a run with the numbers of its calls. */
  recordRun(run: {
    readonly durationMs: number;
    readonly modelCalls: number;
    readonly toolCalls: number;
    readonly attributes: Attributes;
  }): void {
    const { durationMs, modelCalls, toolCalls, attributes } = run;
    this.#run.record(durationMs / 1000, attributes);
    const { "error.type": _error, ...common } = attributes;
    this.#runModelCalls.record(modelCalls, common);
    this.#runToolCalls.record(toolCalls, common);
  }

  /** Records a tool call. */
  recordTool(durationMs: number, attributes: Attributes): void {
    this.#tool.record(durationMs / 1000, attributes);
  }
}

/** Unit and boundaries of a histogram. */
type Scale = readonly [unit: string, boundaries: number[]];

/** Counts tokens by their kind: the sums that costs are estimated from. */
class TokenCounters {
  readonly #input: Counter;
  readonly #output: Counter;
  readonly #cacheRead: Counter;
  readonly #cacheWrite: Counter;
  readonly #reasoning: Counter;

  constructor(meter: Meter) {
    const create = (kind: string, description: string) =>
      meter.createCounter(`gen_ai.client.inference.usage.${kind}`, {
        description,
        unit: "{token}",
      });
    this.#input = create("input_tokens", "Input tokens, with cached ones");
    this.#output = create("output_tokens", "Output tokens, with those of reasoning");
    this.#cacheRead = create("cache_read.input_tokens", "Input tokens that were read from a cache");
    this.#cacheWrite = create(
      "cache_write.input_tokens",
      "Input tokens that were written to a cache",
    );
    this.#reasoning = create("reasoning.output_tokens", "Output tokens of reasoning");
  }

  /** Adds the tokens of a model call; parts that are 0 start no series. */
  add(usage: Usage, attributes: Attributes): void {
    const { output, cacheRead, cacheWrite, extra } = usage;
    this.#input.add(countInput(usage), attributes);
    this.#output.add(output, attributes);
    if (cacheRead > 0) this.#cacheRead.add(cacheRead, attributes);
    if (cacheWrite > 0) this.#cacheWrite.add(cacheWrite, attributes);
    const reasoning = extra?.["reasoning"] ?? 0;
    if (reasoning > 0) this.#reasoning.add(reasoning, attributes);
  }
}

/** Returns the input tokens with cached ones, which `Usage` separates. */
export function countInput({ input, cacheRead, cacheWrite }: Usage): number {
  return input + cacheRead + cacheWrite;
}

function doubleFrom(start: number, length: number): number[] {
  return Array.from({ length }, (_, exponent) => Number((start * 2 ** exponent).toFixed(2)));
}
