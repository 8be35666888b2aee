// Sends messages to a run: steering interrupts it, a follow-up waits until it would end.

import { Agent } from "@swink/agent";
import { fakeTool, reply, scriptedStream, toolCall } from "@swink/agent/testing";

const agent = new Agent({
  model: "example/scripted",
  tools: [fakeTool({ name: "search", delayMs: 60_000 })],
  streamFn: scriptedStream([
    reply([toolCall("search", { query: "everything" })]),
    reply("Summary: it works."),
    reply("In German: Es funktioniert."),
  ]),
});

agent.subscribe((event) => {
  if (event.type === "tool_execution_start") {
    // The search takes a minute; steering cancels it.
    agent.steer("Stop searching, a summary is enough");
    agent.followUp("Translate it into German");
  }
  if (event.type === "tool_execution_end") console.log(`${event.name}: cancelled`);
  if (event.type === "turn_end") console.log(`turn ${event.turn}: ${event.reason}`);
});

const { turns } = await agent.prompt("Search everything");
console.log(`${turns} turns`);

// Prints:
// search: cancelled
// turn 1: steering_interrupt
// turn 2: complete
// turn 3: complete
// 3 turns
