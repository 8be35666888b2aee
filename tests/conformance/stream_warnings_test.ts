import { assertEquals } from "@std/assert";
import type { AssistantMessageEvent } from "../../src/core/streams/stream.ts";
import { fakeTool } from "../../src/testing/fake_tool.ts";
import { testAgent } from "./test_agent.ts";
import { eventsOfType } from "./outline.ts";

const usage = { input: 1, output: 1, cacheRead: 0, cacheWrite: 0, total: 2 };

/** Streams replies with warnings: three calls, then an end, again and again. */
function createStream(warnings: readonly object[]) {
  let requests = 0;
  return async function* stream(): AsyncGenerator<AssistantMessageEvent> {
    yield { type: "start" };
    for (const warning of warnings) {
      yield { type: "warning", code: "left_out", message: "No", ...warning };
    }
    const isLast = ++requests % 4 === 0;
    if (!isLast) {
      yield { type: "tool_call_start", contentIndex: 0, id: `call_${requests}`, name: "look" };
      yield { type: "tool_call_end", contentIndex: 0 };
    }
    yield { type: "done", stopReason: isLast ? "stop" : "tool_use", usage };
    await Promise.resolve();
  };
}

Deno.test("warnings of replies: the same one is emitted once in a run, and again in the next one", async () => {
  const streamFn = createStream([{}, { message: "Other" }, { data: 1 }, { data: 2 }, {}]);
  const { agent } = testAgent([], { streamFn, tools: [fakeTool({ name: "look" })] });
  for (let run = 0; run < 2; run++) {
    const events = await Array.fromAsync(agent.promptStream("Go"));
    const warnings = eventsOfType(events, "warning").map(({ message, data }) => [message, data]);
    assertEquals(warnings, [["No", undefined], ["Other", undefined], ["No", 1], ["No", 2]]);
  }
});

Deno.test("warnings of replies: any number of different ones is emitted, of which a run remembers a thousand", async () => {
  const streamFn = createStream(Array.from({ length: 2_000 }, (_, data) => ({ data })));
  const tools = [fakeTool({ name: "look" })];
  for (const [maxTurns, count] of [[1, 2_000], [2, 3_000]] as const) {
    const { agent } = testAgent([], { streamFn, tools, maxTurns });
    const events = await Array.fromAsync(agent.promptStream("Go"));
    assertEquals(eventsOfType(events, "warning").length, count);
  }
});
