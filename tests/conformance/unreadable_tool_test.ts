import { assertEquals } from "@std/assert";
import type { AgentOptions } from "../../src/agent/options.ts";
import type { AgentEvent } from "../../src/core/events/event.ts";
import { repairHistory } from "../../src/core/messages/history.ts";
import type { AgentTool } from "../../src/core/tools/tool.ts";
import { checkEvents } from "../../src/testing/event_grammar.ts";
import { fakeTool } from "../../src/testing/fake_tool.ts";
import { toolCall } from "../../src/testing/messages.ts";
import { reply } from "../../src/testing/script.ts";
import { eventsOfType } from "./outline.ts";
import { InstantClock, scriptedPorts } from "./ports.ts";
import { testAgent } from "./test_agent.ts";

const PROPERTIES = [
  "name",
  "parameters",
  "validate",
  "execute",
  "sequential",
  "concurrencyKey",
  "interruptible",
  "timeoutMs",
  "requiresApproval",
  "readOnly",
  "preview",
  "omitHunks",
] as const;

const TIMES: readonly AgentEvent["type"][] = [
  "model_call_end",
  "tool_approval_requested",
  "tool_execution_start",
];

const OPTIONS: readonly Partial<AgentOptions>[] = [
  { approve: () => true, approvalMode: "smart" },
  { approve: () => ({ type: "approved", refusedHunks: [{ path: "a", hunks: ["x"] }] }) },
  { policies: [{ name: "watch", preDispatch() {}, postDispatch() {}, onDelta() {} }] },
];

/** Creates a tool whose property cannot be read from some time on. */
function createTool(property: string): { tool: AgentTool; break: () => void } {
  let isBroken = false;
  const tool = new Proxy(fakeTool({ name: "look", preview: () => Promise.resolve([]) }), {
    get(target, name): unknown {
      if (isBroken && name === property) throw new Error("unreadable");
      return Reflect.get(target, name);
    },
  });
  return { tool, break: () => void (isBroken = true) };
}

for (const property of PROPERTIES) {
  Deno.test(`a tool whose ${property} cannot be read any more: each call starts, ends and has a result`, async () => {
    for (const time of TIMES) {
      for (const [index, options] of OPTIONS.entries()) {
        const { tool, break: breakTool } = createTool(property);
        const calls = ["look", "look", "alone", "look"].map((name) => toolCall(name));
        const { agent } = testAgent([reply(calls), reply("Done"), reply("Steered")], {
          ...scriptedPorts(new InstantClock()),
          tools: [tool, fakeTool({ name: "alone", sequential: true })],
          ...options,
        });
        agent.subscribe(({ type }) => {
          if (type !== time) return;
          breakTool();
          if (index === 2 && !agent.hasPendingMessages) agent.steer("Stop");
        });
        const events = await checkEvents(agent.promptStream("Go"));
        assertEquals(repairHistory(agent.state.messages).repairs, []);
        const ends = eventsOfType(events, "tool_execution_end").map(({ id }) => id);
        assertEquals(ends.toSorted(), ["call_1", "call_2", "call_3", "call_4"]);
      }
    }
  });
}

Deno.test("a tool that cannot be read any more after approvals: each approved call starts and ends once", async () => {
  const { tool, break: breakTool } = createTool("sequential");
  const { agent } = testAgent([reply([toolCall("look"), toolCall("look")]), reply("Done")], {
    ...scriptedPorts(new InstantClock()),
    tools: [tool],
    approve: () => ({ type: "pending" }),
  });
  await agent.prompt("Go");
  agent.subscribe(({ type }) => type === "tool_execution_start" && breakTool());
  const events = await checkEvents(agent.continueStream({
    approvals: { call_1: true, call_2: { type: "approved", arguments: { at: "x" } } },
  }));
  assertEquals(eventsOfType(events, "tool_execution_start").map(({ id }) => id), [
    "call_1",
    "call_2",
  ]);
  assertEquals(repairHistory(agent.state.messages).repairs, []);
});
