// Sends a prompt and prints the reply.
//
// Run it with `deno run examples/01_prompt.ts`. The model is scripted, so it needs no network and no
// key. For a real model, pass connect() as the stream function:
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
const last = messages.at(-1);
if (last?.role === "assistant") console.log(extractText(last.content));
console.log({ stopReason, turns });

// Prints:
// A closure is a function with the variables around it.
// { stopReason: "stop", turns: 1 }
