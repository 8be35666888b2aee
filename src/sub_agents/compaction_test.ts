import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { Agent } from "../agent/agent.ts";
import type { TransformContext } from "../core/context/context.ts";
import type { AgentEvent } from "../core/events/event.ts";
import { extractText } from "../core/messages/content.ts";
import { estimateTokens } from "../core/streams/tokens.ts";
import { composeTransforms } from "../memory/context/compose_transforms.ts";
import { summarize } from "../memory/context/summarize.ts";
import { fakeTool } from "../testing/fake_tool.ts";
import { toolCall } from "../testing/messages.ts";
import { fail, reply, type ScriptedStep } from "../testing/script.ts";
import { type ScriptedStream, scriptedStream } from "../testing/scripted_stream.ts";
import type { SubAgentToolOptions } from "./sub_agent_options.ts";
import { subAgentTool } from "./sub_agent_tool.ts";

const CONTEXT_WINDOW = 4_000;
const read = fakeTool({ name: "read", readOnly: true, result: "line ".repeat(500) });

/** Reads ten times, then replies; writes a summary for a request without tools. Refuses requests that are too long. */
const readTenTimes: ScriptedStep = ({ context: { messages, tools } }) => {
  const input = messages.map((message) => estimateTokens(message)).reduce((sum, n) => sum + n, 0);
  if (input > CONTEXT_WINDOW) return fail("context_window_overflow", `${input} tokens`);
  const usage = { input, output: 0, cacheRead: 0, cacheWrite: 0, total: input };
  if (!tools?.length) return reply("A summary", { usage });
  const numbers = messages.flatMap((message) => message.role === "assistant" ? message.content : [])
    .flatMap((block) => block.type === "tool_call" ? Number(block.arguments["number"]) : []);
  const number = Math.max(0, ...numbers) + 1;
  if (number > 10) return reply("Read", { usage });
  return reply([toolCall("read", { number })], { usage });
};

const createSteps = (): ScriptedStep[] => Array.from({ length: 80 }, () => readTenTimes);

function countCompactions(events: readonly AgentEvent[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const event of events) {
    if (event.type !== "sub_agent" || event.event.type !== "context_compacted") continue;
    const path = event.path.join();
    counts[path] = (counts[path] ?? 0) + 1;
  }
  return counts;
}

async function promptAll(agent: Agent): Promise<{ events: AgentEvent[]; results: string }> {
  const events: AgentEvent[] = [];
  agent.subscribe((event) => void events.push(event));
  const { messages } = await agent.prompt("Start");
  const results = messages.filter(({ role }) => role === "tool_result");
  return { events, results: JSON.stringify(results) };
}

function countOverflows(events: readonly AgentEvent[]): number {
  return events.filter((event) =>
    event.type === "sub_agent" && event.event.type === "model_call_end" && event.event.error
  ).length;
}

for (const isComposed of [false, true]) {
  Deno.test(`asTool(): compacts the histories of agents that run side by side one by one, composed: ${isComposed}`, async () => {
    const streamFn = scriptedStream(createSteps());
    const compaction = summarize({ streamFn, contextWindow: CONTEXT_WINDOW, keepSteps: 1 });
    const expert = new Agent({
      model: "test/expert",
      streamFn,
      tools: [read],
      transformContext: isComposed
        ? composeTransforms((messages) => messages, compaction)
        : compaction,
    });
    const calls = ["a", "b", "c"].map((prompt) => toolCall("expert", { prompt }));
    const agent = new Agent({
      model: "test/model",
      streamFn: scriptedStream([reply(calls), reply("Done")]),
      tools: [expert.asTool({ name: "expert", description: "Reads." })],
    });

    const { events } = await promptAll(agent);

    const counts = countCompactions(events);
    assertEquals(Object.keys(counts).length, 3);
    assertEquals(new Set(Object.values(counts)).size, 1, JSON.stringify(counts));
    assertEquals(countOverflows(events), 0);
    assertEquals(compaction.cut, undefined);
  });
}

/** An agent whose sub-agent reads more than its context window has. */
function createAgent(
  createTransform: (streamFn: ScriptedStream) => TransformContext,
  own: Partial<SubAgentToolOptions> = {},
): Agent {
  const summaries = scriptedStream(createSteps());
  return new Agent({
    model: "test/model",
    streamFn: scriptedStream([
      reply([toolCall("explore", { prompt: "Read everything" })]),
      ...createSteps().slice(0, 20),
    ]),
    tools: [read, subAgentTool({ name: "explore", description: "Reads.", ...own })],
    transformContext: createTransform(summaries),
    maxTurns: 2,
  });
}

const createCompaction = (streamFn: ScriptedStream) =>
  summarize({ streamFn, contextWindow: CONTEXT_WINDOW, keepSteps: 1 });

Deno.test("subAgentTool(): compacts the history of a sub-agent like that of the run", async () => {
  const agent = createAgent(createCompaction, { maxTurns: 20 });

  const { events, results } = await promptAll(agent);

  assertStringIncludes(results, "Read");
  assert(countCompactions(events)["call_1"]);
  assertEquals(countOverflows(events), 0);
});

Deno.test("subAgentTool(): calls no transform of the application for a sub-agent", async () => {
  const prompts = new Set<string>();
  const agent = createAgent((streamFn) =>
    composeTransforms((messages) => {
      const [first] = messages;
      if (first?.role === "user") prompts.add(extractText(first.content));
      return messages;
    }, createCompaction(streamFn)), { maxTurns: 20 });

  const { events } = await promptAll(agent);

  assert(countCompactions(events)["call_1"]);
  assertEquals([...prompts], ["Start"]);
});

Deno.test("subAgentTool(): sends no history of a sub-agent with a model function of its own for a summary", async () => {
  const summaries = scriptedStream([]);
  const agent = createAgent(
    () => createCompaction(summaries),
    { streamFn: scriptedStream(createSteps()), maxTurns: 20 },
  );

  const { results } = await promptAll(agent);

  assertStringIncludes(results, "The agent did not finish");
  assertEquals(summaries.calls.length, 0);
});
