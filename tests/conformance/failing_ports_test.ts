import { assert, assertEquals } from "@std/assert";
import { setTimeout as delay } from "node:timers/promises";
import type { AgentOptions } from "../../src/agent/options.ts";
import type { Sleep } from "../../src/core/ports/ports.ts";
import { defineTool } from "../../src/core/tools/tool.ts";
import { checkEvents } from "../../src/testing/event_grammar.ts";
import { fakeTool } from "../../src/testing/fake_tool.ts";
import { ManualClock } from "../../src/testing/manual_clock.ts";
import { toolCall } from "../../src/testing/messages.ts";
import { fail, reply } from "../../src/testing/script.ts";
import { outlineMessages } from "./outline.ts";
import { settle } from "./ports.ts";
import { testAgent } from "./test_agent.ts";

const budget = { name: "watch", onDelta: () => {} };

const sleeps: Record<string, Sleep> = {
  "rejects on abort": (milliseconds, signal) => delay(milliseconds, undefined, { signal }),
  "always rejects": () => Promise.reject(new Error("no timers")),
  "throws": () => {
    throw new Error("no timers");
  },
  "returns nothing": (() => {}) as unknown as Sleep,
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
  "returns NaN": () => NaN,
  "returns Infinity": () => Infinity,
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
        assert(typeof id === "string" && id !== "" && Number.isFinite(timestamp));
      }
    });
  }
}

for (const [failure, port] of Object.entries(ports)) {
  Deno.test(`random that ${failure}: a failed call is retried after a valid delay`, async () => {
    const random = (() => port(5)) as unknown as () => number;
    const clock = new ManualClock();
    const { agent } = testAgent([fail("network_error", "Reset"), reply("Seen")], {
      random,
      now: clock.now,
      sleep: clock.sleep,
    });
    const delays: number[] = [];
    agent.subscribe((event) => void (event.type === "retry" && delays.push(event.delayMs)));
    const running = agent.prompt("Look");
    await settle();
    clock.advance(2_000);
    assertEquals((await running).text, "Seen");
    const [delay = NaN] = delays;
    assert(delay >= 500 && delay <= 1_500, `${delay} ms`);
  });
}

for (const port of ["now", "newId"] as const) {
  for (const method of ["prompt", "promptStream", "continue"] as const) {
    Deno.test(`${port} that calls ${method}() while a run starts: there is one run at a time`, async () => {
      const rejected: unknown[] = [];
      let calls = 0;
      const callAgain = () => {
        calls++;
        if (method === "continue") agent.continue().catch((error) => rejected.push(error.code));
        if (method === "prompt") agent.prompt("Again").catch((error) => rejected.push(error.code));
        if (method === "promptStream") {
          agent.promptStream("Again").result().catch((error) => rejected.push(error.code));
        }
        return port === "now" ? calls : `id ${calls}`;
      };
      const { agent } = testAgent([reply("Seen")], { [port]: callAgain });
      await checkEvents(agent.promptStream("Look"));
      assertEquals(outlineMessages(agent.state.messages), ["user: Look", "assistant: Seen"]);
      assertEquals(rejected, Array.from({ length: calls }, () => "already_running"));
      assertEquals(agent.state.isRunning, false);
    });
  }
}
