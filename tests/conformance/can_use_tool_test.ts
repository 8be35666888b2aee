import { assertEquals, assertStringIncludes } from "@std/assert";
import { Agent } from "../../src/agent/agent.ts";
import type { CanUseToolContext, Policy } from "../../src/core/hooks/policy.ts";
import { codeExecution, webSearch } from "../../src/core/streams/server_tool.ts";
import { subAgentTool } from "../../src/sub_agents/mod.ts";
import { checkEvents } from "../../src/testing/event_grammar.ts";
import { fakeTool } from "../../src/testing/fake_tool.ts";
import { toolCall } from "../../src/testing/messages.ts";
import { reply } from "../../src/testing/script.ts";
import type { ScriptedStream } from "../../src/testing/scripted_stream.ts";
import { scriptedStream } from "../../src/testing/scripted_stream.ts";
import { eventsOfType, outlineMessages } from "./outline.ts";
import { atFirst, testAgent } from "./test_agent.ts";

/** A policy that leaves only the tools that change nothing. */
const readOnly: Policy = {
  name: "read_only",
  canUseTool: (offered) =>
    offered.type === "tool" ? offered.tool.readOnly === true : offered.tool.type === "web_search",
};

const look = () => fakeTool({ name: "look", readOnly: true });
const write = () => fakeTool({ name: "write" });

/** Returns the names of the tools of each request. */
function listTools({ calls }: ScriptedStream): string[] {
  return calls.map(({ context: { tools } }) => tools.map(({ name }) => name).join(" "));
}

Deno.test("canUseTool: a tool without the answer true is not in the request, and its calls are refused", async () => {
  const [reads, writes] = [look(), write()];
  const { agent, streamFn } = testAgent(
    [reply([toolCall("write", {}), toolCall("look", {})]), reply("Done")],
    { tools: [reads, writes], policies: [readOnly] },
  );
  await checkEvents(agent.promptStream("Go"));
  assertEquals(listTools(streamFn), ["look", "look"]);
  assertEquals([reads.calls.length, writes.calls.length], [1, 0]);
  assertEquals(outlineMessages(agent.state.messages).slice(2, 4), [
    'tool_result: Tool "write" not found. Available tools: look.',
    "tool_result: ok",
  ]);
});

Deno.test("canUseTool: a tool that is withdrawn after the request is not listed among the available ones", async () => {
  let isWithdrawn = false;
  const [reads, writes] = [look(), write()];
  const { agent } = testAgent([reply([toolCall("write", {})]), reply("Done")], {
    tools: [reads, writes],
    policies: [{
      name: "withdraws",
      canUseTool: (offered) => offered.type !== "tool" || offered.tool !== writes || !isWithdrawn,
    }],
  });
  agent.subscribe(({ type }) => void (isWithdrawn ||= type === "message_update"));
  await checkEvents(agent.promptStream("Go"));
  assertEquals(
    outlineMessages(agent.state.messages)[2],
    'tool_result: Tool "write" not found. Available tools: look.',
  );
});

Deno.test("canUseTool: applies to the tools that later preRequest policies add", async () => {
  const writes = write();
  const add: Policy = {
    name: "add",
    preRequest: ({ tools }) => ({ type: "change", tools: [...tools, writes] }),
  };
  const { agent, streamFn } = testAgent([reply([toolCall("write", {})]), reply("Done")], {
    tools: [look()],
    policies: [readOnly, add],
  });
  await agent.prompt("Go");
  assertEquals([listTools(streamFn), writes.calls.length], [["look", "look"], 0]);
});

Deno.test("canUseTool: limits the tools of the provider, and a choice of a tool that does not exist becomes auto", async () => {
  const serverTools = [webSearch(), codeExecution()];
  for (const toolChoice of ["required", { name: "write" }] as const) {
    const { agent, streamFn } = testAgent([reply("Done")], {
      tools: [write()],
      policies: [readOnly],
      streamOptions: { serverTools, toolChoice },
    });
    await agent.prompt("Go");
    const { serverTools: sent, toolChoice: choice } = streamFn.calls[0]?.options ?? {};
    assertEquals([sent, choice], [[webSearch()], "auto"]);
  }
});

Deno.test("canUseTool: keeps a choice of a tool that exists", async () => {
  const { agent, streamFn } = testAgent([reply([toolCall("look", {})]), reply("Done")], {
    tools: [look()],
    policies: [readOnly],
    toolChoice: { name: "look" },
  });
  await agent.prompt("Go");
  assertEquals(streamFn.calls[0]?.options.toolChoice, { name: "look" });
});

const FAILURES: readonly (readonly [string, () => unknown])[] = [
  ["throws", () => {
    throw new Error("out of order");
  }],
  ["returns a promise", () => Promise.resolve(true)],
  ["returns a promise that rejects", () => Promise.reject(new Error("late"))],
];

for (const [failure, canUseTool] of FAILURES) {
  Deno.test(`canUseTool that ${failure} leaves no tool, and is reported`, async () => {
    const writes = write();
    const { agent, streamFn } = testAgent([reply([toolCall("write", {})]), reply("Done")], {
      tools: [writes],
      policies: [{ name: "broken", canUseTool: canUseTool as () => boolean }],
    });
    const events = await checkEvents(agent.promptStream("Go"));
    assertEquals([listTools(streamFn), writes.calls.length], [["", ""], 0]);
    const [warning] = eventsOfType(events, "warning");
    assertEquals([
      warning?.code,
      warning?.code === "policy_failed" &&
      warning.message.startsWith('The policy "broken" (canUseTool) failed:'),
    ], ["policy_failed", true]);
  });
}

