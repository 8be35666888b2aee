// Sends a prompt and prints the reply.
//
// Run it with `deno run examples/01_prompt.ts`. The model is scripted, so it needs no network and no
// key. For a real model, set its key in the environment and leave out `streamFn`:
//
//   const agent = new Agent({ model: "anthropic/claude-sonnet-5-5" }); // ANTHROPIC_API_KEY

import { Agent } from "@swink/agent";
import { reply, scriptedStream } from "@swink/agent/testing";

const agent = new Agent({
  model: "example/scripted",
  systemPrompt: "Answer in one sentence.",
  streamFn: scriptedStream([reply("A closure is a function with the variables around it.")]),
});

const { text, error, stopReason, turns } = await agent.prompt("What is a closure?");
console.log(error ? `Failed: ${error.message}` : text);
console.log({ stopReason, turns });

// Prints:
// A closure is a function with the variables around it.
// { stopReason: "stop", turns: 1 }
