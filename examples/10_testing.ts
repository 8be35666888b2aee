// Tests an agent with a scripted model and a fake tool, which record their requests and calls.

import { Agent } from "@swink/agent";
import { checkStream, fail, fakeTool, reply, scriptedStream, toolCall } from "@swink/agent/testing";

const streamFn = scriptedStream([
  fail("model_throttled", "Too many requests", { retryAfterMs: 0 }),
  reply([toolCall("lookup", { id: 7 })]),
  ({ context }) => reply(`The request has ${context.messages.length} messages.`),
]);
const lookup = fakeTool({ name: "lookup", result: "seven" });
const agent = new Agent({ model: "example/scripted", streamFn, tools: [lookup] });

const types: string[] = [];
// checkStream() throws if an event is out of order.
for await (const event of checkStream(agent.promptStream("Look up 7"))) types.push(event.type);

console.log(types.filter((type) => type === "retry" || type.startsWith("tool_")));
console.log(lookup.calls[0]?.arguments);
streamFn.assertDone(); // throws unless every step was used

// Prints:
// [ "retry", "tool_execution_start", "tool_execution_end" ]
// { id: 7 }
