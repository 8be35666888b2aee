import { assertEquals, assertStringIncludes } from "@std/assert";
import { extractText } from "../../src/core/messages/content.ts";
import { checkEvents } from "../../src/testing/event_grammar.ts";
import { fakeTool } from "../../src/testing/fake_tool.ts";
import { toolCall } from "../../src/testing/messages.ts";
import { reply } from "../../src/testing/script.ts";
import { eventsOfType } from "../conformance/outline.ts";
import { testAgent } from "../conformance/test_agent.ts";

Deno.test("tool call: invalid arguments give an error result and the tool does not run [AC-2, 6.2]", async () => {
  const weather = fakeTool({
    name: "weather",
    parameters: {
      type: "object",
      properties: { city: { type: "string" }, days: { type: "integer", maximum: 7 } },
      required: ["city"],
      additionalProperties: false,
    },
  });
  const { agent, streamFn } = testAgent([
    reply([toolCall("weather", { days: 9, country: "CH" })]),
    reply("I need a city"),
  ], { tools: [weather] });
  const events = await checkEvents(agent.promptStream("How is the weather?"));
  assertEquals(weather.calls, []);
  const [result] = eventsOfType(events, "tool_execution_end");
  assertEquals(result?.isError, true);
  const text = extractText(result?.result.content ?? []);
  for (const path of ["/city", "/days", "/country"]) assertStringIncludes(text, path);
  const message = streamFn.calls[1]?.context.messages.at(-1);
  assertEquals(message?.role === "tool_result" && message.isError, true);
  assertEquals(eventsOfType(events, "turn_end").map(({ reason }) => reason), [
    "tools_executed",
    "complete",
  ]);
});
