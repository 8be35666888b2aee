import { createOpenAICompatible } from "npm:@ai-sdk/openai-compatible@2.0.92";
import { isStepCount, tool, ToolLoopAgent } from "npm:ai@7.0.173";
import { z } from "npm:zod@4.6.7";

const lab = createOpenAICompatible({
  name: "lab",
  baseURL: Deno.env.get("LAB_URL") ?? "",
  apiKey: "key",
});
const MAX_TOKENS = 50_000;
let spent = 0;
const isSpent = () => spent >= MAX_TOKENS;

const researcher = new ToolLoopAgent({
  model: lab("small"),
  instructions: "Answer the question from the handbook.",
  stopWhen: [isStepCount(100), isSpent],
  tools: {
    search: tool({
      description: "Searches the handbook.",
      inputSchema: z.object({ query: z.string() }),
      execute: ({ query }) => `Chapter 3 is about ${query}.`,
    }),
  },
  onStepEnd({ usage, toolCalls }) {
    spent += usage.totalTokens ?? 0;
    for (const { toolName, input } of toolCalls) console.log(toolName, input);
  },
});
const planner = new ToolLoopAgent({
  model: lab("large"),
  instructions: "Split the task into questions, research them in parallel, and write a summary.",
  stopWhen: [isStepCount(100), isSpent],
  tools: {
    research: tool({
      description: "Answers one question.",
      inputSchema: z.object({ prompt: z.string() }),
      async execute({ prompt }, { abortSignal }) {
        const { text } = await researcher.generate({ prompt, abortSignal });
        return text;
      },
    }),
  },
  onStepEnd({ usage }) {
    spent += usage.totalTokens ?? 0;
  },
});
const { text, steps } = await planner.generate({ prompt: "Compare lamps and chairs." });
console.log(text, steps.length, spent);
