// Gives an agent another agent as a tool. Each call is a run of its own, with its own history.

import { Agent } from "@swink/agent";
import { reply, scriptedStream, toolCall } from "@swink/agent/testing";

const usage = { input: 90, output: 10, cacheRead: 0, cacheWrite: 0, total: 100 };

const translator = new Agent({
  model: "example/small",
  systemPrompt: "Translate into German. Reply with the translation only.",
  streamFn: scriptedStream([reply("Guten Morgen", { usage })]),
});

const agent = new Agent({
  model: "example/large",
  tools: [translator.asTool({
    name: "translate",
    description: "Translates a text into German. Pass the text alone.",
    readOnly: true,
  })],
  streamFn: scriptedStream([
    reply([toolCall("translate", { prompt: "Good morning" })], { usage }),
    reply('Write "Guten Morgen".', { usage }),
  ]),
});

agent.subscribe((event) => {
  // `path` has the ids of the tool calls that lead to the agent of the event.
  if (event.type === "sub_agent" && event.event.type === "message_end") {
    const { role } = event.event.message;
    if (role === "assistant") console.log(`${event.path.join(" > ")}: replied`);
  }
});

const result = await agent.prompt("How do I greet in German?");
console.log(result.text);
console.log(`${result.usage.total} tokens in 3 model calls`);

// Prints:
// call_1: replied
// Write "Guten Morgen".
// 300 tokens in 3 model calls
