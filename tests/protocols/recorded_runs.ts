/**
 * Runs whose events are mapped to every protocol. Clock, ids and model are deterministic, so that each run emits the same
 * events every time.
 *
 * @module
 */

import {
  Agent,
  type AgentEvent,
  type AgentMessage,
  type AgentOptions,
  type AgentTool,
  modelSpec,
  textResult,
} from "../../mod.ts";
import { subAgentTool } from "../../src/sub_agents/mod.ts";
import { telemetry } from "../../src/telemetry/mod.ts";
import { fail, fakeTool, hang, reply, scriptedStream, toolCall } from "../../src/testing/mod.ts";
import { createPlanMode } from "../../src/tools/plan/mod.ts";
import { FakeTracing } from "./fake_tracing.ts";

/** A run. */
interface RunScript {
  /** The options of the agent but its model. */
  readonly options: (ports: Ports) => Omit<AgentOptions, "model">;
  /** Called with each event. Default: nothing is done. */
  readonly onEvent?: (event: AgentEvent, agent: Agent) => void;
  /** Continues the agent after its prompt. Default: it is not continued. */
  readonly then?: (agent: Agent) => ReadableStream<AgentEvent>;
}

type Ports = Pick<AgentOptions, "now" | "sleep" | "newId" | "random">;

const usage = { input: 10, output: 5, cacheRead: 100, cacheWrite: 20, total: 135 };

function edit() {
  const change = { path: "a.ts", before: "1\n", after: "2\n" };
  return fakeTool({
    name: "edit_file",
    result: { content: [{ type: "text", text: "Edited a.ts" }], details: { change } },
  });
}

/** A tool that runs an agent, whose run has every type of event, and passes its events on. */
function delegate(ports: Ports): AgentTool {
  const look = fakeTool({
    name: "look",
    result: (_args, { onUpdate }) => {
      onUpdate("Looking");
      return "Nothing";
    },
  });
  const explore = subAgentTool({ name: "explore", description: "Looks around.", maxDepth: 2 });
  return {
    ...fakeTool({ name: "delegate" }),
    async execute(_args, { run, onEvent, signal }) {
      const child = new Agent({
        ...ports,
        model: "test/model",
        parent: run,
        tools: [edit(), look, explore],
        approve: ({ name }) => name !== "edit_file",
        policies: [{
          name: "broken",
          postTurn: () => {
            throw new Error("The policy is broken");
          },
        }],
        retry: ({ attempt }) => attempt < 2 ? 500 : null,
        fallback: [{ model: modelSpec("other/model") }],
        transformContext: (messages) => ({
          messages,
          report: { droppedCount: 0, tokensBefore: 100, tokensAfter: 50 },
        }),
        streamFn: scriptedStream([
          fail("network_error", "The connection was reset", {
            after: [{ type: "thinking", thinking: "Half a thought" }],
          }),
          fail("network_error", "The connection was reset", { after: "Half a" }),
          reply([
            { type: "thinking", thinking: "I delegate." },
            { type: "text", text: "I try." },
            toolCall("edit_file", { path: "a.ts" }, { id: "c1" }),
            toolCall("look", {}, { id: "c2" }),
            toolCall("explore", { prompt: "Look" }, { id: "c3" }),
          ], { usage }),
          reply([toolCall("look", {}, { id: "c1" })], { usage }),
          reply("It has looked.", { usage }),
          reply("Only the first.", { usage }),
        ]),
      });
      child.subscribe((event) => {
        if (event.type !== "tool_execution_end" || event.name !== "explore") return;
        child.emitCustom("step", { done: 1 });
        child.setThinkingLevel("high");
        child.steer("Faster");
      });
      for await (const event of child.promptStream("Work", { signal })) await onEvent(event);
      return textResult("It has worked.");
    },
  };
}

