import { assertEquals, assertRejects, assertStringIncludes, assertThrows } from "@std/assert";
import { Agent } from "../../src/agent/agent.ts";
import type { AgentOptions } from "../../src/agent/options.ts";
import { BadRequestError } from "../../src/core/errors/errors.ts";
import type { RunHandle } from "../../src/core/events/run_handle.ts";
import { type AgentTool, defineTool } from "../../src/core/tools/tool.ts";
import { agentLoop } from "../../src/loop/loop.ts";
import { denyTools, sharedBudget } from "../../src/policies/mod.ts";
import { checkEvents } from "../../src/testing/event_grammar.ts";
import { fakeTool } from "../../src/testing/fake_tool.ts";
import { toolCall } from "../../src/testing/messages.ts";
import { reply } from "../../src/testing/script.ts";
import { scriptedStream } from "../../src/testing/scripted_stream.ts";
import { testToolContext } from "../../src/testing/test_tool_context.ts";
import { testAgent } from "./test_agent.ts";

const usage = { input: 3, output: 4, cacheRead: 0, cacheWrite: 0, total: 7 };

/** Creates an agent that calls its tool `write` once, with the text "Written" as its last reply. */
function createWriter(options: Partial<AgentOptions> = {}) {
  const write = fakeTool({ name: "write" });
  const streamFn = scriptedStream([
    reply([toolCall("write", {})], { usage }),
    reply("Written", { usage }),
  ]);
  return {
    write,
    writer: new Agent({ model: "test/child", streamFn, tools: [write], ...options }),
  };
}

Deno.test("parent: the policies of the run guard the agent of asTool(), which keeps its own tools", async () => {
  for (const [denied, ran] of [["write", 0], ["other", 1]] as const) {
    const { write, writer } = createWriter();
    const { agent } = testAgent([reply([toolCall("ask", { prompt: "Go" })]), reply("Done")], {
      tools: [writer.asTool({ name: "ask", description: "" })],
      policies: [denyTools([denied])],
    });
    await checkEvents(agent.promptStream("Go"));
    assertEquals(write.calls.length, ran);
  }
});

Deno.test("parent: an agent of asTool() gets no approval of a person from the run, and its own approval applies too", async () => {
  const cases = [
    [{ approvalMode: "smart" }, {}, 0],
    [{ approvalMode: "bypassed" }, {}, 1],
    [{ approvalMode: "bypassed" }, { approve: () => false }, 0],
    [{ approvalMode: "bypassed" }, { approve: () => true }, 1],
    [{}, { approve: () => true }, 1],
    [{}, { approve: () => false }, 0],
  ] as const;
  for (const [options, own, ran] of cases) {
    const { write, writer } = createWriter(own);
    const { agent } = testAgent([reply([toolCall("ask", { prompt: "Go" })]), reply("Done")], {
      tools: [writer.asTool({ name: "ask", description: "", requiresApproval: false })],
      ...options,
    });
    await checkEvents(agent.promptStream("Go"));
    assertEquals(write.calls.length, ran);
  }
});

Deno.test("parent: the run decides about the arguments that the agent's own approval writes", async () => {
  const decided: unknown[] = [];
  const approve = Object.assign(() => true, {
    explain: ({ name, arguments: args }: { name: string; arguments: unknown }) => {
      decided.push([name, args]);
      return Promise.resolve({ decision: { type: "approved" } as const });
    },
  });
  const { write, writer } = createWriter({
    approve: () => ({ type: "approved", arguments: { path: "edited" } }),
  });
  const { agent } = testAgent([reply([toolCall("ask", { prompt: "Go" })]), reply("Done")], {
    tools: [writer.asTool({ name: "ask", description: "" })],
    approve,
  });
  await checkEvents(agent.promptStream("Go"));
  assertEquals(write.calls[0]?.arguments, { path: "edited" });
  assertEquals(decided, [["write", { path: "edited" }]]);
});

Deno.test("parent: arguments that the agent's own approval writes run, also without a person", async () => {
  const { write, writer } = createWriter({
    approvalMode: "always",
    approve: () => ({ type: "approved", origin: "mode", arguments: { path: "edited" } }),
  });
  const approve = Object.assign(() => true, {
    explain: () => Promise.resolve({ decision: { type: "approved" } as const }),
  });
  const { agent } = testAgent([reply([toolCall("ask", { prompt: "Go" })]), reply("Done")], {
    tools: [writer.asTool({ name: "ask", description: "", requiresApproval: false })],
    approvalMode: "always",
    approve,
  });
  await checkEvents(agent.promptStream("Go"));
  assertEquals(write.calls[0]?.arguments, { path: "edited" });
});

Deno.test("parent: a shared budget of the run counts each model call of the tree once", async () => {
  for (const childHasIt of [false, true]) {
    const budget = sharedBudget({ tokens: 1000 });
    const { writer } = createWriter(childHasIt ? { policies: [budget] } : {});
    const { agent } = testAgent(
      [reply([toolCall("ask", { prompt: "Go" })], { usage }), reply("Done", { usage })],
      { tools: [writer.asTool({ name: "ask", description: "" })], policies: [budget] },
    );
    const stream = agent.promptStream("Go");
    await checkEvents(stream);
    assertEquals((await stream.result()).usage.total, 28);
    assertEquals(budget.spent.usage.total, 28);
  }
});

