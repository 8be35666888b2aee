import { assertEquals } from "@std/assert";
import { Agent, type AgentEvent } from "../../mod.ts";
import { subAgentTool } from "../../src/sub_agents/mod.ts";
import { fakeTool, reply, scriptedStream, toolCall } from "../../src/testing/mod.ts";
import { approvalGate, type ApprovalGateOptions } from "../../src/tools/mod.ts";

const MODEL = "any/model";
const CALLS = reply([toolCall("read"), toolCall("list"), toolCall("write")]);

/** Tools of which only the last one needs an approval in the mode `smart`. */
function createTools() {
  return [
    fakeTool({ name: "read", readOnly: true, risk: "read" }),
    fakeTool({ name: "list", readOnly: true, risk: "write" }),
    fakeTool({ name: "write" }),
  ];
}

/** Creates a gate that approves all that a person is asked about; returns it with the names of these calls. */
function createGate(options: ApprovalGateOptions) {
  const asked: string[] = [];
  const ask = ({ name }: { readonly name: string }) => asked.push(name) > 0;
  return { asked, approve: approvalGate({ ...options, ask }) };
}

const RULES = [{ source: "rules.json", ask: ["read"] }];

for (
  const [title, options, expected] of [
    ["an ask rule", { rules: RULES }, ["read", "write"]],
    ["a class that asks", { classes: { write: "ask" } }, ["list", "write"]],
    ["no rule", {}, ["write"]],
    ["an allow rule", { allow: ["write"] }, []],
  ] as const satisfies readonly (readonly [string, ApprovalGateOptions, readonly string[]])[]
) {
  const submitted = expected.join(" and ") || "no call";
  Deno.test(`approvalMode smart: submits ${submitted} with ${title}`, async () => {
    const tools = createTools();
    const { asked, approve } = createGate(options);
    const streamFn = scriptedStream([CALLS, reply("Done")]);
    const agent = new Agent({ model: MODEL, tools, approvalMode: "smart", approve, streamFn });
    await agent.prompt("Go");
    assertEquals<readonly string[]>(asked, expected);
    assertEquals(tools.map(({ calls }) => calls.length), [1, 1, 1]);
  });
}

/** Returns the names of the tools whose calls of sub-agents are denied, in order. */
function observeDenials(agent: Agent): string[] {
  const denied: string[] = [];
  const names = new Map<string, string>();
  agent.subscribe((event: AgentEvent) => {
    const own = event.type === "sub_agent" ? event.event : undefined;
    if (own?.type === "tool_approval_requested") names.set(own.id, own.name);
    if (own?.type !== "tool_approval_resolved" || own.decision.type !== "denied") return;
    denied.push(names.get(own.id) ?? "");
  });
  return denied;
}

Deno.test("approvalMode smart: a sub-agent is denied the calls that a rule asks about", async () => {
  const tools = createTools();
  const { asked, approve } = createGate({ rules: RULES });
  const agent = new Agent({
    model: MODEL,
    tools: [...tools, subAgentTool({ name: "delegate", description: "Delegates." })],
    approvalMode: "smart",
    approve,
    streamFn: scriptedStream([
      reply([toolCall("delegate", { prompt: "Go" })]),
      CALLS,
      reply("Report"),
      reply("Done"),
    ]),
  });
  const denied = observeDenials(agent);
  await agent.prompt("Go");
  assertEquals([asked, denied], [[], ["read", "write"]]);
  assertEquals(tools.map(({ calls }) => calls.length), [0, 1, 0]);
});

Deno.test("approvalMode smart: an agent of asTool() submits what its own rule asks about to its own approval", async () => {
  const tools = createTools();
  const { asked, approve } = createGate({ rules: RULES });
  const expert = new Agent({
    model: MODEL,
    tools,
    approvalMode: "smart",
    approve,
    streamFn: scriptedStream([CALLS, reply("Report")]),
  });
  const agent = new Agent({
    model: MODEL,
    tools: [expert.asTool({ name: "expert", description: "Knows.", requiresApproval: false })],
    approvalMode: "smart",
    approve: approvalGate({ allow: ["write"] }),
    streamFn: scriptedStream([reply([toolCall("expert", { prompt: "Go" })]), reply("Done")]),
  });
  await agent.prompt("Go");
  assertEquals(asked, ["read", "write"]);
  assertEquals(tools.map(({ calls }) => calls.length), [1, 1, 1]);
});
