import { assert, assertEquals, assertStringIncludes, assertThrows } from "@std/assert";
import { createTemporaryDirectory } from "../../../tests/cli/temporary_directory.ts";
import { TestWorkspace } from "../../../tests/sandbox/test_workspace.ts";
import { Agent } from "../../agent/agent.ts";
import type { AgentOptions } from "../../agent/options.ts";
import type { CustomEvent } from "../../core/events/event.ts";
import { extractText } from "../../core/messages/content.ts";
import { codeExecution, webSearch } from "../../core/streams/server_tool.ts";
import type { AgentTool } from "../../core/tools/tool.ts";
import { subAgentTool } from "../../sub_agents/sub_agent_tool.ts";
import { fakeTool } from "../../testing/fake_tool.ts";
import { toolCall } from "../../testing/messages.ts";
import { reply, type ScriptedStep } from "../../testing/script.ts";
import { scriptedStream } from "../../testing/scripted_stream.ts";
import { createPlanMode, type PlanModeOptions } from "./create_plan_mode.ts";
import { planFile } from "./plan_file.ts";

const PLAN = {
  title: "Faster start",
  context: "It is slow.",
  steps: [{ title: "Measure", description: "", files: ["a.ts"], criteria: ["A time."] }],
};

/** An agent with a tool that reads, one that writes, and plan mode. */
function createPlanner(
  steps: readonly ScriptedStep[],
  { mode: modeOptions = {}, ...options }: Partial<AgentOptions> & { mode?: PlanModeOptions } = {},
) {
  const read = fakeTool({ name: "read", readOnly: true });
  const write = fakeTool({ name: "write" });
  const mode = createPlanMode(modeOptions);
  const streamFn = scriptedStream(steps);
  const tools = options.tools ?? [read, write];
  const agent = new Agent({
    model: "test/model",
    streamFn,
    ...options,
    tools,
    policies: [mode, ...options.policies ?? []],
  });
  const events: CustomEvent[] = [];
  agent.subscribe((event) => void (event.type === "custom" && events.push(event)));
  const listTools = () =>
    streamFn.calls.map(({ context: { tools } }) => tools.map(({ name }) => name).join(" "));
  return { agent, mode, read, write, streamFn, events, listTools };
}

function readResults(agent: Agent): string[] {
  return agent.state.messages.flatMap((message) =>
    message.role === "tool_result" ? extractText(message.content) : []
  );
}

Deno.test("createPlanMode(): only tools that change nothing exist while it is on [AC-26]", async () => {
  const { agent, mode, read, write, listTools } = createPlanner([
    reply([toolCall("write", {}), toolCall("read", {})]),
    reply("planned"),
  ]);
  mode.turnOn(agent);
  await agent.prompt("Plan");
  assertEquals([read.calls.length, write.calls.length], [1, 0]);
  assertEquals(readResults(agent)[0], 'Tool "write" not found. Available tools: read.');
  assertEquals(listTools(), ["read", "read"]);
});

Deno.test("createPlanMode(): all tools exist again when it is turned off [AC-27]", async () => {
  const { agent, mode, write, listTools, events } = createPlanner([
    reply("planned"),
    reply([toolCall("write", {})]),
    reply("written"),
  ]);
  mode.turnOn(agent);
  await agent.prompt("Plan");
  mode.turnOff(agent);
  await agent.prompt("Do it");
  assertEquals([listTools(), write.calls.length], [["read", "read write", "read write"], 1]);
  assertEquals(events.map(({ name, data }) => [name, data]), [
    ["plan_mode", { active: true }],
    ["plan_mode", { active: false }],
  ]);
});

Deno.test("createPlanMode(): a tool that is registered or added to a run while it is on does not exist either", async () => {
  const { agent, mode, listTools } = createPlanner([reply("a"), reply("b"), reply("c")]);
  const [late, added] = [fakeTool({ name: "late" }), fakeTool({ name: "added" })];
  mode.turnOn(agent);
  agent.setTools([...agent.state.tools, late]);
  await agent.prompt("Plan");
  await agent.prompt("Plan", { tools: [added] });
  await agent.prompt("Plan", {
    policies: [{
      name: "adds",
      preRequest: ({ tools }) => ({ type: "change", tools: [...tools, added] }),
    }],
  });
  assertEquals(listTools(), ["read", "read", "read"]);
});

Deno.test("createPlanMode(): tools of the provider are those that only read", async () => {
  const { agent, mode, streamFn } = createPlanner([reply("a"), reply("b")], {
    streamOptions: { serverTools: [webSearch(), codeExecution()] },
  });
  await agent.prompt("Do it");
  mode.turnOn(agent);
  await agent.prompt("Plan");
  assertEquals(streamFn.calls.map(({ options }) => options.serverTools?.map(({ type }) => type)), [
    ["web_search", "code_execution"],
    ["web_search"],
  ]);
});

