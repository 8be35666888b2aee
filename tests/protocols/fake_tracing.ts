/**
 * A stand-in for `@opentelemetry/api` that keeps the spans without their times.
 *
 * @module
 */

import type { OpenTelemetryApi, Span, TraceContext } from "../../src/telemetry/api.ts";

interface FakeSpan {
  readonly name: string;
  readonly kind: number;
  readonly parent: string | undefined;
  attributes: Record<string, unknown>;
  readonly events: object[];
  status?: object;
}

interface FakeContext {
  readonly span?: string;
}

/** Collects spans. */
export class FakeTracing {
  readonly #spans: FakeSpan[] = [];

  /** The spans, in the order of their start. */
  get spans(): readonly object[] {
    return this.#spans;
  }

  readonly api: OpenTelemetryApi = {
    trace: {
      getTracer: () => ({
        startSpan: (name, { kind = 0, attributes = {} }, context: FakeContext) =>
          this.#start({ name, kind, parent: context.span, attributes, events: [] }),
      }),
      setSpan: (_context, span: { readonly label: string }) => ({ span: span.label }),
    },
    metrics: {
      getMeter: () => ({
        createHistogram: () => ({ record() {} }),
        createCounter: () => ({ add() {} }),
      }),
    },
    context: { active: (): TraceContext => ({}), with: (_context, work) => work() },
    propagation: { inject() {} },
  };

  #start(span: FakeSpan): Span & { readonly label: string } {
    this.#spans.push(span);
    return {
      label: `${this.#spans.length}: ${span.name}`,
      setAttributes: (attributes) => span.attributes = { ...span.attributes, ...attributes },
      addEvent: (name, attributes = {}) => span.events.push({ name, ...attributes }),
      setStatus: (status) => span.status = status,
      end() {},
    };
  }
}
