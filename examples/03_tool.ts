// Gives the model a tool, whose arguments are typed and validated by their JSON Schema.

import { Agent, defineTool, extractText } from "@swink/agent";
import { reply, scriptedStream, toolCall } from "@swink/agent/testing";

const weather = defineTool({
  name: "weather",
  description: "Returns the weather in a city.",
  parameters: {
    type: "object",
    properties: {
      city: { type: "string" },
      unit: { enum: ["celsius", "fahrenheit"] },
    },
    required: ["city"],
  },
  readOnly: true,
  // `city` is a string, `unit` is "celsius" | "fahrenheit" | undefined.
  execute: ({ city, unit = "celsius" }) => `Sunny in ${city}, 21 degrees ${unit}.`,
});

const agent = new Agent({
  model: "example/scripted",
  tools: [weather],
  streamFn: scriptedStream([
    // Both calls run concurrently. Invalid arguments become an error result that the model can read.
    reply([toolCall("weather", { city: "Bern" }), toolCall("weather", { town: "Rome" })]),
    reply("It is sunny in Bern."),
  ]),
});

const { messages } = await agent.prompt("How is the weather in Bern and Rome?");
for (const message of messages) {
  if (message.role === "custom") continue;
  console.log(`${message.role}: ${extractText(message.content).split("\n")[0] || "(calls)"}`);
}

// Prints:
// user: How is the weather in Bern and Rome?
// assistant: (calls)
// tool_result: Sunny in Bern, 21 degrees celsius.
// tool_result: Invalid arguments for "weather":
// assistant: It is sunny in Bern.
