// Prints a reply while it streams, and takes back what a failed attempt has streamed.
//
// promptStream() returns a ReadableStream of events. Leaving the `for await` loop aborts the run.

import { Agent, exponentialBackoff } from "@swink/agent";
import { fail, reply, scriptedStream } from "@swink/agent/testing";

const agent = new Agent({
  model: "example/scripted",
  retry: exponentialBackoff({ maxAttempts: 3, baseDelayMs: 0 }), // the default waits a second
  streamFn: scriptedStream([
    fail("network_error", "Connection reset", { after: "One word" }),
    reply("One word after another."),
  ]),
});

let line = "";
for await (const event of agent.promptStream("Write a sentence")) {
  switch (event.type) {
    case "message_update":
      if (event.delta.type === "text_delta") line += `[${event.delta.delta}]`;
      break;
    case "retry":
    case "model_fallback":
      console.log(`${line} failed`);
      if (event.discard) line = "";
      break;
    case "agent_end":
      console.log(line);
      console.log(`${event.stopReason}, ${event.messages.length} messages`);
  }
}

// Prints:
// [One ][word] failed
// [One ][word ][after ][another.]
// stop, 2 messages
