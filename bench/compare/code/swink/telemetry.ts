import { context, trace } from "@opentelemetry/api";
import { AsyncLocalStorageContextManager } from "@opentelemetry/context-async-hooks";
import {
  BasicTracerProvider,
  ConsoleSpanExporter,
  SimpleSpanProcessor,
} from "@opentelemetry/sdk-trace-base";
import { Agent, defineTool } from "@swink/agent";
import { connect } from "@swink/agent/adapters";
import { telemetry } from "@swink/agent/telemetry";
import { z } from "npm:zod@4.6.7";

context.setGlobalContextManager(new AsyncLocalStorageContextManager());
trace.setGlobalTracerProvider(
  new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(new ConsoleSpanExporter())] }),
);

const lookup = defineTool({
  name: "lookup",
  description: "Looks a word up.",
  parameters: z.object({ word: z.string() }),
  execute: ({ word }) => `${word} is a word.`,
});
const agent = new Agent({
  model: "lab/large",
  streamFn: connect({ providers: { lab: { baseUrl: Deno.env.get("LAB_URL"), apiKey: "key" } } }),
  tools: [lookup],
  prices: { "lab/large": { input: 3, output: 15 } },
});
const { observe } = await telemetry({ agentName: "dictionary" });
observe(agent);
agent.subscribe((event) => {
  if (event.type !== "model_call_end") return;
  const { turn, attempt, ttftMs, durationMs, usage, cost, responseId, error } = event;
  console.log(turn, attempt, ttftMs, durationMs, usage.total, cost.total, responseId, error?.code);
});
const { text, runId, cost } = await agent.prompt("What is a lamp?");
console.log(text, runId, cost.total);
