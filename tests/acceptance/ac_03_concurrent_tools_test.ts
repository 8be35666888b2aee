import { assertEquals } from "@std/assert";
import { createDeferred } from "../../src/core/ports/deferred.ts";
import { checkEvents } from "../../src/testing/event_grammar.ts";
import { fakeTool } from "../../src/testing/fake_tool.ts";
import { toolCall } from "../../src/testing/messages.ts";
import { reply } from "../../src/testing/script.ts";
import { testAgent } from "../conformance/test_agent.ts";

Deno.test("tool calls of one turn run concurrently [AC-3, 6.3]", async () => {
  const allStarted = createDeferred();
  const meet = fakeTool({
    name: "meet",
    result: async () => {
      if (meet.calls.length === 3) allStarted.resolve();
      await allStarted.promise;
      return "met";
    },
  });
  const { agent } = testAgent([
    reply([toolCall("meet"), toolCall("meet"), toolCall("meet")]),
    reply("All have met"),
  ], { tools: [meet] });
  await checkEvents(agent.promptStream("Meet"));
  assertEquals(meet.maxConcurrent, 3);
  assertEquals(meet.calls.map(({ state }) => state), ["finished", "finished", "finished"]);
});
