/**
 * Measures what telemetry adds to a turn: with an observer whose spans go nowhere, and with spans and metrics of the SDK of
 * OpenTelemetry. The baseline is an agent that nothing observes, in the same process. The fastest run counts: all others waited for other
 * programs or the garbage collector.
 *
 * @module
 */

import * as api from "@opentelemetry/api";
import { AsyncLocalStorageContextManager } from "@opentelemetry/context-async-hooks";
import { MeterProvider, MetricReader } from "@opentelemetry/sdk-metrics";
import { BasicTracerProvider, type SpanProcessor } from "@opentelemetry/sdk-trace-base";
import { Agent } from "../mod.ts";
import { type Telemetry, telemetry } from "../src/telemetry/mod.ts";
import { fakeTool, reply, scriptedStream, toolCall } from "../src/testing/mod.ts";
import { printReport, type Row } from "./report.ts";

const TURNS = 20;
const RUNS = 1_000;
const WARMUP = 200;

const discard: SpanProcessor = {
  onStart: () => {},
  onEnd: () => {},
  forceFlush: () => Promise.resolve(),
  shutdown: () => Promise.resolve(),
};

/** Lets the metrics be recorded, and exports nothing. */
class UnreadReader extends MetricReader {
  protected override onShutdown = () => Promise.resolve();
  protected override onForceFlush = () => Promise.resolve();
}

/** Returns the microseconds of a turn with one tool call. */
async function measureTurn(observer?: Telemetry): Promise<number> {
  const calls = Array.from({ length: TURNS }, () => reply([toolCall("look")]));
  const agent = new Agent({
    model: "any/model",
    maxTurns: Infinity,
    tools: [fakeTool({ name: "look" })],
    streamFn: scriptedStream([...calls, reply("Done")]),
  });
  observer?.observe(agent);
  const start = performance.now();
  await agent.prompt("Hello");
  return (performance.now() - start) * 1_000 / TURNS;
}

const idle = await telemetry();
const tracer = new BasicTracerProvider({ spanProcessors: [discard] }).getTracer("bench");
api.context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
const meter = new MeterProvider({ readers: [new UnreadReader()] }).getMeter("bench");
const active = await telemetry({ tracer, meter });
const content = await telemetry({ tracer, meter, content: true });
const variants = {
  "not observed": undefined,
  "no provider": idle,
  "SDK": active,
  "SDK, content": content,
};
const times = new Map<string, number[]>();
for (let run = 0; run < RUNS; run++) {
  // The first runs are not yet compiled.
  if (run === WARMUP) times.clear();
  for (const [name, observer] of Object.entries(variants)) {
    times.set(name, [...times.get(name) ?? [], await measureTurn(observer)]);
  }
}
const [baseline = 0] = [...times.values()].map((values) => Math.min(...values));
const targets: Record<string, string> = { "no provider": "+5 us", "SDK": "+60 us" };
printReport(
  "Telemetry, microseconds of a turn with one tool call",
  [...times].map(([name, values]): Row => {
    const value = Math.min(...values);
    const added = value - baseline;
    return [name, `${value.toFixed(1)} us`, `${added.toFixed(1)} us more`, targets[name] ?? ""];
  }),
);
