import { Agent } from "@swink/agent";
import { connect } from "@swink/agent/adapters";
import { FileSessionStore } from "@swink/agent/memory";
import { createAgentServer } from "@swink/agent/server";
import { approvalGate, codingTools, createSandbox } from "@swink/agent/tools";

const streamFn = connect({
  providers: { lab: { baseUrl: Deno.env.get("LAB_URL"), apiKey: "key" } },
});
const sandbox = createSandbox({ cwd: Deno.env.get("WORK_DIR") });

export const server = createAgentServer({
  store: new FileSessionStore({ directory: Deno.env.get("CHAT_DIR") ?? "sessions" }),
  createAgent: () =>
    new Agent({
      model: "lab/large",
      systemPrompt: "You change the project in the current directory.",
      streamFn,
      tools: codingTools({ sandbox }),
      approve: approvalGate({ sandbox, ask: () => ({ type: "pending" }) }),
    }),
});
export const handle = server.fetch;
