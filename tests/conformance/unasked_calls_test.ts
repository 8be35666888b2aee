import { assertEquals } from "@std/assert";
import { Agent } from "../../mod.ts";
import type { ApprovalMode } from "../../src/core/approval/approval.ts";
import type { AgentEvent } from "../../src/core/events/event.ts";
import { subAgentTool } from "../../src/sub_agents/mod.ts";
import { fakeTool } from "../../src/testing/fake_tool.ts";
import { toolCall } from "../../src/testing/messages.ts";
import { reply } from "../../src/testing/script.ts";
import { scriptedStream } from "../../src/testing/scripted_stream.ts";
import { approvalGate } from "../../src/tools/mod.ts";

const READS = [
  toolCall("read_file", { path: "a.txt" }),
  toolCall("read_file", { path: ".env" }),
];

/** Reads two files, of which a rule denies one; returns the paths that were read, and the decisions. */
async function readFiles(approvalMode: ApprovalMode, starter?: "sub_agent") {
  const read = fakeTool({ name: "read_file", readOnly: true });
  const explore = subAgentTool({ name: "explore", description: "Explores.", readOnly: true });
  const reads = [reply(READS), reply("Read.")];
  const steps = starter ? [reply([toolCall("explore", { prompt: "Read" })]), ...reads] : reads;
  const agent = new Agent({
    model: "test/model",
    tools: [read, explore],
    streamFn: scriptedStream([...steps, reply("Done.")]),
    approve: approvalGate({ deny: ["Read(.env)"] }),
    approvalMode,
  });
  const decisions: string[] = [];
  const note = (event: AgentEvent) => {
    if (event.type === "sub_agent") return note(event.event);
    if (event.type !== "tool_approval_resolved") return;
    decisions.push(`${event.decision.type} by ${event.decision.rule ?? event.decision.origin}`);
  };
  agent.subscribe(note);
  await agent.prompt("Go");
  return { paths: read.calls.map(({ arguments: { path } }) => path), decisions };
}

Deno.test("approvalMode smart: a rule denies also a call that needs no approval, and no other one is asked about", async () => {
  assertEquals(await readFiles("smart"), {
    paths: ["a.txt"],
    decisions: ["denied by Read(.env)"],
  });
});

Deno.test("approvalMode smart: a rule denies also a call of a sub-agent that needs no approval", async () => {
  assertEquals(await readFiles("smart", "sub_agent"), {
    paths: ["a.txt"],
    decisions: ["approved by mode", "denied by Read(.env)"],
  });
});

Deno.test("approvalMode bypassed: no approval decides", async () => {
  assertEquals(await readFiles("bypassed"), { paths: ["a.txt", ".env"], decisions: [] });
});
