/** Grades the patch that is its argument for each task of `tasks.jsonl` in the working directory; prints the grades. */
import { gradePatch, loadPatchTasks, openUnconfined } from "../../src/eval/mod.ts";

const [patch = ""] = Deno.args;
for (const task of await loadPatchTasks("tasks.jsonl")) {
  const { type, details } = await gradePatch(task, patch, { openSandbox: openUnconfined });
  console.log(`${task.instanceId}: ${type} ${details}`.trim());
}
