import { Agent, defineTool } from "@swink/agent";
import { connect } from "@swink/agent/adapters";
import { z } from "npm:zod@4.6.7";

const city = z.string().describe("Name of the city");

const current = defineTool({
  name: "current_weather",
  description: "Returns the current weather in a city.",
  parameters: z.object({ city }),
  execute: ({ city }) => ({ city, celsius: 21 }),
});
const forecast = defineTool({
  name: "forecast",
  description: "Returns the forecast for a city, one line per day.",
  parameters: z.object({ city, days: z.int().min(1).max(7).default(3) }),
  execute: ({ city, days }) =>
    Array.from({ length: days }, (_, day) => `${city}, day ${day + 1}: ${20 + day} °C`).join("\n"),
});

const agent = new Agent({
  model: "lab/large",
  streamFn: connect({ providers: { lab: { baseUrl: Deno.env.get("LAB_URL"), apiKey: "key" } } }),
  systemPrompt: "Answer questions about the weather in one sentence.",
  tools: [current, forecast],
  maxTurns: 5,
});
const stream = agent.promptStream("How is the weather in Bern, now and on the next days?");
for await (const event of stream) {
  if (event.type === "tool_execution_start") console.log(event.name, event.arguments);
  if (event.type === "message_update" && event.delta.type === "text_delta") {
    console.log(event.delta.delta);
  }
}
const { error, usage } = await stream.result();
console.log(error?.message ?? usage.total);
