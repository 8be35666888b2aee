// Show the answer while it comes.
//
// A run is a ReadableStream of events: `for await` reads it, and leaving the loop aborts the run.

import { Agent } from "@swink/agent";
import { reply, scriptedStream } from "@swink/agent/testing";

const agent = new Agent({
  model: "example/scripted",
  streamFn: scriptedStream([reply("One word after the other.")]),
});

let line = "";
for await (const event of agent.promptStream("Say something")) {
  switch (event.type) {
    case "message_update":
      if (event.delta.type === "text_delta") line += `[${event.delta.delta}]`;
      break;
    case "agent_end":
      console.log(line);
      console.log(`${event.stopReason}, ${event.messages.length} messages`);
  }
}

// Prints:
// [One ][word ][after ][the ][other.]
// stop, 2 messages
