// Lets a sub-agent work on after the end of the run that started it; its report arrives with the next prompt.

import { Agent } from "@swink/agent";
import { InMemorySessionStore, listSubAgents, openSession } from "@swink/agent/memory";
import { subAgentTool } from "@swink/agent/sub-agents";
import { reply, scriptedStream, toolCall } from "@swink/agent/testing";

const research = subAgentTool({
  name: "research",
  description: "Researches a question. The prompt is the question.",
  detached: true,
  streamFn: scriptedStream([reply("Version 2 needs Deno 2.")]),
});

const agent = new Agent({
  model: "example/model",
  tools: [research],
  streamFn: scriptedStream([
    reply([toolCall("research", { prompt: "What does version 2 need?", detached: true })]),
    reply("I continue when the answer arrives."),
    reply("It needs Deno 2."),
  ]),
});

const store = new InMemorySessionStore(); // A program uses one that keeps its sessions.
await using session = await openSession(store, { id: "ada" }, agent);
console.log((await agent.prompt("What does version 2 need?")).text);

await Promise.all(session.detachedAgents.map(({ ended }) => ended));
console.log((await agent.prompt("And?")).text);

const [child] = await listSubAgents(store, session.id);
console.log(`${child?.messages} messages in the session of the sub-agent`);

// Prints:
// I continue when the answer arrives.
// It needs Deno 2.
// 2 messages in the session of the sub-agent
