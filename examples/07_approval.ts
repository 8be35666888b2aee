// Decides on each tool call before it runs: approve, deny with a reason, or change the arguments.

import { Agent, type Approve, extractText } from "@swink/agent";
import { fakeTool, reply, scriptedStream, toolCall } from "@swink/agent/testing";

const approve: Approve = ({ name, arguments: args }) => {
  if (name === "remove") return { type: "denied", reason: "removing files is not allowed" };
  return { type: "approved", arguments: { ...args, dryRun: true } };
};

const deploy = fakeTool({ name: "deploy" });
const agent = new Agent({
  model: "example/scripted",
  tools: [deploy, fakeTool({ name: "remove" })],
  approve,
  streamFn: scriptedStream([
    reply([toolCall("deploy", { target: "staging" }), toolCall("remove", { path: "builds/old" })]),
    reply("Deployed; the old builds are kept."),
  ]),
});

const { messages } = await agent.prompt("Deploy, and clean up");
console.log(deploy.calls[0]?.arguments);
for (const message of messages) {
  if (message.role === "tool_result" && message.isError) console.log(extractText(message.content));
}

// Prints:
// { target: "staging", dryRun: true }
// Tool call rejected by approval: removing files is not allowed
