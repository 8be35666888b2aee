import { assertEquals } from "@std/assert";
import { Agent } from "../../src/agent/agent.ts";
import { zeroUsage } from "../../src/core/models/usage.ts";
import type { StreamFn } from "../../src/core/streams/stream.ts";
import { fakeTool } from "../../src/testing/fake_tool.ts";
import { reply } from "../../src/testing/script.ts";
import { testAgent } from "./test_agent.ts";

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

Deno.test("emitCustom(): a timer runs while a listener emits an event for each event", async () => {
  const { agent } = testAgent([reply("Done")]);
  let events = 0;
  let isStopped = false;
  const timer = setTimeout(() => isStopped = true, 1);
  agent.subscribe(async ({ type }) => {
    if (type !== "custom") return;
    await null;
    if (!isStopped && ++events < MANY) agent.emitCustom("again", events);
  });
  agent.emitCustom("again", 0);
  await agent.prompt("Go");
  clearTimeout(timer);
  assertEquals([isStopped, events < MANY], [true, true]);
});
