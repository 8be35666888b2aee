import { assertEquals } from "@std/assert";
import type { StreamFn } from "../../src/core/streams/stream.ts";
import { fakeTool } from "../../src/testing/fake_tool.ts";
import { toolCall } from "../../src/testing/messages.ts";
import { reply } from "../../src/testing/script.ts";
import { scriptedStream } from "../../src/testing/scripted_stream.ts";
import { testAgent } from "./test_agent.ts";

/** Counts the calls of the timer functions of the platform during some work. */
async function countTimerCalls(work: () => Promise<unknown>): Promise<number> {
  const { setTimeout, clearTimeout } = globalThis;
  let calls = 0;
  const counted = {
    setTimeout: (...input: Parameters<typeof setTimeout>) => (calls++, setTimeout(...input)),
    clearTimeout: (id?: number) => (calls++, clearTimeout(id)),
  };
  Object.assign(globalThis, counted);
  try {
    await work();
  } finally {
    Object.assign(globalThis, { setTimeout, clearTimeout });
  }
  return calls;
}

Deno.test("agent: a run whose model answers at once uses no timer, whose first use is slow on Deno", async () => {
  const { agent } = testAgent([reply([toolCall("work")]), reply("Done")], {
    tools: [fakeTool({ name: "work" })],
  });
  assertEquals(await countTimerCalls(() => agent.prompt("Go")), 0);
});

/** Returns the delays of the signals that some work creates, none of which is aborted. */
async function recordSignalDelays(work: () => Promise<unknown>): Promise<number[]> {
  const { timeout } = AbortSignal;
  const delays: number[] = [];
  AbortSignal.timeout = (milliseconds) => {
    delays.push(milliseconds);
    return new AbortController().signal;
  };
  try {
    await work();
  } finally {
    AbortSignal.timeout = timeout;
  }
  return delays;
}

Deno.test("agent: a run whose model answers late sets no timer either, and waits with a signal to load the validator meanwhile", async () => {
  const inner = scriptedStream([reply("Done"), reply("Done")]);
  const { setTimeout } = globalThis;
  const late: StreamFn = async function* (request) {
    await new Promise((resolve) => setTimeout(resolve, 0));
    yield* inner(request);
  };
  const { agent } = testAgent([], { streamFn: late, tools: [fakeTool({ name: "work" })] });
  const delays = await recordSignalDelays(async () => {
    assertEquals(await countTimerCalls(() => agent.prompt("Go")), 0);
    agent.setTools([]);
    await agent.prompt("Again");
  });
  assertEquals(delays, [20]);
});

Deno.test("agent: a run whose model begins at once does not wait to load the validator, however long the reply takes", async () => {
  const inner = scriptedStream([reply("Done")]);
  const slow: StreamFn = async function* (request) {
    for await (const event of inner(request)) {
      yield event;
      if (event.type === "text_delta") await new Promise((resolve) => setTimeout(resolve, 0));
    }
  };
  const { agent } = testAgent([], { streamFn: slow, tools: [fakeTool({ name: "work" })] });
  assertEquals(await recordSignalDelays(() => agent.prompt("Go")), []);
});