Deno.test("createPlanMode(): extra fields give neither the agent nor one below it a tool of the provider", async () => {
  const extra = { top_k: 5, tools: [{ type: "code_execution_20250825" }], mcp_servers: [] };
  const inner = scriptedStream([reply("inner")]);
  const below = new Agent({ model: "test/model", streamFn: inner, streamOptions: { extra } });
  const { agent, mode, streamFn } = createPlanner(
    [reply("a"), reply([toolCall("below", { prompt: "Go" })]), reply("b")],
    {
      streamOptions: { extra },
      tools: [below.asTool({ name: "below", description: "", readOnly: true })],
    },
  );
  await agent.prompt("Do it");
  mode.turnOn(agent);
  await agent.prompt("Plan");
  const sent = [...streamFn.calls, ...inner.calls].map(({ options }) => options.extra);
  assertEquals(sent, [extra, { top_k: 5 }, { top_k: 5 }, { top_k: 5 }]);
});

Deno.test("createPlanMode(): write_plan writes the plan file and nothing else, and exists only while it is on", async () => {
  await using directory = await createTemporaryDirectory();
  const file = planFile(`${directory.path}/.swink/plan.md`, { within: directory.path });
  const outside = { ...PLAN, path: "/tmp/other.md" };
  const steps = [
    reply([toolCall("write_plan", PLAN)]),
    reply("off"),
    reply([toolCall("write_plan", outside)]),
    reply([toolCall("write_plan", PLAN)]),
    reply("planned"),
  ];
  const { agent, mode, listTools, events } = createPlanner(steps, { mode: { file } });
  await agent.prompt("Plan");
  assertEquals((await file.read()).type, "missing");
  mode.turnOn(agent);
  await agent.prompt("Plan");
  const results = readResults(agent);
  assertStringIncludes(results[0] ?? "", 'Tool "write_plan" not found');
  assertStringIncludes(results[1] ?? "", 'Invalid arguments for "write_plan"');
  assertEquals(results[2], "The plan with 1 step is written. A person reviews it next.");
  assertEquals(listTools().slice(1, 3), ["read write", "read write_plan"]);
  const written = await file.read();
  assert(written.type === "text");
  const { name, data } = events.at(-1) ?? {};
  assertEquals([name, data], ["plan_created", { plan: written.text, steps: ["Measure"] }]);
  const list = (path: string) => [...Deno.readDirSync(path)].map(({ name }) => name);
  assertEquals(list(directory.path), [".swink"]);
  assertEquals(list(`${directory.path}/.swink`), ["plan.md"]);
});

Deno.test("createPlanMode(): a plan that is written again keeps its states, which are events", async () => {
  await using directory = await createTemporaryDirectory({
    "plan.md": "# Faster start\n\n## 1. [done] Measure\n\n## 2. Load\n",
  });
  const file = planFile(`${directory.path}/plan.md`);
  const write = reply([toolCall("write_plan", PLAN)]);
  const { agent, mode, events } = createPlanner([write, write, reply("planned")], {
    mode: { file },
  });
  mode.turnOn(agent);
  await agent.prompt("Plan");
  assertEquals(events.slice(1).map(({ name, data }) => [name, data]), [
    ["plan_created", { plan: directory.read("plan.md"), steps: ["Measure"] }],
    ["plan_step", { step: 0, state: "complete" }],
  ]);
});

Deno.test("createPlanMode(): its own tools replace those of the same name, if they change nothing", async () => {
  const [shell, readShell] = [
    fakeTool({ name: "bash" }),
    fakeTool({ name: "bash", readOnly: true }),
  ];
  const tools = [readShell, fakeTool({ name: "other" })];
  const { agent, mode, listTools } = createPlanner(
    [reply([toolCall("bash", {})]), reply("planned"), reply([toolCall("bash", {})]), reply("done")],
    { tools: [shell], mode: { tools } },
  );
  mode.turnOn(agent);
  await agent.prompt("Plan");
  mode.turnOff(agent);
  await agent.prompt("Do it");
  assertEquals(listTools(), ["bash", "bash", "bash", "bash"]);
  assertEquals([readShell.calls.length, shell.calls.length], [1, 1]);
});

