import { assert, assertEquals } from "@std/assert";
import { setTimeout as delay } from "node:timers/promises";
import type { AgentOptions } from "../../src/agent/options.ts";
import type { Sleep } from "../../src/core/ports.ts";
import { defineTool } from "../../src/core/tool.ts";
import { checkEvents } from "../../src/testing/event_grammar.ts";
import { fakeTool } from "../../src/testing/fake_tool.ts";
import { toolCall } from "../../src/testing/messages.ts";
import { fail, reply } from "../../src/testing/script.ts";
import { outlineMessages } from "./outline.ts";
import { testAgent } from "./test_agent.ts";

const budget = { name: "watch", onDelta: () => {} };

const sleeps: Record<string, Sleep> = {
  "rejects on abort": (milliseconds, signal) => delay(milliseconds, undefined, { signal }),
  "always rejects": () => Promise.reject(new Error("no timers")),
  "throws": () => {
    throw new Error("no timers");
  },
};

for (const [failure, sleep] of Object.entries(sleeps)) {
  Deno.test(`sleep that ${failure}: retries wait, timeouts and policies run, and no rejection is unhandled`, async () => {
    const { agent } = testAgent([
      fail("network_error", "Reset"),
      reply([toolCall("look")]),
      reply("Seen"),
    ], {
      now: undefined,
      sleep,
      retry: ({ attempt }) => attempt === 1 ? 1 : null,
      tools: [fakeTool({ name: "look", result: "a cat" })],
      toolTimeoutMs: 60_000,
      policies: [budget],
    });
    const events = await checkEvents(agent.promptStream("Look"));
    assertEquals(events.at(-1)?.type, "agent_end");
    assertEquals(outlineMessages(agent.state.messages).slice(2), [
      "tool_result: a cat",
      "assistant: Seen",
    ]);
  });

  Deno.test(`sleep that ${failure}: abort() ends a tool that ignores its signal`, async () => {
    const tool = defineTool({
      name: "look",
      description: "",
      parameters: {},
      execute: () => {
        queueMicrotask(() => agent.abort());
        return new Promise<string>(() => {});
      },
    });
    const { agent } = testAgent([reply([toolCall("look")])], {
      now: undefined,
      sleep,
      tools: [tool],
      policies: [budget],
    });
    assertEquals((await agent.prompt("Look")).stopReason, "aborted");
  });
}

const ports: Record<string, (calls: number) => unknown> = {
  "throws": () => {
    throw new Error("exhausted");
  },
  "throws in the middle of a run": (calls) => {
    if (calls > 2) throw new Error("exhausted");
    return calls;
  },
  "returns undefined": () => undefined,
  "returns a bigint": () => 5n,
  "returns a promise": () => Promise.resolve("later"),
  "returns a promise that rejects": () => Promise.reject(new Error("exhausted")),
};

for (const name of ["now", "newId"] as const) {
  for (const [failure, port] of Object.entries(ports)) {
    Deno.test(`${name} that ${failure}: the run is complete, and times and ids are valid`, async () => {
      let calls = 0;
      const options = { [name]: () => port(++calls) } as unknown as Partial<AgentOptions>;
      const tools = [fakeTool({ name: "look", result: "a cat" })];
      const steps = [reply([toolCall("look")]), reply("Seen")];
      const { agent } = testAgent(steps, { ...options, tools });
      await checkEvents(agent.promptStream("Look"));
      const { messages } = agent.state;
      assertEquals(messages.length, 4);
      for (const { id, timestamp } of messages) {
        assert(typeof id === "string" && id !== "" && typeof timestamp === "number");
      }
    });
  }
}
