/**
 * The metrics of the GenAI conventions.
 *
 * @module
 */

import type { Attributes, Histogram, Meter } from "./api.ts";

/** Boundaries that the conventions recommend, in seconds. */
const SECONDS = [
  0.01,
  0.02,
  0.04,
  0.08,
  0.16,
  0.32,
  0.64,
  1.28,
  2.56,
  5.12,
  10.24,
  20.48,
  40.96,
  81.92,
];

/** Boundaries that the conventions recommend, in tokens: the powers of 4 up to 4^13. */
const TOKENS = Array.from({ length: 14 }, (_, exponent) => 4 ** exponent);

/** Records the metrics. */
export class Metrics {
  readonly #modelCall: Histogram;
  readonly #firstChunk: Histogram;
  readonly #inputTokens: Histogram;
  readonly #outputTokens: Histogram;
  readonly #run: Histogram;
  readonly #tool: Histogram;

  /** Creates the instruments. */
  constructor(meter: Meter) {
    const createTimer = (name: string, description: string): Histogram =>
      meter.createHistogram(name, {
        description,
        unit: "s",
        advice: { explicitBucketBoundaries: SECONDS },
      });
    this.#modelCall = createTimer("gen_ai.client.inference.duration", "Duration of model calls");
    this.#firstChunk = createTimer(
      "gen_ai.client.inference.time_to_first_chunk",
      "Time from the request of a model call to its first content",
    );
    this.#run = createTimer("gen_ai.invoke_agent.duration", "Duration of runs");
    this.#tool = createTimer("gen_ai.execute_tool.duration", "Duration of tool calls");
    const createCounter = (name: string, description: string): Histogram =>
      meter.createHistogram(name, {
        description,
        unit: "{token}",
        advice: { explicitBucketBoundaries: TOKENS },
      });
    this.#inputTokens = createCounter(
      "gen_ai.client.inference.operation.input_tokens",
      "Input tokens of a model call, with cached ones",
    );
    this.#outputTokens = createCounter(
      "gen_ai.client.inference.operation.output_tokens",
      "Output tokens of a model call, with those of reasoning",
    );
  }

  /** Records a model call; durations are in milliseconds. */
  recordModelCall(call: {
    readonly durationMs: number;
    readonly ttftMs: number | undefined;
    readonly input: number;
    readonly output: number;
    readonly attributes: Attributes;
  }): void {
    const { durationMs, ttftMs, input, output, attributes } = call;
    this.#modelCall.record(durationMs / 1000, attributes);
    const { "error.type": _error, ...common } = attributes;
    if (ttftMs !== undefined) this.#firstChunk.record(ttftMs / 1000, common);
    // Without a report of the provider, the number of tokens is unknown.
    if (input === 0 && output === 0) return;
    this.#inputTokens.record(input, common);
    this.#outputTokens.record(output, common);
  }

  /** Records a run. */
  recordRun(durationMs: number, attributes: Attributes): void {
    this.#run.record(durationMs / 1000, attributes);
  }

  /** Records a tool call. */
  recordTool(durationMs: number, attributes: Attributes): void {
    this.#tool.record(durationMs / 1000, attributes);
  }
}
