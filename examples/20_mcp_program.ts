// Starts a server of the Model Context Protocol as a program in the sandbox, calls its tool and reads a resource. The server is
// the file servers/notes_server.ts.

import { Agent } from "@swink/agent";
import { connectMcp, expandUriTemplate } from "@swink/agent/mcp";
import { reply, scriptedStream, toolCall } from "@swink/agent/testing";
import { approvalGate, createSandbox } from "@swink/agent/tools";

const directory = await Deno.realPath(new URL("servers", import.meta.url));
await using sandbox = createSandbox({ cwd: directory });
const config = {
  mcpServers: {
    notes: {
      command: Deno.execPath(),
      args: ["run", "--quiet", "--no-config", "--cached-only", "notes_server.ts"],
    },
  },
};
await using mcp = await connectMcp(config, { sandbox, waitMs: 60_000 });

const agent = new Agent({
  model: "example/large",
  approvalMode: "smart",
  approve: approvalGate({
    sandbox,
    ask({ name }) {
      console.log(`approved: ${name}`);
      return true;
    },
  }),
  policies: [mcp.policy],
  streamFn: scriptedStream([
    reply([toolCall("mcp__notes__add_note", { text: "Buy milk" })]),
    reply("The note is saved."),
  ]),
});
mcp.attach(agent);
console.log((await agent.prompt("Note: buy milk")).text);

const [template] = await mcp.listResourceTemplates();
if (!template) throw new Error("The server has no resource templates");
const uri = expandUriTemplate(template.uriTemplate, { number: "1" });
for (const block of await mcp.readResource({ server: template.server, uri })) {
  if (block.type === "text") console.log(block.text);
}

// Prints:
// approved: mcp__notes__add_note
// The note is saved.
// [Resource notes://1]
// Buy milk
