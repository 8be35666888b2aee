import { assertEquals, assertThrows } from "@std/assert";
import { reply, scriptedStream } from "../../testing/mod.ts";
import { Agent } from "../../agent/agent.ts";
import { toServedAgentParts } from "./served_agent.ts";

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
