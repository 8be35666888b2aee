import { assertEquals } from "@std/assert";
import { checkEvents } from "../../src/testing/event_grammar.ts";
import { fakeTool } from "../../src/testing/fake_tool.ts";
import { toolCall } from "../../src/testing/messages.ts";
import { reply } from "../../src/testing/script.ts";
import { testAgent } from "../conformance/test_agent.ts";

Deno.test("transformContext runs before convertToLlm in every turn [AC-9, 6.9]", async () => {
  const order: string[] = [];
  const { agent } = testAgent([reply([toolCall("look")]), reply("Seen")], {
    tools: [fakeTool({ name: "look" })],
    transformContext: (messages) => {
      order.push("transform");
      return messages;
    },
    convertToLlm: (message) => {
      order.push(`convert ${message.role}`);
      return message.role === "custom" ? null : message;
    },
    getApiKey: () => void order.push("key"),
  });
  await checkEvents(agent.promptStream("Look"));
  assertEquals(order, [
    "transform",
    "convert user",
    "key",
    "transform",
    "convert assistant",
    "convert tool_result",
    "key",
  ]);
});
