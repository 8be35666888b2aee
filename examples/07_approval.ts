// Ask a person before a tool acts. The answer can be yes, no with a reason, or other arguments.

import { Agent, type Approve, extractText } from "@swink/agent";
import { fakeTool, reply, scriptedStream, toolCall } from "@swink/agent/testing";

const approve: Approve = ({ name, arguments: args }) => {
  if (name === "remove") return { type: "denied", reason: "nothing is removed on Fridays" };
  return { type: "approved", arguments: { ...args, dryRun: true } };
};

const deploy = fakeTool({ name: "deploy" });
const agent = new Agent({
  model: "example/scripted",
  tools: [deploy, fakeTool({ name: "remove" })],
  approve,
  streamFn: scriptedStream([
    reply([toolCall("deploy", { to: "staging" }), toolCall("remove", { what: "old builds" })]),
    reply("Deployed; the old builds stay."),
  ]),
});

const { messages } = await agent.prompt("Deploy, and clean up");
console.log(deploy.calls[0]?.arguments);
for (const message of messages) {
  if (message.role === "tool_result" && message.isError) console.log(extractText(message.content));
}

// Prints:
// { to: "staging", dryRun: true }
// Tool call rejected by approval: nothing is removed on Fridays
