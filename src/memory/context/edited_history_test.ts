import { assertEquals } from "@std/assert";
import { Agent } from "../../agent/agent.ts";
import { type AgentMessage, userMessage } from "../../core/messages/message.ts";
import { estimateTokens } from "../../core/streams/tokens.ts";
import { assistantMessage } from "../../testing/messages.ts";
import { reply } from "../../testing/script.ts";
import { scriptedStream } from "../../testing/scripted_stream.ts";
import { checkpoint, restore } from "../recording/checkpoint.ts";
import { recordSession } from "../recording/record_session.ts";
import { resumeSession } from "../recording/resume.ts";
import { InMemorySessionStore } from "../storage/in_memory_store.ts";
import { composeTransforms } from "./compose_transforms.ts";
import { EditedHistory } from "./edited_history.ts";
import { slidingWindow } from "./sliding_window.ts";

const [u1, u2, u3] = ["1", "2", "3"].map((text) => userMessage(text.repeat(400), 0)) as [
  AgentMessage,
  AgentMessage,
  AgentMessage,
];
const [a1, a2] = ["a1", "a2"].map((text) => ({
  ...assistantMessage(text),
  usage: { input: 100, output: 1, cacheRead: 0, cacheWrite: 0, total: 101 },
})) as [AgentMessage, AgentMessage];

/** Returns the first trusted position of each of several histories, each of which replaces the one before it. */
function getFirstTrusted(histories: readonly (readonly AgentMessage[])[]): readonly number[] {
  const edited = new EditedHistory();
  return histories.map((history) => edited.getFirstTrusted(history, estimateTokens));
}

Deno.test("EditedHistory: replies count as before while messages are appended, removed from the end or copied", () => {
  const histories = [
    [u1],
    [u1, a1, u2],
    [u1, a1, u2, a2],
    [u1, a1, u3],
    [u1],
    structuredClone([u1, a1]),
  ];
  assertEquals(getFirstTrusted(histories), [0, 0, 0, 0, 0, 0]);
});

Deno.test("EditedHistory: replies after a message that was removed or changed do not count", () => {
  const shorter = { ...u1, content: [] } as AgentMessage;
  const histories = [
    [u1, a1, u2, a2],
    [u1, u2, a2],
    [u1, u2, a2, u3],
    [u1, u2, a2, u3, a1],
    [shorter, u2, a2, u3],
  ];
  assertEquals(getFirstTrusted(histories), [0, 3, 3, 3, 3]);
});

Deno.test("EditedHistory: a reply does not count after a message was inserted before it", () => {
  assertEquals(getFirstTrusted([[u1], [u1, u2, a1, u3]]), [0, 4]);
});

Deno.test("EditedHistory: a reply counts after messages that were queued while the transform of its request ran", () => {
  const [first, late, answer] = [u1, u2, a1].map((message, timestamp) => ({
    ...message,
    id: `${timestamp}`,
    timestamp,
  })) as [AgentMessage, AgentMessage, AgentMessage];
  assertEquals(getFirstTrusted([[first], [first, late, answer, u3]]), [0, 0]);
  const copied = structuredClone([first, late, answer, u3]);
  assertEquals(getFirstTrusted([[first], copied]), [0, 0]);
  const inserted = { ...late, timestamp: 3 };
  assertEquals(getFirstTrusted([[first], [first, inserted, answer, u3]]), [0, 4]);
});

Deno.test("EditedHistory: replies count when messages before them change without becoming longer or shorter", () => {
  const other = userMessage("4".repeat(400), 0);
  assertEquals(getFirstTrusted([[u1, u2], [other, u2, a1, u3]]), [0, 0]);
});

Deno.test("slidingWindow(): tokens are counted by the provider though an earlier transform changes the first message", async () => {
  const usage = { input: 2_000, output: 1, cacheRead: 0, cacheWrite: 0, total: 2_001 };
  const streamFn = scriptedStream([reply("ok", { usage }), reply("ok")]);
  const window = slidingWindow({ contextWindow: 2_200, keepSteps: 1 });
  let requests = 0;
  const transformContext = composeTransforms(
    (messages) => [userMessage(`Request ${++requests}`, 0), ...messages],
    window,
  );
  const agent = new Agent({ model: "p/m", streamFn, transformContext });
  await agent.prompt("first");
  await agent.prompt("second");
  assertEquals(window.cut !== undefined, true);
});

