import { assertEquals } from "@std/assert";
import { TestWorkspace } from "../../../tests/sandbox/test_workspace.ts";
import { Agent } from "../../agent/agent.ts";
import type { Approve } from "../../core/hooks/approve.ts";
import { extractText } from "../../core/messages/content.ts";
import type { ToolCallBlock } from "../../core/messages/content.ts";
import { type AgentTool, defineTool } from "../../core/tools/tool.ts";
import { toolCall } from "../../testing/messages.ts";
import { reply } from "../../testing/script.ts";
import { scriptedStream } from "../../testing/scripted_stream.ts";
import { approvalGate, type ApprovalGateOptions } from "./approval_gate.ts";

/** The commands of a reply; `sub: 0` starts the first sub-agent. */
type Commands = readonly string[];

/** Runs an agent whose model replies with the commands; returns whether each of those of the host and of sub-agents ran. */
async function runCommands(
  workspace: TestWorkspace,
  replies: readonly Commands[],
  subAgents: readonly (readonly Commands[])[] = [],
  options: ApprovalGateOptions = {},
): Promise<string[]> {
  const outcomes: string[] = [];
  const bash = workspace.getTool("bash");
  const startSubAgent: AgentTool = defineTool({
    name: "sub",
    description: "Runs a sub-agent.",
    parameters: { type: "object", properties: { number: { type: "integer" } } },
    requiresApproval: () => false,
    execute: async ({ number = 0 }: { number?: number }, { run, signal }) => {
      const steps = toSteps(subAgents[number] ?? []);
      const streamFn = scriptedStream(steps);
      const agent = new Agent({ model: "test/sub", streamFn, parent: run, tools: [bash] });
      await agent.prompt("Look", { signal });
      outcomes.push(...listOutcomes(agent));
      return "done";
    },
  });
  const agent = new Agent({
    model: "test/host",
    streamFn: scriptedStream(toSteps(replies)),
    tools: [bash, startSubAgent],
    approve: approvalGate({ sandbox: workspace.confined, classes: { write: "auto" }, ...options }),
  });
  await agent.prompt("Look");
  return [...outcomes, ...listOutcomes(agent)];
}

/** Each model gives its calls the same ids as the others. */
function toSteps(replies: readonly Commands[]) {
  let calls = 0;
  const toCall = (command: string): ToolCallBlock => {
    const [, number] = /^sub: (\d+)$/.exec(command) ?? [];
    const id = `call_${++calls}`;
    return number === undefined
      ? { type: "tool_call", id, name: "bash", arguments: { command } }
      : { type: "tool_call", id, name: "sub", arguments: { number: Number(number) } };
  };
  return [...replies.map((commands) => reply(commands.map(toCall))), reply("done")];
}

function listOutcomes(agent: Agent): string[] {
  return agent.state.messages.flatMap((message) => {
    if (message.role !== "tool_result" || message.toolName !== "bash") return [];
    return extractText(message.content).startsWith("Exit code") ? "ran" : "refused";
  });
}

function createWorkspace(): TestWorkspace {
  const workspace = new TestWorkspace();
  workspace.writeFile("src/a.ts", "KEY");
  workspace.writeFile("../other/b.ts", "KEY");
  return workspace;
}

const MOVE = ["cd ../other", "rg KEY"];

Deno.test("approvalGate(): asks about a search where a command of the same reply of a sub-agent moves its shell", async () => {
  await using workspace = createWorkspace();
  assertEquals(await runCommands(workspace, [["sub: 0"]], [[MOVE]]), ["ran", "refused"]);
});

Deno.test("approvalGate(): asks about a search where a moving command has the id of one of another agent", async () => {
  await using workspace = createWorkspace();
  const outcomes = await runCommands(workspace, [["sub: 0"], MOVE], [[["ls", "ls", "ls"]]]);
  assertEquals(outcomes, ["ran", "ran", "ran", "ran", "refused"]);
});

Deno.test("approvalGate(): where the shell of a sub-agent is does not concern other agents", async () => {
  await using workspace = createWorkspace();
  const replies = [["sub: 0"], ["sub: 1"], ["rg KEY"]];
  const outcomes = await runCommands(workspace, replies, [
    [["cd ../other && ls"], ["rg KEY"]],
    [["rg KEY"]],
  ]);
  assertEquals(outcomes, ["ran", "refused", "ran", "ran"]);
});

Deno.test("approvalGate(): a command of another agent of the same tool call does not hide that one is moved", async () => {
  for (const commands of [[["ls"]], [["cd ../other"], ["cd ../project"]]]) {
    await using workspace = createWorkspace();
    assertEquals(await runWithOther(workspace, commands), ["ran", "refused"]);
  }
});

/**
 * Runs an agent that moves its shell and searches, and before the decision about the search another agent of the same tool
 * call; returns whether each command of the first one ran.
 */
