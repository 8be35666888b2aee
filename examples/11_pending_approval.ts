// Waits for the approval of a person across two processes, which share only a file.
//
// An approval that is pending ends the run. Its outcome is JSON: another process, days later, continues with the decision,
// and the model is not asked again.

import { Agent, type AgentOptions, type Approve } from "@swink/agent";
import { fakeTool, reply, scriptedStream, toolCall } from "@swink/agent/testing";

const file = `${await Deno.makeTempDir()}/conversation.json`;
const refund = fakeTool({ name: "refund", result: "Refunded." });

/** Small refunds need no person. */
const approve: Approve = ({ arguments: { euros } }) =>
  typeof euros === "number" && euros < 50 ? true : { type: "pending" };

const options = { model: "example/scripted", tools: [refund], approve } satisfies AgentOptions;

async function runFirstProcess(): Promise<void> {
  const streamFn = scriptedStream([
    reply([toolCall("refund", { euros: 20 }), toolCall("refund", { euros: 900 })]),
  ]);
  const agent = new Agent({ ...options, streamFn });
  const { pendingApprovals, decidedCalls } = await agent.prompt("Refund both orders");
  const { messages } = agent.state;
  await Deno.writeTextFile(file, JSON.stringify({ messages, pendingApprovals, decidedCalls }));
  console.log(`waiting for approval, ${refund.calls.length} refunds so far`);
}

async function runSecondProcess(): Promise<void> {
  const stored: Pick<AgentOptions, "messages" | "pendingApprovals" | "decidedCalls"> = JSON.parse(
    await Deno.readTextFile(file),
  );
  const streamFn = scriptedStream([reply("Both orders are refunded.")]);
  const agent = new Agent({ ...options, streamFn, ...stored });
  for (const { name, arguments: args } of agent.state.pendingApprovals) {
    console.log(`approve ${name} ${JSON.stringify(args)}? yes`);
  }
  const approvals = Object.fromEntries(
    agent.state.pendingApprovals.map(({ toolCallId }) => [toolCallId, true]),
  );
  const { text } = await agent.continue({ approvals });
  console.log(text);
}

await runFirstProcess();
await runSecondProcess();
console.log(refund.calls.map((call) => call.arguments["euros"]));

// Prints:
// waiting for approval, 0 refunds so far
// approve refund {"euros":900}? yes
// Both orders are refunded.
// [ 20, 900 ]
