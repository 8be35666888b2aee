/**
 * The part of the npm package `@opentelemetry/api` that is in use.
 *
 * @module
 */

/** Value of an attribute. */
export type AttributeValue = string | number | boolean | string[];

/** Attributes of a span, an event or a measurement. */
export type Attributes = Record<string, AttributeValue>;

/** A context of OpenTelemetry, which the library only passes on. */
export type TraceContext = object;

/** A span. Times are in milliseconds since the epoch. */
export interface Span {
  /** Whether it keeps attributes: not if a sampler has left it out. Default: it does. */
  isRecording?(): boolean;
  /** Sets attributes. */
  setAttributes(attributes: Attributes): unknown;
  /** Adds an event at the current time. */
  addEvent(name: string, attributes?: Attributes): unknown;
  /** Sets the status: 2 for an error. */
  setStatus(status: { code: number; message?: string }): unknown;
  /** Ends the span. Default: now. */
  end(endTime?: number): void;
}

/** Options of a new span. */
export interface SpanOptions {
  /** Kind of span: 0 for internal, 2 for a client. */
  kind?: number;
  /** Attributes, which samplers see. */
  attributes?: Attributes;
  /** Start in milliseconds since the epoch. Default: now. */
  startTime?: number;
}

/** Creates spans, as `trace.getTracer(name)` of `@opentelemetry/api` returns it. */
export interface Tracer {
  /** Starts a span as a child of that of a context. */
  startSpan(name: string, options: SpanOptions, context: never): Span;
}

/** Records values. */
export interface Histogram {
  /** Records a value. */
  record(value: number, attributes: Attributes): void;
}

/** Adds values up. */
export interface Counter {
  /** Adds a value. */
  add(value: number, attributes: Attributes): void;
}

/** Options of a new counter. */
export interface CounterOptions {
  /** Description for people. */
  description: string;
  /** Unit, such as `s`. */
  unit: string;
}

/** Options of a new histogram. */
export interface HistogramOptions extends CounterOptions {
  /** Recommended boundaries of the buckets. */
  advice: { explicitBucketBoundaries: number[] };
}

/** Creates instruments, as `metrics.getMeter(name)` of `@opentelemetry/api` returns it. */
export interface Meter {
  /** Creates a histogram. */
  createHistogram(name: string, options: HistogramOptions): Histogram;
  /** Creates a counter. */
  createCounter(name: string, options: CounterOptions): Counter;
}

/** The package `@opentelemetry/api`, version 1: `await import("@opentelemetry/api")`. */
export interface OpenTelemetryApi {
  /** Tracers, and the spans of contexts. */
  readonly trace: {
    getTracer(name: string, version?: string): Tracer;
    setSpan(context: never, span: never): TraceContext;
  };
  /** Meters. */
  readonly metrics: { getMeter(name: string, version?: string): Meter };
  /** The current context. */
  readonly context: {
    active(): TraceContext;
    with(context: never, work: () => unknown): unknown;
  };
  /** Headers of contexts. */
  readonly propagation: { inject(context: never, carrier: object): void };
}
