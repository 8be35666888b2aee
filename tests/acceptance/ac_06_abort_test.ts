import { assertEquals } from "@std/assert";
import { checkEvents } from "../../src/testing/event_grammar.ts";
import { fakeTool } from "../../src/testing/fake_tool.ts";
import { toolCall } from "../../src/testing/messages.ts";
import { hang, reply } from "../../src/testing/script.ts";
import { outlineEvents, outlineMessages } from "../conformance/outline.ts";
import { atFirst, testAgent } from "../conformance/test_agent.ts";

Deno.test("abort() during a reply ends the run as aborted [AC-6, 6.6]", async () => {
  const { agent } = testAgent([hang({ after: "Partial" })]);
  const controller = new AbortController();
  atFirst(agent, "message_update", () => controller.abort("enough"));
  const events = await checkEvents(agent.promptStream("Hi", { signal: controller.signal }));
  assertEquals(outlineEvents(events).slice(4), [
    "message_start assistant",
    "message_update text_delta",
    "message_end assistant",
    "turn_end aborted",
    "agent_end",
  ]);
  const end = events.at(-1);
  assertEquals(end?.type === "agent_end" && end.stopReason, "aborted");
  assertEquals(end?.type === "agent_end" && end.abortReason, "enough");
  assertEquals(outlineMessages(agent.state.messages), ["user: Hi", "assistant: Partial"]);
  assertEquals(agent.state.isRunning, false);
});

Deno.test("abort() during a tool call gives it a result and ends the run without another model call [AC-6, 6.6]", async () => {
  const slow = fakeTool({ name: "slow", delayMs: Infinity });
  const { agent, streamFn } = testAgent([reply([toolCall("slow")])], { tools: [slow] });
  atFirst(agent, "tool_execution_start", () => queueMicrotask(() => agent.abort()));
  const events = await checkEvents(agent.promptStream("Work"));
  assertEquals(outlineEvents(events).slice(-6), [
    "tool_execution_start call_1",
    "tool_execution_end call_1",
    "message_start tool_result",
    "message_end tool_result",
    "turn_end aborted",
    "agent_end",
  ]);
  assertEquals(
    outlineMessages(agent.state.messages).at(-1),
    "tool_result: tool call cancelled: run aborted",
  );
  streamFn.assertDone();
});
