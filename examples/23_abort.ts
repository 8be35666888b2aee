// Aborts a run while a tool ignores its signal. The history stays valid, and the conversation continues.

import { Agent } from "@swink/agent";
import { fakeTool, reply, scriptedStream, toolCall } from "@swink/agent/testing";

const agent = new Agent({
  model: "example/scripted",
  tools: [fakeTool({ name: "deploy", delayMs: 5_000, ignoresSignal: true })],
  streamFn: scriptedStream([
    reply([toolCall("deploy", { to: "production" })]),
    reply("I stopped the deployment."),
  ]),
});

agent.subscribe((event) => {
  if (event.type === "tool_execution_start") agent.abort("The user pressed Escape");
});

const start = performance.now();
const { stopReason, abortReason } = await agent.prompt("Deploy");
console.log(stopReason, abortReason, performance.now() - start < 1_000);

// Each call has a result, so that no provider rejects the history.
const result = agent.state.messages.at(-1);
console.log(result?.role, result?.role === "tool_result" && result.isError);
console.log((await agent.prompt("Did you stop?")).text);

// Prints:
// aborted The user pressed Escape true
// tool_result true
// I stopped the deployment.
