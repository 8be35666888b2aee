import { assertEquals, assertStringIncludes, assertThrows } from "@std/assert";
import { Agent } from "../agent/agent.ts";
import type { AgentOptions } from "../agent/options.ts";
import { BadRequestError } from "../core/errors/errors.ts";
import type { AgentEvent } from "../core/events/event.ts";
import type { ExplainedCall } from "../core/hooks/approve.ts";
import { extractText } from "../core/messages/content.ts";
import { userMessage } from "../core/messages/message.ts";
import { defineTool } from "../core/tools/tool.ts";
import { checkEvents } from "../testing/event_grammar.ts";
import { fakeTool } from "../testing/fake_tool.ts";
import { toolCall } from "../testing/messages.ts";
import { fail, hang, reply, type ScriptedStep } from "../testing/script.ts";
import { type ScriptedStream, scriptedStream } from "../testing/scripted_stream.ts";
import { testToolContext } from "../testing/test_tool_context.ts";
import type { SubAgentToolOptions } from "./sub_agent_options.ts";
import { subAgentTool } from "./sub_agent_tool.ts";

const usage = { input: 3, output: 4, cacheRead: 0, cacheWrite: 0, total: 7 };
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

function readResults(agent: Agent): string[] {
  return agent.state.messages.flatMap((message) =>
    message.role === "tool_result" ? extractText(message.content) : []
  );
}

function listWarnings(events: readonly AgentEvent[]): string[] {
  return events.flatMap((event) =>
    event.type === "sub_agent" && event.event.type === "warning" ? event.event.message : []
  );
}

Deno.test("subAgentTool(): runs an agent with its own history on the model of the run; its last reply is the result", async () => {
  const look = fakeTool({ name: "look", readOnly: true });
  const { agent, streamFn } = createAgent(
    [
      reply([start("Find main()")], { usage }),
      reply([toolCall("look", {})], { usage }),
      reply("It is in a.ts", { usage }),
      reply("main() is in a.ts", { usage }),
    ],
    {},
    { tools: [look], systemPrompt: "You are the boss", model: "test/boss:high" },
  );
  const stream = agent.promptStream("Where is main()?");
  await checkEvents(stream);
  const result = await stream.result();
  assertEquals(readResults(agent), ["It is in a.ts"]);
  assertEquals(result.usage.total, 28);
  const [, child] = streamFn.calls;
  assertEquals(child?.model, { provider: "test", modelId: "boss", thinkingLevel: "high" });
  assertEquals(child?.context.messages.length, 1);
  assertStringIncludes(child?.context.systemPrompt ?? "", "Your last reply is your report");
});

Deno.test("subAgentTool(): model, stream function, system prompt and options of its own replace those of the run", async () => {
  const own = scriptedStream([reply("Seen")]);
  const { agent } = createAgent(
    [reply([start()]), reply("Done")],
    {
      model: "other/small",
      streamFn: own,
      systemPrompt: "You look",
      streamOptions: { maxTokens: 10 },
    },
    { streamOptions: { temperature: 1, sessionId: "parent" } },
  );
  await agent.prompt("Go");
  const [call] = own.calls;
  assertEquals(call?.model.modelId, "small");
  assertEquals(call?.context.systemPrompt, "You look");
  assertEquals(call?.options, { maxTokens: 10 });
});

Deno.test("subAgentTool(): the stream options of the run apply, apart from those of its conversation and its reply", async () => {
  const own = { sessionId: "parent", responseSchema: { type: "object" } };
  const { agent, streamFn } = createAgent(
    [reply([start()]), reply("Seen"), reply("Done")],
    { streamOptions: { maxTokens: 10 } },
    { streamOptions: { temperature: 1, ...own, toolChoice: "required" } },
  );
  await agent.prompt("Go");
  assertEquals(streamFn.calls.map(({ options }) => options), [
    { temperature: 1, ...own, toolChoice: "required" },
    { temperature: 1, maxTokens: 10 },
    { temperature: 1, ...own },
  ]);
});