Deno.test("parent: a shared budget of the run stops the agents below it", async () => {
  const { write, writer } = createWriter();
  const { agent } = testAgent(
    [reply([toolCall("ask", { prompt: "Go" })], { usage }), reply("Done", { usage })],
    {
      tools: [writer.asTool({ name: "ask", description: "" })],
      policies: [sharedBudget({ tokens: 14 })],
    },
  );
  const stream = agent.promptStream("Go");
  await checkEvents(stream);
  assertStringIncludes((await stream.result()).stoppedBy?.reason ?? "", "14 tokens");
  assertEquals(write.calls.length, 1);
});

Deno.test("parent: a recursion of agents ends at a depth that no useful program reaches", async () => {
  const depths: number[] = [];
  const recurse: AgentTool = defineTool({
    name: "recurse",
    description: "Starts an agent with the same tool.",
    parameters: { type: "object" },
    execute: async (_args, { run, signal }) => {
      depths.push(run.depth);
      const streamFn = scriptedStream([reply([toolCall("recurse", {})]), reply("Up")]);
      const agent = new Agent({ model: "test/model", streamFn, tools: [recurse], parent: run });
      return (await agent.prompt("Down", { signal })).text;
    },
  });
  const { agent } = testAgent([reply([toolCall("recurse", {})]), reply("Done")], {
    tools: [recurse],
  });
  await checkEvents(agent.promptStream("Go"));
  assertEquals(depths, [0, 1, 2, 3, 4, 5, 6, 7, 8]);
});

Deno.test("parent: must be the run of a tool's context", () => {
  const streamFn = scriptedStream([]);
  for (const parent of [null, 1, {}, { runId: "run_1", depth: 0, background: () => {} }]) {
    const options = { model: "test/model", streamFn, parent: parent as RunHandle };
    assertThrows(() => new Agent(options), BadRequestError, "parent must be");
  }
  const { run } = testToolContext();
  const model = { provider: "test", modelId: "model", thinkingLevel: "off" } as const;
  const context = { systemPrompt: "", messages: [], tools: [] };
  assertThrows(
    () => agentLoop([], context, { model, streamFn, parent: {} as RunHandle }),
    Error,
  );
  new Agent({ model: "test/model", streamFn, parent: run });
});

Deno.test("parent: a run that another copy of the library has created is refused when the agent runs", async () => {
  const { run } = testToolContext();
  const foreign = { ...run, tree: {} };
  const { writer, write } = createWriter({ parent: foreign });
  await assertRejects(() => writer.prompt("Go"), BadRequestError, "of this version");
  assertEquals(write.calls, []);
});

Deno.test("parent: a tool that logs or serializes its context shows no key", async () => {
  const shown: string[] = [];
  const show = defineTool({
    name: "show",
    description: "Shows its context.",
    parameters: { type: "object" },
    execute: (_args, context) => {
      shown.push(JSON.stringify(context), Deno.inspect(context, { depth: 100, getters: false }));
      return "ok";
    },
  });
  const { agent } = testAgent([reply([toolCall("show")]), reply("Done")], {
    tools: [show],
    streamOptions: { apiKey: "sk-canary" },
    systemPrompt: "canary prompt",
  });
  await checkEvents(agent.promptStream("Go"));
  assertEquals(shown.length, 2);
  assertEquals(shown.filter((text) => text.includes("canary")), []);
});

Deno.test("testToolContext(): an agent with its run as parent runs without rules", async () => {
  const { write, writer } = createWriter({ parent: testToolContext().run });
  assertEquals((await writer.prompt("Go")).text, "Written");
  assertEquals(write.calls.length, 1);
});

Deno.test("parent: an agent that is refused emits no event, since it would have no end", async () => {
  let tools: readonly AgentTool[] = [];
  const call = () => [reply([toolCall("ask", { prompt: "Go" })]), reply("Done")];
  for (let level = 0; level < 9; level++) {
    const { agent } = testAgent(call(), { tools });
    tools = [agent.asTool({ name: "ask", description: "" })];
  }
  const { agent } = testAgent(call(), { tools });
  const events = await checkEvents(agent.promptStream("Go"), { checksSubAgents: true });
  const inner = events.flatMap((event) => event.type === "sub_agent" ? event.event : []);
  const starts = inner.filter(({ type }) => type === "agent_start");
  const ends = inner.filter(({ type }) => type === "agent_end");
  assertEquals([starts.length, ends.length], [8, 8]);

  const foreign = { ...testToolContext().run, tree: {} };
  const { writer } = createWriter({ parent: foreign });
  const seen: string[] = [];
  writer.subscribe(({ type }) => seen.push(type));
  await assertRejects(() => writer.prompt("Go"), BadRequestError);
  assertEquals([seen, writer.state.isRunning], [[], false]);
});
