import { assertEquals } from "@std/assert";
import { createProxy, serveProxy } from "../../adapters/proxy/mod.ts";
import { Agent } from "../../src/agent/agent.ts";
import { zeroUsage } from "../../src/core/models/usage.ts";
import type { StreamFn } from "../../src/core/streams/stream.ts";
import { checkEvents } from "../../src/testing/event_grammar.ts";
import { fakeTool } from "../../src/testing/fake_tool.ts";
import { text, thinking, toolCall } from "../../src/testing/messages.ts";
import { reply } from "../../src/testing/script.ts";
import { scriptedStream } from "../../src/testing/scripted_stream.ts";
import { serveLoopback } from "../adapters/loopback.ts";
import { outlineEvents } from "../conformance/outline.ts";
import { scriptedPorts } from "../conformance/ports.ts";

Deno.test("createProxy(): an agent emits the same events with and without the proxy [AC-7, 6.7]", async () => {
  const createModel = () =>
    scriptedStream([
      reply([
        thinking("A file, then.", { signature: "c2ln" }),
        text("Let me look. 👀"),
        toolCall("read_file", { path: "a b/ü.txt" }, { id: "call_1" }),
        toolCall("list_all", {}, { id: "call_2" }),
      ], { usage: { ...zeroUsage(), input: 10, output: 20 } }),
      reply("It says hello."),
    ]);
  const served = createModel();
  await using server = serveLoopback(
    serveProxy(served, { authorize: (token) => token === "token" }),
  );
  const direct = createAgent(createModel());
  const proxied = createAgent(createProxy({ baseUrl: server.url, apiKey: "token" }));

  const directEvents = await checkEvents(direct.promptStream("What does it say?"));
  const proxiedEvents = await checkEvents(proxied.promptStream("What does it say?"));

  assertEquals(outlineEvents(proxiedEvents), outlineEvents(directEvents));
  assertEquals(proxied.state.messages, direct.state.messages);
  served.assertDone();
});

function createAgent(streamFn: StreamFn): Agent {
  return new Agent({
    model: "anthropic/claude-sonnet-5-5",
    streamFn,
    tools: [
      fakeTool({ name: "read_file", result: "hello" }),
      fakeTool({ name: "list_all", result: "a b/ü.txt" }),
    ],
    ...scriptedPorts(),
    prices: {},
  });
}