Deno.test("canUseTool: another answer than true leaves no tool", async () => {
  for (const answer of [undefined, 1, "true", { type: "continue" }]) {
    const { agent, streamFn } = testAgent([reply("Done")], {
      tools: [write()],
      policies: [{ name: "odd", canUseTool: () => answer as unknown as boolean }],
    });
    await agent.prompt("Go");
    assertEquals(listTools(streamFn), [""]);
  }
});

Deno.test("canUseTool: refuses calls of a reply that was requested with the tool", async () => {
  let isOn = false;
  const writes = write();
  const { agent } = testAgent([reply([toolCall("write", {})]), reply("Done")], {
    tools: [writes],
    policies: [{ name: "switch", canUseTool: () => !isOn }],
  });
  agent.subscribe((event) =>
    void (isOn ||= event.type === "message_end" && event.message.role === "assistant")
  );
  await agent.prompt("Go");
  assertEquals(writes.calls.length, 0);
});

Deno.test("canUseTool: asks neither a person nor preDispatch about a tool that was withdrawn after the request", async () => {
  const asked: string[] = [];
  const { agent } = testAgent(
    [reply([toolCall("write", {}), toolCall("look", {})]), reply("Done")],
    {
      tools: [look(), write()],
      approve: ({ name }) => asked.push(`person ${name}`) > 0,
      policies: [{
        name: "switch",
        canUseTool: (offered) => !isOn || readOnly.canUseTool?.(offered) === true,
        preDispatch: ({ tool }) => void asked.push(`policy ${tool.name}`),
      }],
    },
  );
  let isOn = false;
  agent.subscribe((event) =>
    void (isOn ||= event.type === "message_end" && event.message.role === "assistant")
  );
  await agent.prompt("Go");
  assertEquals(asked, ["policy look", "person look"]);
});

Deno.test("canUseTool: refuses the later calls of a batch when the tool is withdrawn during the first", async () => {
  let isOn = false;
  const writes = fakeTool({ name: "write", sequential: true, result: () => (isOn = true, "ok") });
  const { agent } = testAgent(
    [reply([toolCall("write", {}), toolCall("write", {})]), reply("Done")],
    { tools: [writes], policies: [{ name: "switch", canUseTool: () => !isOn }] },
  );
  await checkEvents(agent.promptStream("Go"));
  assertEquals(writes.calls.length, 1);
  assertEquals(outlineMessages(agent.state.messages).slice(2, 4), [
    "tool_result: ok",
    'tool_result: Tool "write" is no longer available',
  ]);
});

Deno.test("canUseTool: refuses a call that was approved before the tool was withdrawn", async () => {
  let isOn = false;
  const writes = write();
  const { agent } = testAgent([reply([toolCall("write", {}, { id: "a" })]), reply("Done")], {
    tools: [writes],
    approve: () => ({ type: "pending" }),
    policies: [{ name: "switch", canUseTool: () => !isOn }],
  });
  await agent.prompt("Go");
  isOn = true;
  await agent.continue({ approvals: { a: { type: "approved", origin: "person" } } });
  assertEquals(writes.calls.length, 0);
});

for (const method of ["abort", "steer"] as const) {
  Deno.test(`canUseTool: a call does not run when a policy calls ${method}() at its start`, async () => {
    let hasStarted = false;
    const writes = write();
    const { agent } = testAgent([reply([toolCall("write", {})]), reply("Done")], {
      tools: [writes],
      policies: [{
        name: "interrupts",
        canUseTool() {
          if (hasStarted) agent[method]("Stop");
          hasStarted = false;
          return true;
        },
      }],
    });
    atFirst(agent, "tool_execution_start", () => hasStarted = true);
    await checkEvents(agent.promptStream("Go"));
    assertEquals(writes.calls.length, 0);
    assertStringIncludes(outlineMessages(agent.state.messages)[2] ?? "", "tool call cancelled");
  });
}

Deno.test("canUseTool: the tool of a structured answer always exists", async () => {
  const { agent } = testAgent([(request) => {
    const name = request.context.tools[0]?.name ?? "";
    return reply([toolCall(name, { value: 7 })]);
  }], { tools: [write()], policies: [readOnly] });
  const schema = {
    type: "object",
    properties: { value: { type: "integer" } },
    required: ["value"],
  } as const;
  assertEquals(await agent.structuredOutput("Count", schema), { value: 7 });
});

Deno.test("canUseTool: limits the agents below the run, and knows the runs above each, three levels deep", async () => {
  const writes = write();
  const seen: CanUseToolContext[] = [];
  const watch: Policy = {
    name: "watch",
    canUseTool: (context) => {
      seen.push(context);
      return context.type === "tool" && context.tool.readOnly === true;
    },
  };
  const inner = new Agent({
    model: "test/inner",
    tools: [look(), writes],
    streamFn: scriptedStream([reply([toolCall("write", {})]), reply("inner")]),
  });
  const middle = subAgentTool({
    name: "middle",
    description: "",
    readOnly: true,
    streamFn: scriptedStream([reply([toolCall("inner", { prompt: "Go" })]), reply("middle")]),
  });
  const { agent } = testAgent([reply([toolCall("middle", { prompt: "Go" })]), reply("Done")], {
    tools: [middle, inner.asTool({ name: "inner", description: "", readOnly: true }), writes],
    policies: [watch],
  });
  await checkEvents(agent.promptStream("Go"));
  assertEquals(writes.calls.length, 0);
  const runs = new Map(seen.map(({ runId, parentRunIds }) => [runId, parentRunIds]));
  const [host = "", second = "", third = ""] = [...runs.keys()];
  assertEquals([...runs], [[host, []], [second, [host]], [third, [second, host]]]);
});
