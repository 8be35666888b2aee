/**
 * Spans and metrics of agents by the GenAI conventions of OpenTelemetry.
 *
 * @example
 * ```ts
 * import { Agent } from "@swink/agent";
 * import { telemetry } from "@swink/agent/telemetry";
 *
 * const agent = new Agent({ model: "anthropic/claude-sonnet-5-5" });
 * const { observe } = await telemetry({ content: true });
 * observe(agent);
 * ```
 *
 * @module
 */

export type {
  Attributes,
  AttributeValue,
  Counter,
  CounterOptions,
  Histogram,
  HistogramOptions,
  Meter,
  OpenTelemetryApi,
  Span,
  SpanOptions,
  TraceContext,
  Tracer,
} from "./api.ts";
export type { ContentFilter, TelemetryOptions } from "./options.ts";
export { type Telemetry, telemetry } from "./telemetry.ts";