/** The runs, by name. */
export const RUNS: Readonly<Record<string, RunScript>> = {
  text: { options: () => ({ streamFn: scriptedStream([reply("Hello Ada.", { usage })]) }) },
  thinking: {
    options: () => ({
      streamFn: scriptedStream([
        reply([
          { type: "thinking", thinking: "The user greets." },
          { type: "text", text: "Hello." },
        ]),
      ]),
    }),
  },
  parallel_tools: {
    options: () => ({
      tools: [
        edit(),
        fakeTool({
          name: "weather",
          result: (_args, { onUpdate }) => {
            onUpdate("Looking");
            return "Sunny";
          },
        }),
      ],
      streamFn: scriptedStream([
        reply([
          { type: "text", text: "I do both." },
          toolCall("edit_file", { path: "a.ts" }, { id: "c1" }),
          toolCall("weather", { city: "Bern" }, { id: "c2" }),
        ], { usage }),
        reply("Both are done.", { usage }),
      ]),
    }),
  },
  approval: {
    options: () => ({
      tools: [edit(), fakeTool({ name: "delete_all" })],
      approve: ({ name }) =>
        name === "edit_file"
          ? { type: "approved", origin: "person" }
          : { type: "denied", reason: "too dangerous", origin: "person" },
      streamFn: scriptedStream([
        reply([
          toolCall("edit_file", { path: "a.ts" }, { id: "c1" }),
          toolCall("delete_all", {}, { id: "c2" }),
        ]),
        reply("One of them."),
      ]),
    }),
  },
  pending_approval: {
    options: () => ({
      tools: [edit()],
      approve: () => ({ type: "pending" }),
      streamFn: scriptedStream([
        reply([toolCall("edit_file", { path: "a.ts" }, { id: "c1" })]),
        reply("Done."),
      ]),
    }),
    then: (agent) => agent.continueStream({ approvals: { c1: { type: "approved" } } }),
  },
  abort: {
    options: () => ({ streamFn: scriptedStream([hang({ after: "I begin" })]) }),
    onEvent: ({ type }, agent) => {
      if (type === "message_update") agent.abort("the user");
    },
  },
  retry: {
    options: () => ({
      retry: ({ attempt }) => attempt < 2 ? 500 : null,
      streamFn: scriptedStream([
        fail("network_error", "The connection was reset", { after: "Half a" }),
        reply("A whole reply.", { usage }),
      ]),
    }),
  },
  fallback: {
    options: () => ({
      retry: () => null,
      fallback: [{ model: modelSpec("other/model") }],
      streamFn: scriptedStream([
        fail("model_throttled", "Too many requests"),
        reply("From the other model.", { usage }),
      ]),
    }),
  },
  sub_agents: {
    options: () => ({
      tools: [subAgentTool({ name: "explore", description: "Looks around." }), edit()],
      streamFn: scriptedStream([
        reply([toolCall("explore", { prompt: "Look" }, { id: "c1" })], { usage }),
        reply([toolCall("edit_file", { path: "a.ts" }, { id: "c2" })], { usage }),
        reply("The agent has edited it.", { usage }),
        reply("It is edited.", { usage }),
      ]),
    }),
  },
  nested_agents: {
    options: (ports) => ({
      tools: [delegate(ports)],
      streamFn: scriptedStream([
        reply([toolCall("delegate", {}, { id: "c1" })], { usage }),
        fail("model_throttled", "Too many requests", { after: "It" }),
        reply("It is done.", { usage }),
      ]),
    }),
  },
  plan: {
    options: () => {
      const mode = createPlanMode();
      const tool = fakeTool({ name: "look", readOnly: true, result: "Nothing" });
      return {
        policies: [mode],
        tools: [tool],
        streamFn: scriptedStream([reply([toolCall("look", {}, { id: "c1" })]), reply("Planned.")]),
      };
    },
    onEvent: ({ type }, agent) => {
      if (type !== "tool_execution_end") return;
      agent.emitCustom("plan_created", { plan: "# Do it", steps: ["Look", "Write"] });
      agent.emitCustom("plan_step", { step: 0, state: "complete" });
    },
  },
  error: {
    options: () => ({
      retry: () => null,
      streamFn: scriptedStream([fail("auth_error", "The key is invalid", { after: "Let" })]),
    }),
  },
  limits: {
    options: () => ({
      maxTurns: 1,
      tools: [fakeTool({ name: "look", result: "Nothing" })],
      streamFn: scriptedStream([reply([toolCall("look", {}, { id: "c1" })])]),
    }),
  },
  queues: {
    options: () => ({
      tools: [fakeTool({ name: "look", result: "Nothing" })],
      streamFn: scriptedStream([
        reply([toolCall("look", {}, { id: "c1" })]),
        reply("I have read it."),
        reply("And that."),
      ]),
    }),
    onEvent: (event, agent) => {
      if (event.type === "tool_execution_end") agent.steer("Also this");
      if (event.type === "message_end" && event.message.role === "tool_result") {
        agent.followUp("And that");
        agent.setThinkingLevel("high");
      }
    },
  },
  compaction: {
    options: () => ({
      transformContext: (messages) => ({
        messages: messages.slice(-1),
        report: { droppedCount: 1, tokensBefore: 100, tokensAfter: 50 },
      }),
      policies: [{
        name: "broken",
        postTurn: () => {
          throw new Error("The policy is broken");
        },
      }],
      streamFn: scriptedStream([reply("Short.")]),
    }),
  },
};

/** A recorded run. */
export interface RecordedRun {
  /** The events, in order. */
  readonly events: readonly AgentEvent[];
  /** The history at the end. */
  readonly messages: readonly AgentMessage[];
  /** The spans of the run, one line each. */
  readonly spans: readonly object[];
}

/** Runs a script. */
export async function recordRun({ options, onEvent, then }: RunScript): Promise<RecordedRun> {
  let time = Date.UTC(2026, 0, 2);
  let ids = 0;
  const ports: Ports = {
    now: () => time += 10,
    sleep: () => Promise.resolve(),
    newId: (kind) => `${kind}-${++ids}`,
    random: () => 0.5,
  };
  const agent = new Agent({ model: "test/model", ...ports, ...options(ports) });
  const tracing = new FakeTracing();
  const { observe } = await telemetry({ api: tracing.api, agentName: "helper" });
  observe(agent);
  const events: AgentEvent[] = [];
  agent.subscribe((event) => onEvent?.(event, agent));
  for await (const event of agent.promptStream("Hello")) events.push(event);
  if (then) { for await (const event of then(agent)) events.push(event); }
  return { events, messages: agent.state.messages, spans: tracing.spans };
}
