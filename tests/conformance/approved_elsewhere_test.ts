/**
 * Calls that are approved without the approval gate of the run, which the gate must know nevertheless.
 *
 * @module
 */

import { assertEquals, assertStringIncludes } from "@std/assert";
import { Agent } from "../../src/agent/agent.ts";
import type { ExplainedCall } from "../../src/core/hooks/approve.ts";
import type { AgentTool } from "../../src/core/tools/tool.ts";
import { subAgentTool } from "../../src/sub_agents/mod.ts";
import { fakeTool } from "../../src/testing/fake_tool.ts";
import { toolCall } from "../../src/testing/messages.ts";
import { reply } from "../../src/testing/script.ts";
import { scriptedStream } from "../../src/testing/scripted_stream.ts";
import { approvalGate } from "../../src/tools/mod.ts";
import { outlineMessages } from "./outline.ts";
import { pending } from "./pending_agent.ts";
import { testAgent } from "./test_agent.ts";

const run = (command: string, id = command) => reply([toolCall("bash", { command }, { id })]);

/** A shell whose commands are recorded. */
function createShell() {
  const bash = fakeTool({
    name: "bash",
    parameters: { type: "object", properties: { command: { type: "string" } } },
  });
  return { bash, listCommands: () => bash.calls.map(({ arguments: args }) => args["command"]) };
}

const RULES = ["bash(cd *)", "bash(./build *)"];

Deno.test("approvalGate(): knows that an agent below the run has changed the directory of the shell", async () => {
  const { bash, listCommands } = createShell();
  const start = (name: string) => reply([toolCall(name, { prompt: "Go" })]);
  const script = [
    ...[run("./build 1", "1"), start("child"), run("./build 2", "2"), start("child")],
    ...[
      run("cd sub", "3"),
      reply("Moved"),
      reply("Child done"),
      run("./build 3", "4"),
      reply("Done"),
    ],
  ];
  const { agent } = testAgent(script, {
    tools: [bash, subAgentTool({ name: "child", description: "", maxDepth: 2 })],
    approve: approvalGate({ allow: [...RULES, "child"] }),
  });
  await agent.prompt("Go");
  assertEquals(listCommands(), ["./build 1", "./build 2", "cd sub"]);
});

Deno.test("approvalGate(): knows what the own approval of an agent below the run has approved", async () => {
  const { bash, listCommands } = createShell();
  const child = new Agent({
    model: "test/model",
    tools: [bash],
    approve: ({ arguments: { command } }) => ({
      type: "approved",
      ...(command === "pwd" && { arguments: { command: "cd sub" } }),
    }),
    streamFn: scriptedStream([run("pwd"), reply("Moved")]),
  });
  const { agent } = testAgent(
    [reply([toolCall("child", { prompt: "Go" })]), run("./build"), reply("Done")],
    {
      tools: [bash, child.asTool({ name: "child", description: "" })],
      approve: approvalGate({ allow: [...RULES, "child"] }),
    },
  );
  await agent.prompt("Go");
  assertEquals(listCommands(), ["cd sub"]);
});

Deno.test("approvalGate(): knows that a call was approved after the run", async () => {
  const { bash, listCommands } = createShell();
  const gate = approvalGate({
    allow: ["bash(./build *)"],
    ask: ({ arguments: { command } }) => String(command).startsWith("cd") && pending,
  });
  const script = [run("cd sub", "a"), run("./build"), reply("Done")];
  const { agent } = testAgent(script, { tools: [bash], approve: gate });
  await agent.prompt("Go");
  await agent.continue({ approvals: { a: true } });
  assertEquals(listCommands(), ["cd sub"]);
});

Deno.test("approvalGate(): knows the calls that the mode of the agent does not ask about, before the next call", async () => {
  const isAsked = ({ command }: ExplainedCall["arguments"]) => command !== "cd sub";
  const both = reply([
    toolCall("bash", { command: "cd sub" }),
    toolCall("bash", { command: "./build" }),
  ]);
  for (const script of [[both, reply("Done")], [run("cd sub"), run("./build"), reply("Done")]]) {
    const { bash, listCommands } = createShell();
    const tool: AgentTool = { ...bash, requiresApproval: isAsked };
    const approve = approvalGate({ allow: RULES });
    const { agent } = testAgent(script, { tools: [tool], approve, approvalMode: "smart" });
    await agent.prompt("Go");
    assertEquals(listCommands(), ["cd sub"]);
  }
});

Deno.test("onApproved: a call is refused if the approval notes it only later", async () => {
  const explain = () => Promise.resolve({ decision: { type: "approved" } as const });
  const onApproved = () => Promise.reject(new Error("disk full"));
  const { bash, listCommands } = createShell();
  const { agent } = testAgent([run("ls"), reply("Done")], {
    tools: [{ ...bash, requiresApproval: false }],
    approve: Object.assign(() => true, { explain, onApproved }),
    approvalMode: "smart",
  });
  await agent.prompt("Go");
  assertEquals(listCommands(), []);
  assertStringIncludes(
    outlineMessages(agent.state.messages)[2] ?? "",
    "onApproved returned a promise",
  );
});

Deno.test("onApproved: a call is refused if the approval fails to note it", async () => {
  const explain = () => Promise.resolve({ decision: { type: "approved" } as const });
  const onApproved = () => {
    throw new Error("out of order");
  };
  const { bash, listCommands } = createShell();
  const unasked: AgentTool = { ...bash, requiresApproval: false };
  const approve = Object.assign(() => true, { explain, onApproved });
  const smart = testAgent([run("ls"), reply("Done")], {
    tools: [unasked],
    approve,
    approvalMode: "smart",
  });
  await smart.agent.prompt("Go");
  assertStringIncludes(outlineMessages(smart.agent.state.messages)[2] ?? "", "out of order");
  const child = testAgent(
    [reply([toolCall("child", { prompt: "Go" })]), run("ls"), reply("Child done"), reply("Done")],
    { tools: [bash, subAgentTool({ name: "child", description: "" })], approve },
  );
  await child.agent.prompt("Go");
  assertEquals(listCommands(), []);
});
