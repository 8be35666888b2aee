import { assertEquals } from "@std/assert";
import { checkEvents } from "../../src/testing/event_grammar.ts";
import { reply } from "../../src/testing/script.ts";
import { eventsOfType, outlineEvents, outlineMessages } from "../conformance/outline.ts";
import { testAgent } from "../conformance/test_agent.ts";

Deno.test("followUp() continues a run that would otherwise end [AC-5, 6.5, 3.8, A12]", async () => {
  const { agent, streamFn } = testAgent([reply("First"), reply("Second")]);
  agent.followUp("And then?");
  const events = await checkEvents(agent.promptStream("Begin"));
  assertEquals(outlineEvents(events).filter((line) => /^(agent|turn)/.test(line)), [
    "agent_start",
    "turn_start 1",
    "turn_end complete",
    "turn_start 2",
    "turn_end complete",
    "agent_end",
  ]);
  const [end] = eventsOfType(events, "agent_end");
  assertEquals(outlineMessages(end?.messages ?? []), [
    "user: Begin",
    "assistant: First",
    "user: And then?",
    "assistant: Second",
  ]);
  assertEquals(agent.hasPendingMessages, false);
  streamFn.assertDone();
});
