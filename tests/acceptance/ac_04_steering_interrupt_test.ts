import { assertEquals } from "@std/assert";
import { checkEvents } from "../../src/testing/event_grammar.ts";
import { fakeTool } from "../../src/testing/fake_tool.ts";
import { toolCall } from "../../src/testing/messages.ts";
import { reply } from "../../src/testing/script.ts";
import { eventsOfType, outlineMessages } from "../conformance/outline.ts";
import { atFirst, testAgent } from "../conformance/test_agent.ts";

Deno.test("steer() cancels the remaining calls and is in the next request [AC-4, 6.4]", async () => {
  const quick = fakeTool({ name: "quick", result: "done" });
  const slow = fakeTool({ name: "slow", delayMs: Infinity });
  const { agent, streamFn } = testAgent([
    reply([toolCall("quick"), toolCall("slow"), toolCall("slow")]),
    reply("Stopped"),
  ], { tools: [quick, slow] });
  atFirst(agent, "tool_execution_end", () => agent.steer("Stop that"));
  const events = await checkEvents(agent.promptStream("Work"));
  const cancelled = "tool_result: tool call cancelled: user requested steering interrupt";
  assertEquals(outlineMessages(streamFn.calls[1]?.context.messages ?? []), [
    "user: Work",
    "assistant: quick({}) slow({}) slow({})",
    "tool_result: done",
    cancelled,
    cancelled,
    "user: Stop that",
  ]);
  assertEquals(eventsOfType(events, "turn_end").map(({ reason }) => reason), [
    "steering_interrupt",
    "complete",
  ]);
  assertEquals(slow.calls.map(({ state }) => state), ["cancelled", "cancelled"]);
});
