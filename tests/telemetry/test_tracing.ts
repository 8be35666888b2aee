/**
 * The SDK of OpenTelemetry for tests, without exporters and timers.
 *
 * @module
 */

import * as api from "@opentelemetry/api";
import { AsyncLocalStorageContextManager } from "@opentelemetry/context-async-hooks";
import { MeterProvider, MetricReader } from "@opentelemetry/sdk-metrics";
import {
  BasicTracerProvider,
  type ReadableSpan,
  type SpanProcessor,
} from "@opentelemetry/sdk-trace-base";
import { assert } from "@std/assert";
import { Agent, type AgentOptions, type AgentTool } from "../../mod.ts";
import { telemetry, type TelemetryOptions } from "../../src/telemetry/mod.ts";
import { fakeTool } from "../../src/testing/mod.ts";

const { context, propagation, trace } = api;

/** Reads metrics when the test asks for them. */
export class TestReader extends MetricReader {
  protected override onShutdown = () => Promise.resolve();
  protected override onForceFlush = () => Promise.resolve();
}

/** Collects spans, without the timers of an exporter. */
class TestProcessor implements SpanProcessor {
  readonly spans: ReadableSpan[] = [];
  onStart = () => {};
  onEnd = (span: ReadableSpan) => void this.spans.push(span);
  forceFlush = () => Promise.resolve();
  shutdown = () => Promise.resolve();
}

/** Registers what a program registers, and removes it at the end of the test. */
export function register(): Disposable & { spans: readonly ReadableSpan[]; reader: TestReader } {
  const processor = new TestProcessor();
  const reader = new TestReader();
  const spanProcessors = [processor];
  trace.setGlobalTracerProvider(new BasicTracerProvider({ spanProcessors }));
  api.metrics.setGlobalMeterProvider(new MeterProvider({ readers: [reader] }));
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  propagation.setGlobalPropagator({
    inject: (of, carrier, setter) => {
      const { traceId, spanId } = trace.getSpanContext(of) ?? { traceId: "", spanId: "" };
      setter.set(carrier, "traceparent", `00-${traceId}-${spanId}-01`);
    },
    extract: (of) => of,
    fields: () => ["traceparent"],
  });
  const dispose = () => {
    trace.disable();
    api.metrics.disable();
    context.disable();
    propagation.disable();
  };
  return { spans: processor.spans, reader, [Symbol.dispose]: dispose };
}

/** Runs an observed agent; returns its spans in the order of their end. */
export async function traceRun(
  options: Omit<AgentOptions, "model">,
  settings: TelemetryOptions = {},
): Promise<readonly ReadableSpan[]> {
  using registered = register();
  const agent = new Agent({ model: "anthropic/claude", ...options });
  const { observe } = await telemetry({ api, ...settings });
  observe(agent);
  await agent.prompt("Hello");
  return registered.spans;
}

/** Returns `name < parent < …` of each span. */
export function describeTree(spans: readonly ReadableSpan[]): string[] {
  const byId = new Map(spans.map((span) => [span.spanContext().spanId, span]));
  const toPath = (span: ReadableSpan): string => {
    const parent = byId.get(span.parentSpanContext?.spanId ?? "");
    return parent ? `${span.name} < ${toPath(parent)}` : span.name;
  };
  return spans.map(toPath);
}

/** Returns the first span with a name. */
export function find(spans: readonly ReadableSpan[], name: string): ReadableSpan {
  const span = spans.find((span) => span.name === name);
  assert(span, `No span "${name}" among ${spans.map(({ name }) => name)}`);
  return span;
}

/** Token counts of a reply. */
export const usage = {
  input: 10,
  output: 5,
  cacheRead: 100,
  cacheWrite: 20,
  total: 135,
  extra: { reasoning: 2 },
};
/** A tool. */
export const weather: AgentTool = fakeTool({ name: "weather", result: "Sunny" });