async function runWithOther(
  workspace: TestWorkspace,
  commands: readonly Commands[],
): Promise<string[]> {
  const bash = workspace.getTool("bash");
  const outcomes: string[] = [];
  const runPair: AgentTool = defineTool({
    name: "pair",
    description: "Runs two agents.",
    parameters: { type: "object" },
    requiresApproval: () => false,
    execute: async (_args, { run }) => {
      const start = (steps: readonly Commands[], approve: Approve = () => true) =>
        new Agent({
          model: "test/sub",
          streamFn: scriptedStream(toSteps(steps)),
          parent: run,
          tools: [bash],
          approve,
        });
      let other: Promise<unknown> | undefined;
      const moved = start([MOVE], async ({ arguments: { command } }) => {
        // The move is approved: the other agent runs a command before the search is decided about.
        if (command !== MOVE[0]) await (other ??= start(commands).prompt("Look"));
        return true;
      });
      await moved.prompt("Look");
      outcomes.push(...listOutcomes(moved));
      return "done";
    },
  });
  const agent = new Agent({
    model: "test/host",
    streamFn: scriptedStream([reply([toolCall("pair")]), reply("done")]),
    tools: [bash, runPair],
    approve: approvalGate({ sandbox: workspace.confined }),
  });
  await agent.prompt("Look");
  return outcomes;
}

Deno.test("approvalGate(): a moving command that never ran is forgotten when the next one starts", async () => {
  await using workspace = createWorkspace();
  const tool = workspace.getTool("bash");
  const gate = approvalGate({ sandbox: workspace.confined });
  gate.onApproved({ name: "bash", arguments: { command: "cd ../other" }, tool });
  const explain = async () => {
    const call = { name: "bash", arguments: { command: "rg KEY" }, tool };
    return (await gate.explain(call)).decision.type;
  };
  assertEquals(await explain(), "asked");
  await workspace.callTool("bash", { command: "ls" });
  assertEquals(await explain(), "approved");
});

Deno.test("approvalGate(): a shell whose directory no longer exists is in the working directory", async () => {
  await using workspace = createWorkspace();
  const tool = workspace.getTool("bash");
  const gate = approvalGate({ sandbox: workspace.confined });
  await workspace.callTool("bash", { command: "mkdir d && cd d" });
  await workspace.callTool("bash", { command: "rmdir $PWD" });
  const call = { name: "bash", arguments: { command: "rg KEY ../other" }, tool };
  assertEquals((await gate.explain(call)).decision.type, "asked");
});

Deno.test("approvalGate(): asks about a search behind a moving command whose approval is pending", async () => {
  await using workspace = createWorkspace();
  const asked: string[] = [];
  const agent = new Agent({
    model: "test/host",
    streamFn: scriptedStream(toSteps([["touch a; cd ../other", "rg KEY"]])),
    tools: [workspace.getTool("bash")],
    approve: approvalGate({
      sandbox: workspace.confined,
      ask: ({ toolCallId }) => {
        asked.push(toolCallId);
        return { type: "pending" };
      },
    }),
  });
  await agent.prompt("Look");
  assertEquals(asked, ["call_1", "call_2"]);
});

Deno.test("approvalGate(): a rule covers a program with a relative path where the shell is in the working directory", async () => {
  await using workspace = createWorkspace();
  workspace.writeFile("run", "#!/bin/sh\n");
  await Deno.chmod(`${workspace.directory}/run`, 0o755);
  const find = (replies: readonly Commands[], subAgents: readonly (readonly Commands[])[] = []) =>
    runCommands(workspace, replies, subAgents, { allow: ["bash(./run *)"] });
  const stay = `cd ${workspace.directory} && ls`;
  assertEquals(await find([[stay], ["./run"]]), ["ran", "ran"]);
  // The calls of a reply are decided about before the first one moves the shell.
  assertEquals(await find([["cd src", "./run"]]), ["ran", "refused"]);
  assertEquals(await find([["./run"], [stay], ["./run"]]), ["refused", "ran", "ran"]);
  // A sub-agent has a shell of its own.
  const subAgents = [[["cd src"], ["./run"]]];
  assertEquals(await find([["sub: 0"], ["./run"]], subAgents), ["ran", "refused", "ran"]);
});

Deno.test("approvalGate(): where a copy of the tool may have moved the shell, no rule covers a program with a relative path", async () => {
  await using workspace = createWorkspace();
  const bash = workspace.getTool("bash");
  const gate = approvalGate({ sandbox: workspace.confined, allow: ["bash(./run *)"] });
  const find = async (tool: AgentTool) =>
    (await gate.explain({ name: "bash", arguments: { command: "./run" }, tool })).decision.type;
  const move = { name: "bash", arguments: { command: "cd src" } };
  assertEquals([await find(bash), await find({ ...bash })], ["approved", "approved"]);
  gate.onApproved({ ...move, tool: bash });
  assertEquals([await find(bash), await find({ ...bash })], ["asked", "asked"]);
  const other = approvalGate({ sandbox: workspace.confined, allow: ["bash(./run *)"] });
  other.onApproved({ ...move, tool: { ...bash } });
  const { decision } = await other.explain({
    name: "bash",
    arguments: { command: "./run" },
    tool: bash,
  });
  assertEquals(decision.type, "asked");
});

Deno.test("approvalGate(): a command of a tool whose commands all start in the working directory moves no shell", async () => {
  await using workspace = new TestWorkspace({ readOnly: true });
  const tool = workspace.getTool("bash");
  const gate = approvalGate({ sandbox: workspace.confined, allow: ["bash(./run *)"] });
  gate.onApproved({ name: "bash", arguments: { command: "cd src" }, tool });
  await using writing = createWorkspace();
  for (const shell of [tool, writing.getTool("bash")]) {
    const call = { name: "bash", arguments: { command: "./run" }, tool: shell };
    assertEquals((await gate.explain(call)).decision.type, "approved");
  }
});