Deno.test("slidingWindow(): tokens are counted by the provider after a message was queued during a transform", async () => {
  const usage = { input: 2_000, output: 1, cacheRead: 0, cacheWrite: 0, total: 2_001 };
  const streamFn = scriptedStream([reply("ok", { usage }), reply("ok")]);
  const window = slidingWindow({ contextWindow: 2_200, keepSteps: 1 });
  let isFirst = true;
  const transformContext = composeTransforms((messages) => {
    if (isFirst) agent.steer("late ".repeat(100));
    isFirst = false;
    return messages;
  }, window);
  const agent: Agent = new Agent({ model: "p/m", streamFn, transformContext });
  await agent.prompt("first");
  assertEquals(streamFn.calls[0]?.context.messages.length, 2);
  await agent.prompt("second");
  assertEquals(window.cut !== undefined, true);
});

Deno.test("slidingWindow(): tokens are counted by the provider in a resumed session whose first message another transform shortens", async () => {
  const usage = { input: 2_000, output: 1, cacheRead: 0, cacheWrite: 0, total: 2_001 };
  const createAgent = () => {
    const window = slidingWindow({ contextWindow: 2_200, keepSteps: 1 });
    const streamFn = scriptedStream(Array(2).fill(reply("ok", { usage })));
    const transformContext = composeTransforms(
      (messages) => [userMessage("short", 0), ...messages.slice(1)],
      window,
    );
    return { window, agent: new Agent({ model: "p/m", streamFn, transformContext }) };
  };
  const store = new InMemorySessionStore();
  const { agent } = createAgent();
  const recording = await recordSession(agent, store);
  await agent.prompt("long ".repeat(1_000));
  await recording.stop();
  const resumed = createAgent();
  const session = await resumeSession(store, recording.session.id);
  await using _recording = await session.into(resumed.agent);
  await resumed.agent.prompt("second");
  const restored = createAgent();
  restore(restored.agent, checkpoint(agent));
  await restored.agent.prompt("second");
  assertEquals([resumed.window.cut?.from, restored.window.cut?.from], [1, 1]);
});

Deno.test("slidingWindow(): all tokens are estimated after the host has edited a history of another process", async () => {
  const usage = { input: 50, output: 1, cacheRead: 0, cacheWrite: 0, total: 51 };
  const createAgent = () => {
    const window = slidingWindow({ contextWindow: 2_000 });
    const streamFn = scriptedStream(Array(9).fill(reply("ok", { usage })));
    return { window, agent: new Agent({ model: "p/m", streamFn, transformContext: window }) };
  };
  const store = new InMemorySessionStore();
  const { agent } = createAgent();
  const recording = await recordSession(agent, store);
  await agent.prompt("first");
  await recording.stop();
  const insert = async (edited: Agent) => {
    const { messages } = edited.state;
    const long = userMessage("y".repeat(8_000));
    edited.setMessages([...messages.slice(0, -1), long, ...messages.slice(-1)]);
    await edited.prompt("next");
  };
  const resumed = createAgent();
  const session = await resumeSession(store, recording.session.id);
  await using _recording = await session.into(resumed.agent);
  await insert(resumed.agent);
  const restored = createAgent();
  restore(restored.agent, checkpoint(agent));
  await insert(restored.agent);
  assertEquals([resumed.window.cut?.from, restored.window.cut?.from], [1, 1]);
});

Deno.test("slidingWindow(): a run continues after its host has shortened an earlier message", async () => {
  const usage = { input: 1_300, output: 1, cacheRead: 0, cacheWrite: 0, total: 1_301 };
  const streamFn = scriptedStream([reply("ok", { usage }), reply("ok")]);
  const transformContext = slidingWindow({ contextWindow: 2_000 });
  const agent = new Agent({ model: "p/m", streamFn, transformContext });
  await agent.prompt("long ".repeat(1_000));
  const failed = await agent.prompt("next ".repeat(900));
  assertEquals(failed.error?.code, "context_window_overflow");
  const [first, ...others] = agent.state.messages;
  agent.setMessages([
    { ...first, content: userMessage("short", 0).content } as AgentMessage,
    ...others,
  ]);
  assertEquals((await agent.continue()).error, undefined);
});
