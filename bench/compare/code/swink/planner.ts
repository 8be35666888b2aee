import { Agent, defineTool } from "@swink/agent";
import { connect } from "@swink/agent/adapters";
import { sharedBudget } from "@swink/agent/policies";
import { z } from "npm:zod@4.6.7";

const streamFn = connect({
  providers: { lab: { baseUrl: Deno.env.get("LAB_URL"), apiKey: "key" } },
});
const budget = sharedBudget({ tokens: 50_000 });

const search = defineTool({
  name: "search",
  description: "Searches the handbook.",
  parameters: z.object({ query: z.string() }),
  readOnly: true,
  execute: ({ query }) => `Chapter 3 is about ${query}.`,
});
const researcher = new Agent({
  model: "lab/small",
  systemPrompt: "Answer the question from the handbook.",
  streamFn,
  tools: [search],
});
const planner = new Agent({
  model: "lab/large",
  systemPrompt: "Split the task into questions, research them in parallel, and write a summary.",
  streamFn,
  tools: [researcher.asTool({ name: "research", description: "Answers one question." })],
  policies: [budget],
});
planner.subscribe((event) => {
  if (event.type !== "sub_agent" || event.event.type !== "tool_execution_start") return;
  console.log(event.path, event.event.name, event.event.arguments);
});
const { text, error, usage, turns } = await planner.prompt("Compare lamps and chairs.");
console.log(error?.message ?? text, turns, usage.total, budget.spent.usage.total);
