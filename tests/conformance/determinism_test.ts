import { assertEquals } from "@std/assert";
import type { AgentEvent } from "../../src/core/events/event.ts";
import { checkEvents } from "../../src/testing/event_grammar.ts";
import { fakeTool } from "../../src/testing/fake_tool.ts";
import { text, thinking, toolCall } from "../../src/testing/messages.ts";
import { fail, reply } from "../../src/testing/script.ts";
import { InstantClock, scriptedPorts } from "./ports.ts";
import { testAgent } from "./test_agent.ts";

/** Runs a prompt with retries, tools, updates, steering, follow-ups, approvals and a fallback. */
async function runEventfulPrompt(): Promise<AgentEvent[]> {
  const clock = new InstantClock();
  const slow = fakeTool({
    name: "slow",
    sleep: clock.sleep,
    delayMs: 20,
    result: (_args, { onUpdate }) => {
      onUpdate("half");
      return "done";
    },
  });
  const { agent } = testAgent([
    fail("model_throttled", "Slow down", { after: "Half" }),
    reply([
      thinking("Hm", { signature: "s" }),
      text("Two calls"),
      toolCall("slow"),
      toolCall("slow"),
    ]),
    reply([toolCall("nothing"), toolCall("slow", '{"a')]),
    fail("network_error", "Reset"),
    fail("network_error", "Reset"),
    fail("network_error", "Reset"),
    reply("From the spare"),
    reply("More"),
  ], {
    ...scriptedPorts(clock),
    tools: [slow],
    approve: ({ toolCallId }) => toolCallId !== "call_2",
    fallback: [{ model: { provider: "other", modelId: "spare", thinkingLevel: "off" } }],
  });
  agent.subscribe(({ type }) => void (type === "tool_execution_update" && agent.steer("Wait")));
  agent.followUp("And then?");
  return await checkEvents(agent.promptStream("Go"));
}

Deno.test("Agent: two runs with the same ports and model emit identical events", async () => {
  const first = await runEventfulPrompt();
  const second = await runEventfulPrompt();
  assertEquals(JSON.stringify(second), JSON.stringify(first));
  assertEquals(first.length > 40, true, `only ${first.length} events`);
  const kinds = new Set(first.map(({ type }) => type));
  for (
    const kind of ["retry", "model_fallback", "queue_changed", "tool_approval_resolved"] as const
  ) {
    assertEquals(kinds.has(kind), true, kind);
  }
});

Deno.test("Agent: takes time, ids and random numbers from the ports only", async () => {
  const portCalls: string[] = [];
  const clock = new InstantClock();
  const { agent } = testAgent([
    fail("network_error", "Reset"),
    reply([toolCall("look", {}, { id: "a" })]),
    reply("Seen"),
  ], {
    tools: [fakeTool({ name: "look" })],
    now: () => 1_000,
    sleep: clock.sleep,
    random: () => (portCalls.push("random"), 0.25),
    newId: (kind) => `${kind}_${portCalls.push(kind)}`,
  });
  agent.steer("x");
  const events = await checkEvents(agent.promptStream("Go"));
  assertEquals(portCalls, [
    "message", // The steering message.
    "queued",
    "run",
    "message", // The prompt.
    "message", // The reply, whose first attempt fails.
    "random",
    ...["message", "message"], // The tool result and the second reply.
  ]);
  assertEquals(clock.waits, [750]);
  const [start] = events;
  assertEquals(start?.type === "agent_start" && start.runId, "run_3");
  assertEquals(agent.state.messages.map(({ timestamp }) => timestamp), Array(5).fill(1_000));
});
