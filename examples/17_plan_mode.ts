// An agent that can only read writes a plan, a person approves it, and another agent executes it.

import { Agent, defineTool } from "@swink/agent";
import { approvePlan, createPlanExecutor, createPlanMode, planFile } from "@swink/agent/plan";
import { reply, scriptedStream, toolCall } from "@swink/agent/testing";

const directory = await Deno.makeTempDir();
const file = planFile(`${directory}/plan.md`, { within: directory });

const readNotes = defineTool({
  name: "read_notes",
  description: "Reads the notes.",
  parameters: { type: "object" },
  readOnly: true,
  execute: () => "The start takes 80 ms, mostly in the parser.",
});
const edit = defineTool({
  name: "edit",
  description: "Edits a file.",
  parameters: { type: "object", properties: { path: { type: "string" } }, required: ["path"] },
  execute: ({ path }) => `edited ${path}`,
});

const mode = createPlanMode({ file });
const planner = new Agent({
  model: "example/large",
  tools: [readNotes, edit],
  policies: [mode],
  streamFn: scriptedStream([
    reply([toolCall("edit", { path: "src/start.ts" })]), // does not exist in plan mode
    reply([toolCall("read_notes", {})]),
    reply([toolCall("write_plan", {
      title: "Faster start",
      context: "The start takes 80 ms, mostly in the parser.",
      steps: [{
        title: "Load the parser on first use",
        description: "",
        files: ["src/start.ts"],
        criteria: ["The start takes less than 20 ms."],
      }],
    })]),
    reply("The plan is written."),
  ]),
});
planner.subscribe((event) => {
  if (event.type !== "tool_execution_end") return;
  console.log(`${event.name}: ${event.isError ? "refused" : "ok"}`);
});
mode.turnOn(planner);
await planner.prompt("Plan a faster start");
mode.turnOff(planner);

const approval = await approvePlan(file, {
  ask: ({ text, hash }) => {
    console.log(`\n${text}`); // A person reads this, and decides.
    return { type: "approved", hash };
  },
});
if (approval.type === "refused") throw new Error(approval.reason);

const executor = createPlanExecutor({
  file,
  agent: {
    model: "example/small",
    tools: [readNotes, edit],
    streamFn: scriptedStream([
      reply([toolCall("update_step", { step: 1, state: "in_progress" })]),
      reply([toolCall("edit", { path: "src/start.ts" })]),
      reply([toolCall("update_step", { step: 1, state: "done", note: "The start takes 12 ms." })]),
      reply("The start is faster."),
    ]),
  },
});
executor.agent.subscribe((event) => {
  if (event.type === "custom" && event.name === "plan_step") console.log(event.data);
});
const { type, result } = await executor.start(approval.plan);
console.log(`${type}: ${result?.text}`);
await Deno.remove(directory, { recursive: true });

// Prints:
// edit: refused
// read_notes: ok
// write_plan: ok
//
// # Faster start
//
// The start takes 80 ms, mostly in the parser.
//
// ## 1. Load the parser on first use
//
// ### Files
//
// - `src/start.ts`
//
// ### Acceptance criteria
//
// - The start takes less than 20 ms.
//
// { step: 0, state: "in_progress" }
// { step: 0, state: "complete", note: "The start takes 12 ms." }
// complete: The start is faster.
