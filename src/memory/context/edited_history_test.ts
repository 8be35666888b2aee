import { assertEquals } from "@std/assert";
import { Agent } from "../../agent/agent.ts";
import { type AgentMessage, userMessage } from "../../core/messages/message.ts";
import { assistantMessage } from "../../testing/messages.ts";
import { reply } from "../../testing/script.ts";
import { scriptedStream } from "../../testing/scripted_stream.ts";
import { EditedHistory } from "./edited_history.ts";
import { slidingWindow } from "./sliding_window.ts";

const [u1, u2, u3] = ["1", "2", "3"].map((text) => userMessage(text, 0)) as [
  AgentMessage,
  AgentMessage,
  AgentMessage,
];
const [a1, a2] = [assistantMessage("a1"), assistantMessage("a2")];

Deno.test("EditedHistory: replies count as before while messages are appended, removed from the end or copied", () => {
  const edited = new EditedHistory();
  const histories = [
    [u1],
    [u1, a1, u2],
    [u1, a1, u2, a2],
    [u1, a1, u3],
    [u1],
    structuredClone([u1, a1]),
  ];
  assertEquals(histories.map((history) => edited.getFirstTrusted(history)), [0, 0, 0, 0, 0, 0]);
});

Deno.test("EditedHistory: replies after a message that was removed or changed do not count", () => {
  const edited = new EditedHistory();
  const shorter = { ...u1, content: [] } as AgentMessage;
  const histories = [[u1, a1, u2, a2], [u1, u2, a2], [u1, u2, a2, u3, a1], [shorter, u2, a2, u3]];
  assertEquals(histories.map((history) => edited.getFirstTrusted(history)), [0, 3, 3, 4]);
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
