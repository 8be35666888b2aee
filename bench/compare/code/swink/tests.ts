import { assert, assertEquals } from "@std/assert";
import { Agent, defineTool } from "@swink/agent";
import { fail, hang, ManualClock, reply, scriptedStream, toolCall } from "@swink/agent/testing";
import { z } from "npm:zod@4.6.7";

const booked: string[] = [];
const book = defineTool({
  name: "book",
  description: "Books a table.",
  parameters: z.object({ name: z.string(), guests: z.int().max(8) }),
  execute({ name, guests }) {
    booked.push(`${name} ${guests}`);
    return "Booked.";
  },
});

Deno.test("the agent books a table, and corrects invalid arguments", async () => {
  booked.length = 0;
  const streamFn = scriptedStream([
    reply([toolCall("book", { name: "Ada", guests: 12 })]),
    reply([toolCall("book", { name: "Ada", guests: 8 })]),
    reply("Booked for 8."),
  ]);
  const agent = new Agent({ model: "test/model", tools: [book], streamFn });
  assertEquals((await agent.prompt("A table for 12")).text, "Booked for 8.");
  assertEquals(booked, ["Ada 8"]);
  streamFn.assertDone();
});

Deno.test("a rate limit is retried after its delay", async () => {
  const clock = new ManualClock();
  const streamFn = scriptedStream([
    fail("model_throttled", "Slow down", { retryAfterMs: 30_000 }),
    reply("Hello"),
  ]);
  const agent = new Agent({ model: "test/model", streamFn, now: clock.now, sleep: clock.sleep });
  const running = agent.prompt("Hi");
  while (clock.sleepers === 0) await new Promise((resolve) => setTimeout(resolve));
  clock.advance(30_000);
  assertEquals((await running).text, "Hello");
});

Deno.test("an abort ends a reply that hangs", async () => {
  const agent = new Agent({ model: "test/model", streamFn: scriptedStream([hang()]) });
  const running = agent.prompt("Hi");
  agent.abort("enough");
  const { abortReason, error } = await running;
  assertEquals(abortReason, "enough");
  assert(!error);
});
