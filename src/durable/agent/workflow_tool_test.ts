import { assertEquals, assertRejects } from "@std/assert";
import type { DurableRun, DurableWorkflow } from "../../core/durable/durable_engine.ts";
import { EngineClosedError } from "../../core/durable/engine_closed_error.ts";
import { NetworkError } from "../../core/errors/errors.ts";
import { createDeferred } from "../../core/ports/deferred.ts";
import { testToolContext } from "../../testing/test_tool_context.ts";
import { speedUpTimers } from "../../../tests/fast_timers.ts";
import { DetachedError } from "../steps/step_journal.ts";
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

Deno.test("workflowTool(): a call starts, awaits and aborts its run also if the engine cannot be reached at first", async () => {
  using _timers = speedUpTimers(1_000);
  const calls: string[] = [];
  const fail = <Value>(name: string, value: Value): Promise<Value> => {
    calls.push(name);
    const isFirst = calls.filter((call) => call === name).length === 1;
    return isFirst
      ? Promise.reject(new NetworkError("connection refused"))
      : Promise.resolve(value);
  };
  const aborted = createDeferred<void>();
  const run = {
    result: async () => {
      await fail("result", "");
      await aborted.promise;
      return "Found";
    },
    status: () => fail("status", "running"),
    abort: () => fail("abort", undefined).then(() => aborted.resolve()),
  } as unknown as DurableRun;
  const workflow = { name: "research", start: () => fail("start", run) };
  const tool = workflowTool({ name: "research", description: "Looks.", workflow });
  const signal = AbortSignal.abort(new Error("enough"));
  const result = await tool.execute({ prompt: "Look" }, testToolContext({ signal }));
  assertEquals([result, calls.length], ["Found", 8]);
});

Deno.test("workflowTool(): a run that has failed with an error of the network is not awaited further", async () => {
  const run = {
    result: () => Promise.reject(new NetworkError("the model cannot be reached")),
    status: () => Promise.resolve("failed"),
  } as unknown as DurableRun;
  const workflow = { name: "research", start: () => Promise.resolve(run) };
  const tool = workflowTool({ name: "research", description: "Looks.", workflow });
  const result = await tool.execute({ prompt: "Look" }, testToolContext());
  assertEquals(JSON.stringify(result).includes("the model cannot be reached"), true);
});

Deno.test("workflowTool(): a call that is aborted already aborts its run", async () => {
  const { tool, aborts } = createTool(() => Promise.resolve("Found"));
  const signal = AbortSignal.abort(new Error("enough"));
  assertEquals(await tool.execute({ prompt: "Look" }, testToolContext({ signal })), "Found");
  assertEquals(aborts, ["enough"]);
});

Deno.test("workflowTool(): the end of a process does not abort the run of a call", async () => {
  const detach = new AbortController();
  const { tool, aborts } = createTool(() => {
    detach.abort(new DetachedError());
    return Promise.resolve("Found");
  });
  const { signal } = detach;
  assertEquals(await tool.execute({ prompt: "Look" }, testToolContext({ signal })), "Found");
  assertEquals(aborts, []);
});
