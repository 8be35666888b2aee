// Ask once, and read the answer.
//
// Run it: deno run examples/01_prompt.ts
// The model is scripted, so that it runs anywhere. With a real one, the stream function is connect():
//
//   import { connect, prices } from "@swink/agent/adapters";
//   const agent = new Agent({ model: "anthropic/claude-sonnet-5-5", streamFn: connect(), prices });

import { Agent, extractText } from "@swink/agent";
import { reply, scriptedStream } from "@swink/agent/testing";

const agent = new Agent({
  model: "example/scripted",
  systemPrompt: "Answer in one sentence.",
  streamFn: scriptedStream([reply("A closure is a function with the variables around it.")]),
});

const { messages, stopReason, turns } = await agent.prompt("What is a closure?");
const answer = messages.at(-1);
if (answer?.role === "assistant") console.log(extractText(answer.content));
console.log({ stopReason, turns });

// Prints:
// A closure is a function with the variables around it.
// { stopReason: "stop", turns: 1 }
