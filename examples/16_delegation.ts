// Lets the model delegate a question to a sub-agent, which has the same tools, works alone, and reports.

import { Agent, defineTool } from "@swink/agent";
import { subAgentTool } from "@swink/agent/sub-agents";
import { reply, scriptedStream, toolCall } from "@swink/agent/testing";

const search = defineTool({
  name: "search",
  description: "Searches the files for a text.",
  parameters: { type: "object", properties: { text: { type: "string" } }, required: ["text"] },
  readOnly: true,
  execute: ({ text }) => `src/main.ts:12: ${text}`,
});

const explore = subAgentTool({
  name: "explore",
  description: "Answers a question about the files. The prompt is the question.",
  readOnly: true,
  background: true,
  streamFn: scriptedStream([
    reply([toolCall("search", { text: "main()" })]),
    reply("main() is in src/main.ts, line 12."),
  ]),
});

const agent = new Agent({
  model: "example/model",
  tools: [search, explore],
  streamFn: scriptedStream([
    reply([toolCall("explore", { prompt: "Where is main()?", background: true })]),
    reply("I look at the settings meanwhile."),
    reply("The program starts in src/main.ts."),
  ]),
});

agent.subscribe((event) => {
  if (event.type === "sub_agent" && event.event.type === "tool_execution_start") {
    console.log(`${event.path.join(" > ")}: ${event.event.name}`);
  }
});

const { text, messages } = await agent.prompt("Where does the program start?");
console.log(text);
console.log(`${messages.length} messages, of which one is the report`);

// Prints:
// call_1: search
// The program starts in src/main.ts.
// 6 messages, of which one is the report
