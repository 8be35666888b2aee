// Hold a run to limits: ready-made policies, and one of your own.

import { Agent, type Policy } from "@swink/agent";
import { budget, denyTools, maxTurns } from "@swink/agent/policies";
import { fakeTool, reply, scriptedStream, toolCall } from "@swink/agent/testing";

/** No call may name another machine. */
const atHome: Policy = {
  name: "at_home",
  preDispatch({ arguments: args }) {
    if (!JSON.stringify(args).includes("://")) return;
    return { type: "skip", reason: "Addresses are not allowed here; use local files." };
  },
};

const open = fakeTool({ name: "open" });
const agent = new Agent({
  model: "example/scripted",
  tools: [open],
  policies: [atHome, denyTools(["remove"]), budget({ cost: 1, elapsedMs: 60_000 }), maxTurns(2)],
  streamFn: scriptedStream([
    reply([toolCall("open", { what: "https://example.org" }), toolCall("open", { what: "a.txt" })]),
    reply([toolCall("open", { what: "b.txt" })]),
  ]),
});

const { stoppedBy } = await agent.prompt("Open everything");
console.log(open.calls.map((call) => call.arguments["what"]));
console.log(stoppedBy);

// Prints:
// [ "a.txt", "b.txt" ]
// { policy: "max_turns", reason: "The run reached its limit of 2 turns" }
