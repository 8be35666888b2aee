import { assertEquals, assertStringIncludes } from "@std/assert";
import { Agent } from "../agent/agent.ts";
import type { AgentOptions } from "../agent/options.ts";
import type { AgentEvent } from "../core/events/event.ts";
import type { Policy } from "../core/hooks/policy.ts";
import { modelSpec } from "../core/models/model.ts";
import type { ServerTool } from "../core/streams/server_tool.ts";
import { checkEvents } from "../testing/event_grammar.ts";
import { fakeTool } from "../testing/fake_tool.ts";
import { toolCall } from "../testing/messages.ts";
import { fail, reply, type ScriptedStep } from "../testing/script.ts";
import { type ScriptedStream, scriptedStream } from "../testing/scripted_stream.ts";
import type { SubAgentToolOptions } from "./sub_agent_options.ts";
import { subAgentTool } from "./sub_agent_tool.ts";

const start = (prompt = "Look") => toolCall("explore", { prompt });

/** An agent with a tool that starts sub-agents; the scripted model answers both. */
function createAgent(
  steps: readonly ScriptedStep[],
  own: Partial<SubAgentToolOptions> = {},
  options: Partial<AgentOptions> = {},
): { agent: Agent; streamFn: ScriptedStream } {
  const streamFn = scriptedStream(steps);
  const explore = subAgentTool({ name: "explore", description: "Looks around.", ...own });
  const tools = [...options.tools ?? [], explore];
  return { agent: new Agent({ model: "test/model", streamFn, ...options, tools }), streamFn };
}

function listWarnings(events: readonly AgentEvent[]): string[] {
  return events.flatMap((event) =>
    event.type === "sub_agent" && event.event.type === "warning" ? event.event.message : []
  );
}

Deno.test("subAgentTool(): the API key in the options of the run is sent only to the provider that it is for", async () => {
  const steps = () => [reply([start()]), reply("Seen"), reply("Done")];
  const listKeys = ({ calls }: ScriptedStream) =>
    calls.map(({ model, options }) => [model.provider, options.apiKey]);
  const run = { streamOptions: { apiKey: "key of test" } };
  const other = createAgent(steps(), { model: "other/small" }, run);
  await other.agent.prompt("Go");
  assertEquals(listKeys(other.streamFn)[1], ["other", undefined]);
  const same = createAgent(steps(), { model: "test/small" }, run);
  await same.agent.prompt("Go");
  assertEquals(listKeys(same.streamFn)[1], ["test", "key of test"]);
  const own = { model: "other/small", streamOptions: { apiKey: "own key" } };
  const keyed = createAgent(steps(), own, run);
  await keyed.agent.prompt("Go");
  assertEquals(listKeys(keyed.streamFn)[1], ["other", "own key"]);
  const policy: Policy = { name: "switch", preTurn: () => void changed.agent.setModel("other/x") };
  const changed = createAgent(steps(), {}, { ...run, policies: [policy] });
  await changed.agent.prompt("Go");
  assertEquals(listKeys(changed.streamFn)[1], ["other", undefined]);
});

/** Returns the tools of the provider in the requests of a sub-agent and of one below it. */
async function listServerTools(
  options: Partial<SubAgentToolOptions>,
  own: readonly ServerTool[] = [],
): Promise<unknown[]> {
  const streamFn = scriptedStream([
    reply([toolCall("delegate", { prompt: "a" })]),
    reply([toolCall("below", { prompt: "b" })]),
    reply("below"),
    reply("done"),
    reply("end"),
  ]);
  const limits = { description: "", maxDepth: 3 };
  const below = subAgentTool({ name: "below", ...limits, streamOptions: { serverTools: WANTED } });
  const delegate = subAgentTool({ name: "delegate", ...limits, ...options });
  const agent = new Agent({
    model: "test/model",
    tools: [delegate, { ...below, readOnly: true }],
    streamOptions: { serverTools: own },
    streamFn,
  });
  await agent.prompt("Go");
  return streamFn.calls.slice(1, -1).map((call) => call.options.serverTools ?? []);
}

const WANTED: readonly ServerTool[] = [{ type: "code_execution" }, { type: "web_search" }];

