import { assertEquals, assertRejects, assertThrows } from "@std/assert";
import { Agent } from "../../agent/agent.ts";
import { ManualClock, reply, scriptedStream } from "../../testing/mod.ts";
import { disposeServed, toServedAgentParts } from "./served_agent.ts";

Deno.test("disposeServed(): waits for a disposal, and not for one that does not end", async () => {
  const clock = new ManualClock();
  let isDisposed = false;
  const served = {
    [Symbol.asyncDispose]: () => {
      isDisposed = true;
      return Promise.resolve();
    },
  };
  await disposeServed(served, clock);
  assertEquals(isDisposed, true);
  const hanging = { [Symbol.asyncDispose]: () => new Promise<never>(() => {}) };
  const disposing = assertRejects(() => disposeServed(hanging, clock), Error, "within 10000 ms");
  clock.advance(10_000);
  await disposing;
});

Deno.test("createAgent: its value is an agent, or one with its parts", () => {
  const agent = new Agent({ model: "any/model", streamFn: scriptedStream([reply("Hello")]) });
  assertEquals(toServedAgentParts(agent).agent, agent);
  const parts = { agent, [Symbol.asyncDispose]: () => Promise.resolve() };
  assertEquals(toServedAgentParts(parts), parts);
});

Deno.test("createAgent: a value without an agent is an error that says what to return", () => {
  for (const [value, name] of [[undefined, "undefined"], [{ model: "a/b" }, "an object"]]) {
    assertThrows(
      () => toServedAgentParts(value as never),
      TypeError,
      `createAgent must return an agent, or { agent, [Symbol.asyncDispose] }, not ${name}`,
    );
  }
});
