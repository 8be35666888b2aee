import { assertEquals, assertStringIncludes } from "@std/assert";
import { repairHistory } from "../../src/core/messages/history.ts";
import { checkEvents } from "../../src/testing/event_grammar.ts";
import { fakeTool } from "../../src/testing/fake_tool.ts";
import { toolCall } from "../../src/testing/messages.ts";
import { reply } from "../../src/testing/script.ts";
import { outlineMessages } from "../conformance/outline.ts";
import { testAgent } from "../conformance/test_agent.ts";

Deno.test("length stop: a truncated call gets an error result and empty arguments before the next turn [AC-13, 6.13, A40, A41]", async () => {
  const write = fakeTool({ name: "write", result: "written" });
  const { agent, streamFn } = testAgent([
    reply([toolCall("write", { path: "a" }), toolCall("write", '{"path":"b","te')], {
      stopReason: "length",
    }),
    reply("Shorter then"),
  ], { tools: [write] });
  await checkEvents(agent.promptStream("Write"));
  assertEquals(write.calls.map((call) => call.arguments), [{ path: "a" }]);
  const request = streamFn.calls[1]?.context.messages ?? [];
  assertEquals(outlineMessages(request).slice(0, 3), [
    "user: Write",
    'assistant: write({"path":"a"}) write({})',
    "tool_result: written",
  ]);
  assertEquals(request[1]?.content[1], {
    type: "tool_call",
    id: "call_2",
    name: "write",
    arguments: {},
  });
  assertStringIncludes(outlineMessages(request)[3] ?? "", "maximum number of output tokens");
  assertEquals(repairHistory(agent.state.messages).repairs, []);
});
