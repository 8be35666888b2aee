import { assertEquals, assertInstanceOf } from "@std/assert";
import { AgentError, ModelThrottledError } from "../../src/core/errors/errors.ts";
import { checkEvents } from "../../src/testing/event_grammar.ts";
import { fakeTool } from "../../src/testing/fake_tool.ts";
import { text, thinking, toolCall } from "../../src/testing/messages.ts";
import { fail, reply } from "../../src/testing/script.ts";
import { eventsOfType } from "../conformance/outline.ts";
import { InstantClock, scriptedPorts } from "../conformance/ports.ts";
import { testAgent } from "../conformance/test_agent.ts";

Deno.test("events, messages and the model are unchanged by JSON and structuredClone() [AC-10, 6.10, 1.1]", async () => {
  const image = {
    type: "image",
    source: { type: "url", url: "https://example.com/a.png" },
  } as const;
  const look = fakeTool({
    name: "look",
    result: { content: [text("Seen"), image], details: { size: 3, tags: ["a"] } },
  });
  const call = toolCall("look", { path: "a", depth: [1, { x: null }] }, { signature: "s2" });
  const { agent } = testAgent([
    reply([thinking("Hm", { signature: "s1" }), text("Looking"), call]),
    reply("It is a picture"),
    reply("Noted"),
  ], { tools: [look], approve: () => ({ type: "approved", scope: "tool" }) });
  agent.followUp({ role: "custom", type: "note", data: { a: 1 }, timestamp: 5 });
  const events = await checkEvents(agent.promptStream({ text: "What is it?", images: [image] }));
  assertEquals(JSON.parse(JSON.stringify(events)), events);
  assertEquals(structuredClone(events), events);
  const { messages, model } = agent.state;
  assertEquals(JSON.parse(JSON.stringify({ messages, model })), { messages, model });
  assertEquals(structuredClone({ messages, model }), { messages, model });
});

Deno.test("AgentError.from() restores the class of an error from its JSON [AC-10]", async () => {
  const ports = scriptedPorts(new InstantClock());
  const limits = { status: 429, retryAfterMs: 5, provider: "test", requestId: "r1" };
  const { agent } = testAgent(
    [fail("model_throttled", "Slow down", limits), reply("Hello")],
    ports,
  );
  const events = await checkEvents(agent.promptStream("Hi"));
  const [retry] = eventsOfType(events, "retry");
  const error = AgentError.from(JSON.parse(JSON.stringify(retry)).error);
  assertInstanceOf(error, ModelThrottledError);
  assertEquals(error.toJSON(), retry?.error.toJSON());
  assertEquals(error.status, 429);
});