Deno.test("createPlanMode(): bash exists only with a read-only sandbox, also as the agent's own [AC-26]", async () => {
  await using readOnly = new TestWorkspace({ readOnly: true });
  await using writing = new TestWorkspace();
  const reading = "read_file list_directory search_files";
  const cases = [
    [writing.tools, [], reading],
    [writing.tools, writing.tools, reading],
    [readOnly.tools, [], `${reading} bash`],
    [writing.tools, readOnly.tools, `${reading} bash`],
  ] as const;
  for (const [tools, planTools, expected] of cases) {
    const { agent, mode, listTools } = createPlanner([reply("planned")], {
      tools,
      mode: { tools: planTools },
    });
    mode.turnOn(agent);
    await agent.prompt("Plan");
    assertEquals(listTools(), [expected]);
  }
});

Deno.test("createPlanMode(): its instructions follow the system prompt only while it is on", async () => {
  const { agent, mode, streamFn } = createPlanner([reply("a"), reply("b")], {
    systemPrompt: "You are brief.",
    mode: { instructions: "Plan only." },
  });
  mode.turnOn(agent);
  await agent.prompt("Plan");
  mode.turnOff(agent);
  await agent.prompt("Do it");
  assertEquals(streamFn.calls.map(({ context: { systemPrompt } }) => systemPrompt), [
    "You are brief.\n\nPlan only.",
    "You are brief.",
  ]);
});

Deno.test("createPlanMode(): turned on during a run, it refuses the calls that have not started", async () => {
  const write: AgentTool = fakeTool({
    name: "write",
    sequential: true,
    result: () => (mode.turnOn(agent), "ok"),
  });
  const { agent, mode, listTools } = createPlanner(
    [reply([toolCall("write", {}), toolCall("write", {})]), reply("planned")],
    { tools: [write] },
  );
  await agent.prompt("Do it");
  assertEquals(readResults(agent), ["ok", 'Tool "write" is no longer available']);
  assertEquals(listTools(), ["write", ""]);
});

Deno.test("createPlanMode(): refuses unknown options", () => {
  assertThrows(() => createPlanMode({ files: 1 } as PlanModeOptions), Error, "did you mean file");
});

Deno.test("createPlanMode(): a call that waited for an approval runs with the tool of plan mode only while it is on", async () => {
  for (const isOn of [true, false]) {
    const own = fakeTool({ name: "bash" });
    const inPlanMode = fakeTool({ name: "bash", readOnly: true });
    const { agent, mode } = createPlanner(
      [reply([toolCall("bash", {}, { id: "c" })]), reply("done")],
      { tools: [own], mode: { tools: [inPlanMode] }, approve: () => ({ type: "pending" }) },
    );
    mode.turnOn(agent);
    await agent.prompt("Look");
    if (!isOn) mode.turnOff(agent);
    await agent.continue({ approvals: { c: true } });
    assertEquals([own.calls.length, inPlanMode.calls.length], isOn ? [0, 1] : [1, 0]);
  }
});

Deno.test("createPlanMode(): an agent below the planner has no write_plan, also with all of its tools", async () => {
  const plan = {
    title: "T",
    context: "",
    steps: [{ title: "S", description: "", files: [], criteria: ["C"] }],
  };
  const streamFn = scriptedStream([reply([toolCall("write_plan", plan)]), reply("done")]);
  const delegate = subAgentTool({ name: "delegate", description: "", streamFn });
  await using directory = await createTemporaryDirectory();
  const { agent, mode } = createPlanner(
    [reply([toolCall("delegate", { prompt: "Go" })]), reply("end")],
    {
      tools: [{ ...delegate, readOnly: true }],
      mode: { file: planFile(`${directory.path}/plan.md`) },
    },
  );
  mode.turnOn(agent);
  await agent.prompt("Plan");
  const names = streamFn.calls.map(({ context }) => context.tools.map(({ name }) => name));
  assertEquals(names, [["delegate"], ["delegate"]]);
  assertEquals(await Array.fromAsync(Deno.readDir(directory.path)), []);
});

Deno.test("createPlanMode(): an agent below the planner that has the policy itself gets neither its tools nor its instructions", async () => {
  const streamFn = scriptedStream([reply("done")]);
  const mode = createPlanMode({ tools: [fakeTool({ name: "extra", readOnly: true })] });
  const below = new Agent({
    model: "test/model",
    systemPrompt: "Look around",
    streamFn,
    policies: [mode],
  });
  const planner = new Agent({
    model: "test/model",
    streamFn: scriptedStream([reply([toolCall("below", { prompt: "Go" })]), reply("end")]),
    tools: [below.asTool({ name: "below", description: "", readOnly: true })],
    policies: [mode],
  });
  mode.turnOn(planner);
  await planner.prompt("Plan");
  const [call] = streamFn.calls;
  assertEquals([call?.context.systemPrompt, call?.context.tools], ["Look around", []]);
});
