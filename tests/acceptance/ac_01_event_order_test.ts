import { assertEquals } from "@std/assert";
import { checkEvents } from "../../src/testing/event_grammar.ts";
import { reply } from "../../src/testing/script.ts";
import { outlineEvents } from "../conformance/outline.ts";
import { testAgent } from "../conformance/test_agent.ts";

Deno.test("prompt() without tools emits every event once, in order [AC-1, 6.1]", async () => {
  const { agent, streamFn, seen } = testAgent([reply("Hello there")]);
  const events = await checkEvents(agent.promptStream("Hi"));
  assertEquals(outlineEvents(events), [
    "agent_start",
    "turn_start 1",
    "message_start user",
    "message_end user",
    "message_start assistant",
    "message_update text_delta",
    "message_update text_delta",
    "message_end assistant",
    "turn_end complete",
    "agent_end",
  ]);
  assertEquals(seen, events);
  streamFn.assertDone();
});
