import { createOpenAICompatible } from "npm:@ai-sdk/openai-compatible@2.0.92";
import { OpenTelemetry } from "npm:@ai-sdk/otel@1.0.173";
import { context, trace } from "npm:@opentelemetry/api@1.9.0";
import { AsyncLocalStorageContextManager } from "npm:@opentelemetry/context-async-hooks@2.12.1";
import {
  BasicTracerProvider,
  ConsoleSpanExporter,
  SimpleSpanProcessor,
} from "npm:@opentelemetry/sdk-trace-base@2.12.1";
import { isStepCount, registerTelemetry, tool, ToolLoopAgent } from "npm:ai@7.0.173";
import { z } from "npm:zod@4.6.7";

context.setGlobalContextManager(new AsyncLocalStorageContextManager());
trace.setGlobalTracerProvider(
  new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(new ConsoleSpanExporter())] }),
);
registerTelemetry(new OpenTelemetry());

const lab = createOpenAICompatible({
  name: "lab",
  baseURL: Deno.env.get("LAB_URL") ?? "",
  apiKey: "key",
});
const PRICES = { input: 3, output: 15 };
let total = 0;

const agent = new ToolLoopAgent({
  model: lab("large"),
  stopWhen: isStepCount(100),
  telemetry: { functionId: "dictionary", recordInputs: false, recordOutputs: false },
  tools: {
    lookup: tool({
      description: "Looks a word up.",
      inputSchema: z.object({ word: z.string() }),
      execute: ({ word }) => `${word} is a word.`,
    }),
  },
  onStepEnd({ stepNumber, usage, response, performance }) {
    const { inputTokens = 0, outputTokens = 0 } = usage;
    const cost = (inputTokens * PRICES.input + outputTokens * PRICES.output) / 1_000_000;
    total += cost;
    console.log(stepNumber, performance, usage.totalTokens, cost, response.id);
  },
});
const { text } = await agent.generate({ prompt: "What is a lamp?" });
console.log(text, total);
