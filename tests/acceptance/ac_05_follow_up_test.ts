import { assertEquals } from "@std/assert";
import { checkEvents } from "../../src/testing/event_grammar.ts";
import { reply } from "../../src/testing/script.ts";
import { eventsOfType, sayingsOf } from "../conformance/outline.ts";
import { testAgent } from "../conformance/test_agent.ts";

Deno.test("a follow-up makes the agent go on where it would have stopped [AC-5, 6.5]", async () => {
  const { agent, streamFn } = testAgent([reply("First"), reply("Second")]);
  agent.followUp("And then?");
  const events = await checkEvents(agent.promptStream("Begin"));
  const [end, ...others] = eventsOfType(events, "agent_end");
  assertEquals(others, []);
  assertEquals(sayingsOf(end?.messages ?? []), [
    "user: Begin",
    "assistant: First",
    "user: And then?",
    "assistant: Second",
  ]);
  assertEquals(agent.hasPendingMessages, false);
  streamFn.assertDone();
});
