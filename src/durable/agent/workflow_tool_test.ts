import { assertEquals, assertRejects } from "@std/assert";
import type { DurableRun, DurableWorkflow } from "../../core/durable/durable_engine.ts";
import { EngineClosedError } from "../../core/durable/engine_closed_error.ts";
import { testToolContext } from "../../testing/test_tool_context.ts";
import { workflowTool } from "./workflow_tool.ts";

/** Creates a tool whose runs have a result, and the list of their aborts. */
function createTool(result: () => Promise<unknown>) {
  const aborts: (string | undefined)[] = [];
  const run = {
    result,
    abort: (reason?: string) => {
      aborts.push(reason);
      return Promise.resolve();
    },
  } as DurableRun;
  const workflow: DurableWorkflow<string, unknown> = {
    name: "research",
    start: () => Promise.resolve(run),
  };
  return { tool: workflowTool({ name: "research", description: "Looks.", workflow }), aborts };
}

Deno.test("workflowTool(): the end of the engine is no result of a call, unlike the failure of its run", async () => {
  const context = testToolContext();
  const closed = createTool(() => Promise.reject(new EngineClosedError()));
  await assertRejects(
    async () => await closed.tool.execute({ prompt: "Look" }, context),
    EngineClosedError,
  );
  const failed = createTool(() => Promise.reject(new Error("out of paper")));
  const result = await failed.tool.execute({ prompt: "Look" }, context);
  assertEquals(JSON.stringify(result).includes("out of paper"), true);
});

Deno.test("workflowTool(): a call that is aborted already aborts its run", async () => {
  const { tool, aborts } = createTool(() => Promise.resolve("Found"));
  const signal = AbortSignal.abort(new Error("enough"));
  assertEquals(await tool.execute({ prompt: "Look" }, testToolContext({ signal })), "Found");
  assertEquals(aborts, ["enough"]);
});