Deno.test("subAgentTool(): offers the tools of the run that are wanted, and reports those that the run does not have", async () => {
  const read = fakeTool({ name: "read", readOnly: true });
  const write = fakeTool({ name: "write" });
  const impostor = fakeTool({ name: "read" });
  const cases: [Partial<SubAgentToolOptions>, string[], number][] = [
    [{}, ["read", "write"], 0],
    [{ tools: ["read"] }, ["read"], 0],
    [{ tools: [write] }, ["write"], 0],
    [{ tools: [impostor, "write", "other"] }, ["write"], 1],
    [{ tools: [] }, [], 0],
    [{ readOnly: true }, ["read"], 0],
    [{ readOnly: true, tools: ["write"] }, [], 0],
  ];
  for (const [own, offered, warnings] of cases) {
    const { agent, streamFn } = createAgent(
      [reply([start()]), reply("Seen"), reply("Done")],
      own,
      { tools: [read, write] },
    );
    const events = await checkEvents(agent.promptStream("Go"));
    assertEquals(streamFn.calls[1]?.context.tools.map(({ name }) => name), offered);
    assertEquals(listWarnings(events).length, warnings);
    if (warnings > 0) assertStringIncludes(listWarnings(events)[0] ?? "", "read, other");
  }
});

Deno.test("subAgentTool(): a tool that a policy adds to its requests does not run", async () => {
  const secret = fakeTool({ name: "secret" });
  const { agent } = createAgent(
    [reply([start()]), reply([toolCall("secret", {})]), reply("Seen"), reply("Done")],
    { policies: [{ name: "adds", preRequest: () => ({ type: "change", tools: [secret] }) }] },
  );
  await agent.prompt("Go");
  assertEquals(secret.calls, []);
});

Deno.test("subAgentTool(): a tool with the name of one of the run's, with which a policy replaces it, does not run", async () => {
  const look = fakeTool({ name: "look" });
  const impostor = fakeTool({ name: "look" });
  const { agent } = createAgent(
    [reply([start()]), reply([toolCall("look", {})]), reply("Seen"), reply("Done")],
    { policies: [{ name: "swaps", preRequest: () => ({ type: "change", tools: [impostor] }) }] },
    { tools: [look] },
  );
  await agent.prompt("Go");
  assertEquals([look.calls, impostor.calls], [[], []]);
});

Deno.test("subAgentTool(): the policies of the run refuse calls, after the arguments that its own policies write", async () => {
  const write = fakeTool({ name: "write" });
  const { agent } = createAgent(
    [reply([start()]), reply([toolCall("write", { path: "a" })]), reply("Seen"), reply("Done")],
    {
      policies: [{
        name: "redirects",
        preDispatch: ({ arguments: args }) => {
          args["path"] = "secret";
        },
      }],
    },
    {
      tools: [write],
      policies: [{
        name: "no_secrets",
        preDispatch: ({ arguments: args }) =>
          args["path"] === "secret" ? { type: "skip", reason: "secret" } : undefined,
      }],
    },
  );
  await agent.prompt("Go");
  assertEquals(write.calls, []);
});

Deno.test("subAgentTool(): policies of the run stop it and replace results, but change and add nothing", async () => {
  const seen: string[] = [];
  const { agent, streamFn } = createAgent(
    [reply([start()]), reply([toolCall("read", {})]), reply("Seen"), reply("Done")],
    {},
    {
      tools: [fakeTool({ name: "read", result: "token 42", readOnly: true })],
      policies: [{
        name: "all_hooks",
        preTurn: ({ runId }) => {
          seen.push(`preTurn ${runId}`);
          return { type: "inject", messages: [userMessage("injected", 0)] };
        },
        preRequest: () => Promise.resolve({ type: "change", systemPrompt: "changed" } as const),
        postDispatch: ({ tool }) =>
          tool.name === "read" ? { content: [{ type: "text", text: "token ***" }] } : undefined,
        postLoop: ({ runId }) => void seen.push(`postLoop ${runId}`),
      }],
      newId: (() => {
        let next = 0;
        return (kind: string) => `${kind}_${++next}`;
      })(),
    },
  );
  await agent.prompt("Go");
  const [parent, child, second] = streamFn.calls;
  assertEquals(parent?.context.systemPrompt, "changed");
  assertStringIncludes(child?.context.systemPrompt ?? "", "Your last reply");
  assertEquals(child?.context.messages.length, 1);
  assertStringIncludes(JSON.stringify(second?.context.messages), "token ***");
  assertEquals(seen.filter((line) => line.startsWith("postLoop")).length, 2);
});