Deno.test("subAgentTool(): no agent below a run has a tool of the provider that the run does not have", async () => {
  const streamOptions = { serverTools: WANTED };
  assertEquals(await listServerTools({ streamOptions }), [[], [], []]);
  const search: ServerTool = { type: "web_search" };
  assertEquals(await listServerTools({ streamOptions }, [search]), [[search], [search], [search]]);
  const limited: ServerTool = { type: "web_search", allowedDomains: ["deno.com"] };
  assertEquals(await listServerTools({ streamOptions }, [limited]), [[], [], []]);
  assertEquals(await listServerTools({}, [limited]), [[limited], [], [limited]]);
  const adds: Policy = {
    name: "adds",
    preRequest: () => ({ type: "change", options: { serverTools: WANTED } }),
  };
  assertEquals(await listServerTools({ policies: [adds] }), [[], [], []]);
});

const MEMORY = { type: "memory_20250818", name: "memory" };
const CODE = { type: "code_execution_20250825", name: "code_execution" };

/** Returns the additional fields in the requests of a sub-agent, and its warnings. */
async function runWithExtra(
  own: Partial<SubAgentToolOptions>,
  options: Partial<AgentOptions> = {},
): Promise<{ readonly sent: unknown; readonly warnings: readonly string[] }> {
  const steps = [reply([start()]), reply("Seen"), reply("Done")];
  const { agent, streamFn } = createAgent(steps, own, options);
  const events = await checkEvents(agent.promptStream("Go"));
  return { sent: streamFn.calls[1]?.options.extra, warnings: listWarnings(events) };
}

Deno.test("subAgentTool(): extra fields give an agent no tools that the run does not have", async () => {
  const extra = { top_k: 5, tools: [MEMORY, CODE], mcp_servers: [{ url: "https://a.example" }] };
  const none = await runWithExtra({ streamOptions: { extra } });
  assertEquals(none.sent, { top_k: 5 });
  assertEquals(none.warnings.length, 2);
  assertStringIncludes(none.warnings[0] ?? "", 'The extra field "tools" is not sent');
  const run = { streamOptions: { extra: { tools: [MEMORY] } } };
  assertEquals((await runWithExtra({ streamOptions: { extra } }, run)).sent, {
    top_k: 5,
    tools: [MEMORY],
  });
  assertEquals((await runWithExtra({}, run)).sent, { tools: [MEMORY] });
  assertEquals((await runWithExtra({ model: "other/model" }, run)).sent, undefined);
  assertEquals((await runWithExtra({ readOnly: true }, run)).sent, {});
  const adds: Policy = { name: "adds", preRequest: () => ({ type: "change", options: { extra } }) };
  assertEquals((await runWithExtra({ policies: [adds] })).sent, { top_k: 5 });
});

Deno.test("subAgentTool(): an extra field that is left out of all requests is reported once", async () => {
  const look = fakeTool({ name: "look", readOnly: true });
  const { agent } = createAgent(
    [reply([start()]), reply([toolCall("look", {})]), reply("Seen"), reply("Done")],
    { streamOptions: { extra: { plugins: [] } } },
    { tools: [look] },
  );
  assertEquals(listWarnings(await checkEvents(agent.promptStream("Go"))).length, 1);
});

Deno.test("subAgentTool(): one that changes nothing has only the tools of the provider that read", async () => {
  const [, search] = WANTED;
  assertEquals(await listServerTools({ readOnly: true }, WANTED), [[search], [search], [search]]);
});

Deno.test("subAgentTool(): the fallback models of the run replace its model, and not one of the sub-agent's own", async () => {
  const fallback = [{ model: modelSpec("test/second") }];
  const down = [reply([start()]), fail("network_error", "down"), reply("Seen"), reply("Done")];
  const listModels = async (model: string | undefined) => {
    const { agent, streamFn } = createAgent(down, { model }, { fallback, retry: () => null });
    await agent.prompt("Go");
    return streamFn.calls.map((call) => call.model.modelId);
  };
  assertEquals(await listModels(undefined), ["model", "model", "second", "model"]);
  assertEquals(await listModels("test/own"), ["model", "own", "model"]);
});
