import { assertEquals, assertStringIncludes } from "@std/assert";
import { Agent } from "../agent/agent.ts";
import { fakeTool } from "../testing/fake_tool.ts";
import { ManualClock } from "../testing/manual_clock.ts";
import { toolCall } from "../testing/messages.ts";
import { reply } from "../testing/script.ts";
import { scriptedStream } from "../testing/scripted_stream.ts";
import { budget, sharedBudget } from "./mod.ts";

for (const [name, create] of [["budget", budget], ["sharedBudget", sharedBudget]] as const) {
  Deno.test(`${name}() with preflight: calls that use up all of the time for tools do not end the run`, async () => {
    const clock = new ManualClock();
    const work = fakeTool({
      name: "work",
      timeoutMs: 500,
      result: () => {
        clock.advance(500);
        return "ok";
      },
    });
    const unlimited = fakeTool({ name: "unlimited" });
    const { now, sleep } = clock;
    const agent = new Agent({
      model: "test/model",
      tools: [work, unlimited],
      policies: [create({ toolMs: 1000, preflight: true })],
      streamFn: scriptedStream([
        reply([toolCall("work")]),
        reply([toolCall("work")]),
        reply([toolCall("work"), toolCall("unlimited")]),
        reply("Done"),
      ]),
      now,
      sleep,
    });
    const { text, stoppedBy } = await agent.prompt("Go");
    assertEquals([text, stoppedBy], ["Done", undefined]);
    assertEquals([work.calls.length, unlimited.calls.length], [2, 0]);
    assertStringIncludes(
      JSON.stringify(agent.state.messages),
      "of the limit of 1000 ms for tool calls 1000 ms are spent",
    );
  });
}
