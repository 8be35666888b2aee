/**
 * Type tests: the context of an agent or a run must be one that its tools accept. The type checker makes the assertions.
 *
 * @module
 */

import {
  Agent,
  agentLoop,
  type AgentOptions,
  type AgentTool,
  type Approve,
  defineTool,
  modelSpec,
  type RunOptions,
  type ToolContext,
} from "../../mod.ts";
import type { AgentContext, AgentLoopConfig } from "../../src/loop/mod.ts";
import { scriptedStream } from "../../src/testing/mod.ts";
import { approvalGate, codingTools, planMode } from "../../src/tools/mod.ts";
import { createPlanExecutor, createPlanMode, planFile } from "../../src/tools/plan/mod.ts";

interface User {
  readonly user: string;
}

interface Clock {
  readonly now: () => number;
}

const definition = { description: "", parameters: { type: "object" } } as const;
const plain = defineTool({ ...definition, name: "plain", execute: () => "" });
const greet = defineTool({
  ...definition,
  name: "greet",
  execute: (_args, { context }: ToolContext<User>) => `Hello, ${context.user}!`,
});
const readClock = defineTool({
  ...definition,
  name: "read_clock",
  execute: (_args, { context }: ToolContext<Clock>) => context.now(),
});
const clock: Clock = { now: () => 0 };
const options = { model: "any/model", streamFn: scriptedStream([]) };

/** Code that only the type checker reads, since its runs would fail. */
function onlyChecked(_code: () => unknown): void {}

Deno.test("context of an agent: must be one that all tools accept", () => {
  new Agent({ ...options, tools: [plain, greet], context: { user: "ada" } });
  new Agent({ ...options, tools: [greet, readClock], context: { user: "ada", ...clock } });
  new Agent({ ...options, tools: [...codingTools(), greet], context: { user: "ada", more: 1 } });
  // @ts-expect-error: `user` is missing
  new Agent({ ...options, tools: [plain, greet], context: {} });
  // @ts-expect-error: `user` is no string
  new Agent({ ...options, tools: [...codingTools(), greet], context: { user: 5 } });
  // @ts-expect-error: `now` is missing
  new Agent({ ...options, tools: [greet, readClock], context: { user: "ada" } });
});

Deno.test("context of an agent: may be anything without tools that expect one", () => {
  new Agent({ ...options, context: 5 });
  new Agent({ ...options, tools: [], context: 5 });
  new Agent({ ...options, tools: [plain, ...codingTools()], context: 5 });
  const given: AgentOptions = { ...options, tools: [plain], context: "any" };
  new Agent(given);
});

Deno.test("context of a run: must be one that the tools of the agent and of the run accept", () => {
  const agent = new Agent({ ...options, tools: [plain, greet] });
  onlyChecked(() => agent.prompt("Hi", { context: { user: "ada" } }));
  onlyChecked(() => agent.continueStream({ context: { user: "ada", more: 1 } }));
  onlyChecked(() =>
    agent.prompt("Hi", { tools: [plain, readClock], context: { user: "", ...clock } })
  );
  // @ts-expect-error: `user` is no string
  onlyChecked(() => agent.prompt("Hi", { context: { user: 5 } }));
  // @ts-expect-error: `user` is missing
  onlyChecked(() => agent.structuredOutput("Hi", { type: "object" }, { context: clock }));
  // @ts-expect-error: `now` is missing
  onlyChecked(() => agent.promptStream("Hi", { tools: [readClock], context: { user: "ada" } }));
});

Deno.test("context of a run: may be anything without tools that expect one", () => {
  const agent = new Agent({ ...options, tools: [plain] });
  const given: RunOptions = { maxTurns: 1, context: 5 };
  onlyChecked(() => agent.prompt("Hi", given));
  onlyChecked(() => agent.prompt("Hi", { context: { user: 5 } }));
  onlyChecked(() => agent.prompt("Hi", { tools: [greet], context: { user: "ada" } }));
  // @ts-expect-error: `user` is no string
  onlyChecked(() => agent.prompt("Hi", { tools: [greet], context: { user: 5 } }));
});

Deno.test("Agent: one with tools that expect a context is an Agent, and a list of tools keeps the type", () => {
  const agent = new Agent({ ...options, tools: planMode([plain, greet]) });
  // @ts-expect-error: `user` is no string
  onlyChecked(() => agent.prompt("Hi", { context: { user: 5 } }));
  const agents: Agent[] = [agent, new Agent({ ...options, tools: [readClock] })];
  agents[0]?.setTools([greet, readClock, plain]);
  const tools: AgentTool<User>[] = [plain, greet];
  new Agent({ ...options, tools, context: { user: "ada" } });
});

Deno.test("asTool(): expects the context that the tools of the agent accept", () => {
  const inner = new Agent({ ...options, tools: [greet] });
  const outer = [inner.asTool({ name: "inner", description: "Greets." }), plain];
  new Agent({ ...options, tools: outer, context: { user: "ada" } });
  // @ts-expect-error: `user` is no string
  new Agent({ ...options, tools: outer, context: { user: 5 } });
});

Deno.test("createPlanExecutor(): the context must be one that all tools accept", () => {
  const file = planFile("plan.md");
  createPlanMode({ tools: [plain, greet] });
  createPlanExecutor({ file, agent: { ...options, tools: [greet], context: { user: "ada" } } });
  // @ts-expect-error: `user` is no string
  createPlanExecutor({ file, agent: { ...options, tools: [greet], context: { user: 5 } } });
});

Deno.test("agentLoop(): the context must be one that all tools accept", () => {
  const context: AgentContext<AgentTool<User>> = { systemPrompt: "", messages: [], tools: [greet] };
  const config: Omit<AgentLoopConfig, "context"> = {
    model: modelSpec("any/model"),
    streamFn: scriptedStream([]),
  };
  onlyChecked(() => agentLoop([], context, { ...config, context: { user: "ada" } }));
  // @ts-expect-error: `user` is no string
  onlyChecked(() => agentLoop([], context, { ...config, context: { user: 5 } }));
});

Deno.test("approve: has the context that the tools accept", () => {
  const approveAda: Approve<User> = ({ context }) => context.user === "ada";
  const approveAll: Approve = () => true;
  new Agent({
    ...options,
    tools: [greet, plain],
    approve: ({ context }) => context.user === "ada",
  });
  new Agent({
    ...options,
    tools: [greet, readClock],
    approve: ({ context }) => context.user === "ada" && context.now() > 0,
  });
  new Agent({ ...options, tools: [greet], approve: approveAda });
  new Agent({ ...options, tools: [greet], approve: approveAll });
  new Agent({ ...options, tools: [greet], approve: approvalGate() });
  const typed: AgentOptions<AgentTool<User>> = { ...options, tools: [greet], approve: approveAda };
  const agents: Agent[] = [new Agent(typed)];
  // @ts-expect-error: the context of the tools has no `user`
  agents.push(new Agent({ ...options, tools: [readClock], approve: approveAda }));
  // @ts-expect-error: without tools the type of the context is not known
  agents.push(new Agent({ ...options, approve: approveAda }));
});