Deno.test("subAgentTool(): a stop of the run's policies ends it, and the result has the reason", async () => {
  const { agent } = createAgent(
    [reply([start()]), reply([toolCall("explore", {})]), reply("Done")],
    {},
    {
      policies: [{
        name: "one_turn",
        preTurn: ({ messages: [prompt], turn }) =>
          turn === 1 && JSON.stringify(prompt).includes("Look")
            ? { type: "stop", reason: "enough" }
            : undefined,
      }],
    },
  );
  await agent.prompt("Go");
  assertEquals(readResults(agent), ["The agent did not finish: enough"]);
});

Deno.test("subAgentTool(): starting needs no approval, and a call that a person would be asked about is denied", async () => {
  const read = fakeTool({ name: "read", readOnly: true });
  const write = fakeTool({ name: "write" });
  const asked: string[] = [];
  const { agent } = createAgent(
    [
      reply([start(), toolCall("write", {})]),
      reply([toolCall("read", {}), toolCall("write", {})]),
      reply("Seen"),
      reply("Done"),
    ],
    {},
    {
      tools: [read, write],
      approvalMode: "smart",
      approve: ({ name }) => {
        asked.push(name);
        return true;
      },
    },
  );
  const events = await checkEvents(agent.promptStream("Go"));
  assertEquals(asked, ["write"]);
  assertEquals([read.calls.length, write.calls.length], [1, 1]);
  const denial = events.findLast((event) =>
    event.type === "sub_agent" && event.event.type === "tool_execution_end" && event.event.isError
  );
  assertStringIncludes(JSON.stringify(denial), "needs the approval of a person");
});

Deno.test("subAgentTool(): an approval that explains itself decides as it would without asking", async () => {
  const tools = ["allowed", "asked", "denied"].map((name) => fakeTool({ name }));
  const approve = Object.assign(() => true, {
    explain: ({ name }: { name: string }) => {
      if (name === "asked") {
        return Promise.resolve({ decision: { type: "asked", reason: "by rule" } as const });
      }
      const decision = name === "allowed"
        ? { type: "approved", rule: "allowed" } as const
        : { type: "denied", reason: "never" } as const;
      return Promise.resolve({ decision });
    },
  });
  const { agent } = createAgent(
    [
      reply([start()]),
      reply(tools.map(({ name }) => toolCall(name, {}))),
      reply("Seen"),
      reply("Done"),
    ],
    {},
    { tools, approve },
  );
  const events = await checkEvents(agent.promptStream("Go"));
  assertEquals(tools.map(({ calls }) => calls.length), [1, 0, 0]);
  const decisions = events.flatMap((event) =>
    event.type === "sub_agent" && event.event.type === "tool_approval_resolved"
      ? JSON.stringify(event.event.decision)
      : []
  );
  assertEquals(decisions[0], '{"type":"approved","rule":"allowed"}');
  assertStringIncludes(decisions[1] ?? "", "by rule");
  assertStringIncludes(decisions[2] ?? "", "never");
});

Deno.test("subAgentTool(): an approval that fails or explains nothing denies", async () => {
  for (
    const explain of [() => Promise.reject(new Error("broken")), () => Promise.resolve({})] as const
  ) {
    const write = fakeTool({ name: "write" });
    const { agent } = createAgent(
      [reply([start()]), reply([toolCall("write", {})]), reply("Seen"), reply("Done")],
      {},
      { tools: [write], approve: Object.assign(() => true, { explain }) },
    );
    await agent.prompt("Go");
    assertEquals(write.calls, []);
  }
});

Deno.test("subAgentTool(): sub-agents start sub-agents only down to maxDepth", async () => {
  for (const [maxDepth, levels] of [[0, 0], [1, 1], [2, 2], [3, 3]] as const) {
    const own = maxDepth === 1 ? {} : { maxDepth };
    const { agent, streamFn } = createAgent(
      [reply([start()]), reply([start()]), reply([start()]), reply([start()]), reply("End")],
      own,
      { maxTurns: 1 },
    );
    await agent.prompt("Go");
    assertEquals(streamFn.calls.length, levels + 1);
    const offered = streamFn.calls.map(({ context }) => context.tools.length);
    assertEquals(offered, [1, ...Array.from({ length: levels }, (_, n) => n + 1 < levels ? 1 : 0)]);
  }
});

