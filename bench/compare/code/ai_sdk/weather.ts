import { createOpenAICompatible } from "npm:@ai-sdk/openai-compatible@2.0.92";
import { isStepCount, tool, ToolLoopAgent } from "npm:ai@7.0.173";
import { z } from "npm:zod@4.6.7";

const lab = createOpenAICompatible({
  name: "lab",
  baseURL: Deno.env.get("LAB_URL") ?? "",
  apiKey: "key",
  includeUsage: true,
});
const city = z.string().describe("Name of the city");

const agent = new ToolLoopAgent({
  model: lab("large"),
  instructions: "Answer questions about the weather in one sentence.",
  stopWhen: isStepCount(5),
  tools: {
    current_weather: tool({
      description: "Returns the current weather in a city.",
      inputSchema: z.object({ city }),
      execute: ({ city }) => ({ city, celsius: 21 }),
    }),
    forecast: tool({
      description: "Returns the forecast for a city, one line per day.",
      inputSchema: z.object({ city, days: z.int().min(1).max(7).default(3) }),
      execute: ({ city, days }) =>
        Array.from({ length: days }, (_, day) => `${city}, day ${day + 1}: ${20 + day} °C`).join(
          "\n",
        ),
    }),
  },
});
const stream = await agent.stream({
  prompt: "How is the weather in Bern, now and on the next days?",
});
for await (const part of stream.stream) {
  if (part.type === "tool-call") console.log(part.toolName, part.input);
  if (part.type === "text-delta") console.log(part.text);
  if (part.type === "error") console.error(part.error);
}
console.log((await stream.totalUsage).totalTokens);
