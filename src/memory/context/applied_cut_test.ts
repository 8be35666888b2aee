import { assertEquals } from "@std/assert";
import { Agent } from "../../agent/agent.ts";
import { type AgentMessage, userMessage } from "../../core/messages/message.ts";
import { reply } from "../../testing/script.ts";
import { scriptedStream } from "../../testing/scripted_stream.ts";
import { slidingWindow } from "./sliding_window.ts";

const note: AgentMessage = { role: "custom", type: "note", data: {}, timestamp: 0 };

Deno.test("slidingWindow(): a cut does not apply to a shortened history whose latest step it would omit", async () => {
  const streamFn = scriptedStream(Array(10).fill(reply("ok")));
  const transform = slidingWindow({ contextWindow: 2_000, keepSteps: 0 });
  const agent = new Agent({ model: "p/m", streamFn, transformContext: transform });
  for (let number = 0; number < 9; number++) await agent.prompt(`${number} ${"x".repeat(1_000)}`);
  const shortened = agent.state.messages.slice(0, transform.cut?.to);
  assertEquals(shortened.at(-1)?.role, "user");
  agent.setMessages([...shortened, note]);
  await agent.continue();
  assertEquals<unknown>(streamFn.calls.at(-1)?.context.messages, shortened);
  agent.setMessages([...shortened, note, userMessage("next", 0)]);
  assertEquals(transform.view(agent.state.messages).messages.length, 3);
});
