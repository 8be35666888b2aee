import { assertEquals } from "@std/assert";
import { Agent } from "../agent/agent.ts";
import { fakeTool } from "../testing/fake_tool.ts";
import { toolCall } from "../testing/messages.ts";
import { reply } from "../testing/script.ts";
import { scriptedStream } from "../testing/scripted_stream.ts";
import { budget } from "./budget.ts";
import { sharedBudget } from "./shared_budget.ts";

for (const create of [budget, sharedBudget]) {
  Deno.test(`${create.name}() with preflight reserves the time of a call once when an approval edits its arguments`, async () => {
    const send = fakeTool({ name: "send", timeoutMs: 600 });
    const agent = new Agent({
      model: "any/model",
      streamFn: scriptedStream([reply([toolCall("send", { to: "all" })]), reply("Sent")]),
      tools: [send],
      policies: [create({ toolMs: 1000, preflight: true })],
      approve: () => ({ type: "approved", arguments: { to: "ada" } }),
    });
    await agent.prompt("Send it");
    assertEquals(send.calls.map((call) => call.arguments), [{ to: "ada" }]);
  });
}
