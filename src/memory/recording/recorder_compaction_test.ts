import { assertEquals } from "@std/assert";
import { Agent } from "../../agent/agent.ts";
import { userMessage } from "../../core/messages/message.ts";
import { reply } from "../../testing/script.ts";
import { scriptedStream } from "../../testing/scripted_stream.ts";
import { compact } from "../context/compact.ts";
import { slidingWindow } from "../context/sliding_window.ts";
import { InMemorySessionStore } from "../storage/in_memory_store.ts";
import { recordSession } from "./record_session.ts";
import { resumeSession } from "./resume.ts";

function createAgent() {
  const transform = slidingWindow({ contextWindow: 2_000, keepSteps: 1 });
  const streamFn = scriptedStream(Array(9).fill(reply("ok")));
  return { transform, agent: new Agent({ model: "p/m", streamFn, transformContext: transform }) };
}

Deno.test("recordSession(): a run that starts during compact() records an edited history once", async () => {
  const store = new InMemorySessionStore();
  const { agent, transform } = createAgent();
  const recording = await recordSession(agent, store);
  for (let number = 0; number < 4; number++) await agent.prompt("x".repeat(1_000));
  const messages = agent.state.messages;
  agent.setMessages([...messages.slice(0, -1), userMessage("inserted"), ...messages.slice(-1)]);
  const compacting = compact(agent, transform, { tokens: 300 });
  await agent.prompt("next");
  assertEquals((await compacting)?.droppedCount, 6);
  await recording.stop();
  const resumed = createAgent();
  await using _recording = await (await resumeSession(store, recording.session.id))
    .into(resumed.agent);
  assertEquals(resumed.agent.state.messages, agent.state.messages);
  const view = resumed.transform.view(resumed.agent.state.messages);
  assertEquals(view, transform.view(agent.state.messages));
});
