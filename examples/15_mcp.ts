// Uses the tools of a server of the Model Context Protocol. Here the server is a function in place of
// `fetch`, in servers/forecast_server.ts.

import { Agent } from "@swink/agent";
import { connectMcp } from "@swink/agent/mcp";
import { reply, scriptedStream, toolCall } from "@swink/agent/testing";
import { fetchForecast } from "./servers/forecast_server.ts";

// `readMcpConfig(".mcp.json")` reads the same from a file.
const config = { mcpServers: { weather: { url: "https://weather.example/mcp" } } };
await using mcp = await connectMcp(config, { fetch: fetchForecast });

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
