import { assertEquals, assertStringIncludes } from "@std/assert";
import { repairHistory } from "../../src/core/history.ts";
import { checkEvents } from "../../src/testing/event_grammar.ts";
import { fakeTool } from "../../src/testing/fake_tool.ts";
import { toolCall } from "../../src/testing/messages.ts";
import { reply } from "../../src/testing/script.ts";
import { sayingsOf } from "../conformance/outline.ts";
import { testAgent } from "../conformance/test_agent.ts";

Deno.test("a call that the token limit cut off is answered with an error before the next turn [AC-13, 6.13]", async () => {
  const write = fakeTool({ name: "write", result: "written" });
  const { agent, streamFn } = testAgent([
    reply([toolCall("write", { path: "a" }), toolCall("write", '{"path":"b","te')], {
      stopReason: "length",
    }),
    reply("Shorter then"),
  ], { tools: [write] });
  await checkEvents(agent.promptStream("Write"));
  assertEquals(write.calls.map((call) => call.arguments), [{ path: "a" }]);
  const asked = streamFn.calls[1]?.context.messages ?? [];
  assertEquals(sayingsOf(asked).slice(0, 3), [
    "user: Write",
    'assistant: write({"path":"a"}) write({})',
    "tool_result: written",
  ]);
  assertStringIncludes(sayingsOf(asked)[3] ?? "", "maximum number of output tokens");
  assertEquals(repairHistory(agent.state.messages).repairs, []);
});
