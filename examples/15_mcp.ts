// Uses the tools of a server of the Model Context Protocol. Here the server is a function in place of `fetch`.

import { Agent } from "@swink/agent";
import { connectMcp } from "@swink/agent/mcp";
import { reply, scriptedStream, toolCall } from "@swink/agent/testing";

const results: Record<string, object> = {
  "initialize": {
    protocolVersion: "2025-11-25",
    capabilities: { tools: {} },
    serverInfo: { name: "weather", version: "1.0.0" },
  },
  "tools/list": {
    tools: [{
      name: "forecast",
      description: "Returns the weather forecast of a city.",
      inputSchema: { type: "object", properties: { city: { type: "string" } } },
    }],
  },
  "tools/call": { content: [{ type: "text", text: "Sunny" }] },
};

const server: typeof fetch = async (input, init) => {
  const request = new Request(input, init);
  if (request.method !== "POST") return new Response(null, { status: 405 });
  const { id, method } = await request.json();
  if (id === undefined) return new Response(null, { status: 202 });
  const result = results[method];
  const error = { code: -32601, message: "Method not found" };
  return Response.json({ jsonrpc: "2.0", id, ...(result ? { result } : { error }) });
};

// `readMcpConfig(".mcp.json")` reads the same from a file.
const config = { mcpServers: { weather: { url: "https://weather.example/mcp" } } };
await using mcp = await connectMcp(config, { fetch: server });

const agent = new Agent({
  model: "example/large",
  approvalMode: "smart",
  approve({ name }) {
    console.log(`approved: ${name}`);
    return true;
  },
  policies: [mcp.policy],
  streamFn: scriptedStream([
    reply([toolCall("mcp__weather__forecast", { city: "Bern" })]),
    reply("It is sunny in Bern."),
  ]),
});
mcp.attach(agent); // also when the tools of the server change

console.log((await agent.prompt("How is the weather in Bern?")).text);

// Prints:
// approved: mcp__weather__forecast
// It is sunny in Bern.
