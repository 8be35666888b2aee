/**
 * Approvals that are decided after the run, under the rules of the approval gate.
 *
 * @module
 */

import { assertEquals, assertStringIncludes } from "@std/assert";
import { Agent } from "../../src/agent/agent.ts";
import type { ApprovalDecision } from "../../src/core/approval/approval.ts";
import type { RunHandle } from "../../src/core/events/run_handle.ts";
import type { Approve } from "../../src/core/hooks/approve.ts";
import { type AgentTool, defineTool } from "../../src/core/tools/tool.ts";
import { fakeTool } from "../../src/testing/fake_tool.ts";
import { toolCall } from "../../src/testing/messages.ts";
import { reply } from "../../src/testing/script.ts";
import { scriptedStream } from "../../src/testing/scripted_stream.ts";
import { approvalGate, type ApprovalGateOptions } from "../../src/tools/mod.ts";
import { outlineMessages } from "./outline.ts";
import { pending } from "./pending_agent.ts";
import { testAgent } from "./test_agent.ts";

/** Approves a call of `bash` after the run. Returns the arguments that ran, and the result. */
async function approveLater(
  approve: Approve,
  decision: ApprovalDecision | boolean,
): Promise<readonly [executed: readonly unknown[], result: string]> {
  const bash = fakeTool({
    name: "bash",
    parameters: { type: "object", properties: { command: { type: "string" } } },
  });
  const classified: AgentTool = {
    ...bash,
    risk: ({ command }) => String(command).startsWith("curl") ? "network" : "execute",
  };
  const script = [reply([toolCall("bash", { command: "make" }, { id: "a" })]), reply("Done")];
  const { agent } = testAgent(script, { tools: [classified], approve });
  await agent.prompt("Go");
  await agent.continue({ approvals: { a: decision } });
  const [, , result = ""] = outlineMessages(agent.state.messages);
  return [bash.calls.map((call) => call.arguments), result];
}

function createGate(options: ApprovalGateOptions = {}): Approve {
  return approvalGate({ mode: "always", ask: () => pending, ...options });
}

const PUSH = { type: "approved", arguments: { command: "git push -f" } } as const;

Deno.test("continue(): a rule or class of the gate denies arguments that are edited later", async () => {
  const gate = createGate({ deny: ["bash(git push *)"] });
  const [executed, result] = await approveLater(gate, PUSH);
  assertEquals(executed, []);
  assertStringIncludes(
    result,
    "rejected by approval: The rule bash(git push *) forbids this call.",
  );
  const classes = createGate({ classes: { network: "deny" } });
  const edited: ApprovalDecision = { type: "approved", arguments: { command: "curl example.com" } };
  assertStringIncludes((await approveLater(classes, edited))[1], "are denied");
});

Deno.test("continue(): what the gate only asks about runs with the edited arguments", async () => {
  const gate = createGate({ deny: ["bash(git push *)"] });
  const edited: ApprovalDecision = { type: "approved", arguments: { command: "make all" } };
  assertEquals((await approveLater(gate, edited))[0], [{ command: "make all" }]);
  assertEquals((await approveLater(gate, true))[0], [{ command: "make" }]);
});

Deno.test("continue(): a rule that is added after the run denies the call as it was made", async () => {
  const strict = approvalGate({ deny: ["bash(make)"] });
  // The call was pending under another gate.
  const approve = Object.assign(() => pending, { explain: strict.explain });
  const [executed, result] = await approveLater(approve, true);
  assertEquals(executed, []);
  assertStringIncludes(result, "The rule bash(make) forbids this call.");
});

Deno.test("continue(): an approval that cannot explain itself does not deny, and one that fails denies", async () => {
  assertEquals((await approveLater(() => pending, PUSH))[0], [PUSH.arguments]);
  const explain = () => Promise.reject(new Error("broken"));
  const [executed, result] = await approveLater(Object.assign(() => pending, { explain }), PUSH);
  assertEquals(executed, []);
  assertStringIncludes(result, "the approval failed: broken");
});

Deno.test("continue(): abort() ends a run whose approval never explains itself, and the call does not run", async () => {
  const explaining = Promise.withResolvers<void>();
  const explain = () => {
    explaining.resolve();
    return new Promise<never>(() => {});
  };
  const bash = fakeTool({ name: "bash" });
  const script = [reply([toolCall("bash", {}, { id: "a" })]), reply("Done")];
  const approve = Object.assign(() => pending, { explain });
  const { agent } = testAgent(script, { tools: [bash], approve });
  await agent.prompt("Go");
  const continued = agent.continue({ approvals: { a: true } });
  await explaining.promise;
  agent.abort();
  const { stopReason } = await continued;
  assertEquals([stopReason, bash.calls], ["aborted", []]);
  assertEquals(
    outlineMessages(agent.state.messages)[2],
    "tool_result: tool call cancelled: run aborted",
  );
});

Deno.test("continue(): a person approves what an agent below a run may not do alone, but not what a rule denies", async () => {
  for (const [path, expected] of [["src/a", 1], ["secrets/a", 0]] as const) {
    const write = fakeTool({ name: "write" });
    const child = (parent: RunHandle) =>
      new Agent({
        model: "test/model",
        parent,
        tools: [write],
        approve: () => pending,
        streamFn: scriptedStream([
          reply([toolCall("write", { path }, { id: "w" })]),
          reply("Written"),
        ]),
      });
    const delegate = defineTool({
      name: "delegate",
      description: "Lets an agent write, and a person decide.",
      parameters: { type: "object" },
      requiresApproval: false,
      execute: async (_args, { run }) => {
        const agent = child(run);
        await agent.prompt("Write");
        return (await agent.continue({ approvals: { w: true } })).text;
      },
    });
    const { agent } = testAgent([reply([toolCall("delegate", {})]), reply("Done")], {
      tools: [delegate],
      approve: approvalGate({ deny: ["write(secrets/**)"] }),
    });
    await agent.prompt("Go");
    assertEquals(write.calls.length, expected, path);
  }
});

Deno.test("continue(): a decision with a scope becomes a grant of the gate, once", async () => {
  const cases = [
    [{ type: "approved", scope: "tool" }, { type: "tool", name: "bash" }],
    [{ type: "approved", scope: "prefix", prefix: "make" }, {
      type: "prefix",
      name: "bash",
      prefix: "make",
    }],
    [{ type: "approved", scope: "prefix", prefix: " " }, undefined],
    [{ type: "approved", scope: "prefix" }, undefined],
    [{ type: "approved", scope: "once" }, undefined],
    [{ type: "approved", scope: "all" as "once" }, undefined],
    [{ type: "denied", scope: "tool" } as ApprovalDecision, undefined],
  ] as const;
  for (const [decision, grant] of cases) {
    const gate = approvalGate({ mode: "always", ask: () => pending });
    await approveLater(gate, decision);
    assertEquals(gate.trusted, grant ? [grant] : []);
    await approveLater(gate, decision).catch(() => {}); // Nothing is pending if the grant applies.
    assertEquals(gate.trusted, grant ? [grant] : []);
  }
});

Deno.test("continue(): a decision with a scope on a call that a rule denies becomes no grant", async () => {
  const gate = approvalGate({ ask: () => pending, deny: ["bash(git push *)"] });
  const decision = { ...PUSH, scope: "tool" } as const;
  assertEquals((await approveLater(gate, decision))[0], []);
  assertEquals(gate.trusted, []);
});
