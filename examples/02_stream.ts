// Prints a reply while it streams.
//
// promptStream() returns a ReadableStream of events. Leaving the `for await` loop aborts the run.

import { Agent } from "@swink/agent";
import { reply, scriptedStream } from "@swink/agent/testing";

const agent = new Agent({
  model: "example/scripted",
  streamFn: scriptedStream([reply("One word after another.")]),
});

let line = "";
for await (const event of agent.promptStream("Write a sentence")) {
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
// [One ][word ][after ][another.]
// stop, 2 messages
