import { assertEquals } from "@std/assert";
import { fakeTool } from "../../src/testing/fake_tool.ts";
import { toolCall } from "../../src/testing/messages.ts";
import { reply } from "../../src/testing/script.ts";
import { testAgent } from "./test_agent.ts";

Deno.test("state: runId is that of the latest run, from its agent_start", async () => {
  const { agent } = testAgent([reply("Hello")]);
  assertEquals(agent.state.runId, "");
  const seen: string[] = [];
  agent.subscribe(() => void seen.push(agent.state.runId));
  const { runId } = await agent.prompt("Hi");
  assertEquals([...new Set(seen), agent.state.runId], [runId, runId]);
});

Deno.test("state: callEvents has the starts and ends of the calls of the current reply", async () => {
  const { agent } = testAgent(
    [reply([toolCall("look")]), reply([toolCall("look")]), reply("Seen")],
    {
      tools: [fakeTool({ name: "look" })],
    },
  );
  const seen: string[][] = [];
  agent.subscribe(({ type }) => {
    if (type !== "tool_execution_start" && type !== "tool_execution_end") return;
    seen.push(agent.state.callEvents.map((event) => `${event.type} ${event.id}`));
  });
  await agent.prompt("Look");
  assertEquals(seen, [
    ["tool_execution_start call_1"],
    ["tool_execution_start call_1", "tool_execution_end call_1"],
    ["tool_execution_start call_2"],
    ["tool_execution_start call_2", "tool_execution_end call_2"],
  ]);
  assertEquals(agent.state.callEvents, []);
});
