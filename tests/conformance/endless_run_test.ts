import { assertEquals } from "@std/assert";
import { Agent } from "../../src/agent/agent.ts";
import type { StreamFn } from "../../src/core/stream.ts";
import { zeroUsage } from "../../src/core/usage.ts";
import { fakeTool } from "../../src/testing/fake_tool.ts";

const MANY = 20_000;

Deno.test("abort(): a timer ends an endless run whose model and tools answer from memory", async () => {
  let calls = 0;
  const streamFn: StreamFn = async function* () {
    yield { type: "start" };
    if (++calls < MANY) {
      yield { type: "tool_call_start", contentIndex: 0, id: `call_${calls}`, name: "look" };
      yield { type: "tool_call_end", contentIndex: 0 };
    }
    const stopReason = calls < MANY ? "tool_use" : "stop";
    yield { type: "done", stopReason, usage: zeroUsage() };
  };
  const tools = [fakeTool({ name: "look" })];
  const agent = new Agent({ model: "test/model", streamFn, tools, maxTurns: Infinity });
  const timer = setTimeout(() => agent.abort("enough"), 1);
  const { stopReason, abortReason } = await agent.prompt("Go");
  clearTimeout(timer);
  assertEquals([stopReason, abortReason], ["aborted", "enough"]);
});
