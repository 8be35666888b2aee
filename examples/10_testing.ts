// Test an agent without a model: a script says what the model answers, and what it was asked is remembered.

import { Agent } from "@swink/agent";
import { checkStream, fail, fakeTool, reply, scriptedStream, toolCall } from "@swink/agent/testing";

const model = scriptedStream([
  fail("model_throttled", "Too many requests", { retryAfterMs: 0 }),
  reply([toolCall("lookup", { id: 7 })]),
  ({ context }) => reply(`I was told of ${context.messages.length} messages.`),
]);
const lookup = fakeTool({ name: "lookup", result: "seven" });
const agent = new Agent({ model: "example/scripted", streamFn: model, tools: [lookup] });

const types: string[] = [];
// checkStream() fails on any event that the grammar of events does not allow.
for await (const event of checkStream(agent.promptStream("Look up 7"))) types.push(event.type);

console.log(types.filter((type) => type === "retry" || type.startsWith("tool_")));
console.log(lookup.calls[0]?.arguments);
model.assertDone();

// Prints:
// [ "retry", "tool_execution_start", "tool_execution_end" ]
// { id: 7 }
