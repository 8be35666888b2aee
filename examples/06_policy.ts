// Limits a run with shipped policies and a custom one.

import { Agent, type Policy } from "@swink/agent";
import { budget, denyTools, maxTurns } from "@swink/agent/policies";
import { fakeTool, reply, scriptedStream, toolCall } from "@swink/agent/testing";

/** Skips calls whose arguments contain a URL. */
const noUrls: Policy = {
  name: "no_urls",
  preDispatch({ arguments: args }) {
    if (!JSON.stringify(args).includes("://")) return;
    return { type: "skip", reason: "URLs are not allowed; use local files." };
  },
};

const open = fakeTool({ name: "open" });
const agent = new Agent({
  model: "example/scripted",
  tools: [open],
  policies: [noUrls, denyTools(["remove"]), budget({ cost: 1, elapsedMs: 60_000 }), maxTurns(2)],
  streamFn: scriptedStream([
    reply([toolCall("open", { path: "https://example.org" }), toolCall("open", { path: "a.txt" })]),
    reply([toolCall("open", { path: "b.txt" })]),
  ]),
});

const { stoppedBy } = await agent.prompt("Open everything");
console.log(open.calls.map((call) => call.arguments["path"]));
console.log(stoppedBy);

// Prints:
// [ "a.txt", "b.txt" ]
// { policy: "max_turns", reason: "The run reached its limit of 2 turns" }