Deno.test("subAgentTool(): at most maxAgents run below one run, also when they start together", async () => {
  const { agent } = createAgent(
    [reply([start(), start(), start()]), reply("1"), reply("2"), reply("Done")],
    { maxAgents: 2 },
  );
  await agent.prompt("Go");
  assertEquals(readResults(agent).toSorted(), [
    "1",
    "2",
    "The agent was not started: at most 2 agents may be started",
  ]);
});

Deno.test("subAgentTool(): is cancelled with the run, and a failure is an error result", async () => {
  const controller = new AbortController();
  const { agent, streamFn } = createAgent([reply([start()]), hang()]);
  const events = agent.promptStream("Go", { signal: controller.signal });
  for await (const event of events) {
    if (event.type === "sub_agent" && event.event.type === "model_call_start") controller.abort();
  }
  assertEquals((await events.result()).stopReason, "aborted");
  assertEquals(streamFn.calls[1]?.signal.aborted, true);

  const failing = createAgent([reply([start()]), fail("bad_request", "refused"), reply("Done")]);
  await failing.agent.prompt("Go");
  assertStringIncludes(readResults(failing.agent)[0] ?? "", "The agent did not finish");
});

Deno.test("subAgentTool(): the context of the run reaches its tools", async () => {
  const seen: unknown[] = [];
  const read = defineTool({
    name: "read",
    description: "Reads.",
    parameters: { type: "object" },
    readOnly: true,
    execute: (_args, { context, run }) => {
      seen.push([context, run.depth]);
      return "ok";
    },
  });
  const { agent } = createAgent(
    [
      reply([start(), toolCall("read", {})]),
      reply([toolCall("read", {})]),
      reply("Seen"),
      reply("Done"),
    ],
    {},
    { tools: [read] },
  );
  await agent.prompt("Go", { context: "user 1" });
  assertEquals(seen, [["user 1", 0], ["user 1", 1]]);
});

Deno.test("subAgentTool(): does not get the tool of a structured answer", async () => {
  const { agent, streamFn } = createAgent([
    reply([start()]),
    reply("Seen"),
    reply([toolCall("structured_output", { n: 1 })]),
  ]);
  const schema = { type: "object", properties: { n: { type: "number" } } } as const;
  await agent.structuredOutput("Go", schema);
  assertEquals(streamFn.calls[1]?.context.tools, []);
});

Deno.test("subAgentTool(): refuses options that are unknown or invalid", () => {
  const valid = { name: "explore", description: "" };
  const invalid = [
    undefined,
    { description: "" },
    { ...valid, tool: [] },
    { ...valid, model: "no-provider" },
    { ...valid, tools: "read" },
    { ...valid, tools: [1] },
    { ...valid, tools: [null] },
    { ...valid, readOnly: "yes" },
    { ...valid, background: 1 },
    { ...valid, maxDepth: NaN },
    { ...valid, maxAgents: -1 },
  ];
  for (const options of invalid) {
    assertThrows(() => subAgentTool(options as SubAgentToolOptions), BadRequestError);
  }
});

Deno.test("subAgentTool(): is an error result where the run is not of this process", async () => {
  const tool = subAgentTool({ name: "explore", description: "" });
  const run = { runId: "run_1", depth: 0, background: () => {} };
  const result = await tool.execute({ prompt: "Go" }, testToolContext({ run }));
  assertEquals(typeof result === "object" && result.isError, true);
});

Deno.test("sub-agents: arguments that the agent's own approval has edited are decided about by that of the run", async () => {
  for (const [path, expected] of [["public", 1], ["secret", 0]] as const) {
    const write = fakeTool({ name: "write" });
    const approve = () => ({ type: "approved", arguments: { path } }) as const;
    const child = new Agent({
      model: "test/model",
      tools: [write],
      approve,
      streamFn: scriptedStream([reply([toolCall("write", { path: "asked" })]), reply("Done")]),
    });
    const explain = ({ arguments: args }: ExplainedCall) =>
      Promise.resolve({
        decision: args["path"] === "secret"
          ? { type: "denied", reason: "no" } as const
          : { type: "approved" } as const,
      });
    const agent = new Agent({
      model: "test/model",
      tools: [child.asTool({ name: "child", description: "Writes." })],
      approve: Object.assign(() => true, { explain }),
      streamFn: scriptedStream([reply([toolCall("child", { prompt: "Go" })]), reply("End")]),
    });
    await agent.prompt("Go");
    assertEquals(write.calls.length, expected);
  }
});
