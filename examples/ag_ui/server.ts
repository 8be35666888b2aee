// A chat page whose agent asks before it sends a mail. With a scripted model, without a key:
//
//     deno run --allow-net --allow-read examples/ag_ui/server.ts
//
// With a model: add --allow-env, and the name of the model as argument, such as anthropic/claude-sonnet-5-5.

import { Agent, type AgentOptions, defineTool } from "@swink/agent";
import { agUiHandler } from "@swink/agent/ag-ui";
import { reply, scriptedStream, thinking, toolCall } from "@swink/agent/testing";

const weather = defineTool({
  name: "weather",
  description: "Returns the weather of a city",
  parameters: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
  readOnly: true,
  execute: ({ city }) => `Sunny in ${city}, 21 °C`,
});

const usage = { input: 120, output: 30, cacheRead: 0, cacheWrite: 0, total: 150 };

const sendMail = defineTool({
  name: "send_mail",
  description: "Sends a mail",
  parameters: {
    type: "object",
    properties: { to: { type: "string" }, text: { type: "string" } },
    required: ["to", "text"],
  },
  execute: ({ to }) => `Sent to ${to}`,
});

/** The replies of the scripted model. */
const REPLIES = [
  reply([
    thinking("The user wants a mail about the weather, so I look it up first."),
    { type: "text", text: "I look up the weather in Bern." },
    toolCall("weather", { city: "Bern" }, { id: "call_1" }),
  ], { usage }),
  reply([
    { type: "text", text: "It is sunny. I write to Ada." },
    toolCall("send_mail", { to: "ada@example.org", text: "Sunny, 21 °C" }, { id: "call_2" }),
  ], { usage }),
  reply("The mail is on its way.", { usage }),
];

/** Creates the handler of the page and its agents: one for each conversation, which keeps its history. */
export function createHandler(
  options: Partial<AgentOptions> = {},
): (request: Request) => Promise<Response> {
  const agents = new Map<string, Agent>();
  const getAgent = (threadId: string): Agent => {
    const known = agents.get(threadId);
    if (known) return known;
    const agent = new Agent({
      model: "example/scripted",
      streamFn: scriptedStream(REPLIES),
      tools: [weather, sendMail],
      // The run ends, and the page continues it with the answer of the user.
      approvalMode: "smart",
      approve: () => ({ type: "pending" }),
      ...options,
    });
    agents.set(threadId, agent);
    return agent;
  };
  const runAgent = agUiHandler({
    createAgent: ({ threadId }, request) =>
      isOwnPage(request) ? getAgent(threadId) : new Response("Forbidden", { status: 403 }),
  });
  return async (request) => {
    switch (new URL(request.url).pathname) {
      case "/agent":
        return await runAgent(request);
      case "/":
        return await readFile("page.html", "text/html");
      case "/page.js":
        return await readFile("page.js", "text/javascript");
      default:
        return new Response("Not found", { status: 404 });
    }
  };
}

/** Other sites must not use the agent of a user who has the page open. */
function isOwnPage({ url, headers }: Request): boolean {
  return headers.get("origin") === new URL(url).origin;
}

async function readFile(name: string, type: string): Promise<Response> {
  const text = await Deno.readTextFile(new URL(name, import.meta.url));
  return new Response(text, { headers: { "content-type": `${type}; charset=utf-8` } });
}

if (import.meta.main) {
  const [model] = Deno.args;
  Deno.serve(
    { hostname: "127.0.0.1", port: 8000 },
    createHandler(model === undefined ? {} : { model, streamFn: undefined }),
  );
}
