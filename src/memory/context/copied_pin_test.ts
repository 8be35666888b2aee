import { assertEquals } from "@std/assert";
import { createHistory, createSummarizer } from "../../../tests/memory/long_history.ts";
import { Agent } from "../../agent/agent.ts";
import type { AgentMessage } from "../../core/messages/message.ts";
import { fail, reply } from "../../testing/script.ts";
import { scriptedStream } from "../../testing/scripted_stream.ts";
import { composeTransforms } from "./compose_transforms.ts";
import { slidingWindow } from "./sliding_window.ts";

/** Creates a message with a plan. */
function createPlan(text: string): AgentMessage {
  const plan = { type: "extension", typeName: "plan", data: text } as const;
  return { role: "user", id: "plan", content: [{ type: "text", text }, plan], timestamp: 3 };
}

/** Returns the texts of the plans in a list of messages. */
function listPlans(messages: readonly AgentMessage[] = []): unknown[] {
  return messages.flatMap((message) =>
    message.role === "custom"
      ? []
      : message.content.flatMap((block) => block.type === "extension" ? [block.data] : [])
  );
}

Deno.test("summarize(): a plan that another transform copies is kept and not summarized later", async () => {
  const summaries = scriptedStream([fail("network_error", "Connection reset"), reply("summary")]);
  const streamFn = scriptedStream([reply("ok"), reply("ok")]);
  let time = 0;
  const agent = new Agent({
    model: "p/m",
    streamFn,
    transformContext: composeTransforms(
      (messages) => structuredClone(messages),
      createSummarizer({ streamFn: summaries, now: () => time }),
    ),
    messages: createHistory(12).with(6, createPlan("first plan")),
  });
  await agent.prompt("one");
  time = 60_000;
  await agent.prompt("two");
  assertEquals(streamFn.calls.map(({ context }) => listPlans(context.messages)), [
    ["first plan"],
    ["first plan"],
  ]);
  const requests = summaries.calls.map(({ context }) => JSON.stringify(context.messages));
  assertEquals(requests.map((request) => request.includes("first plan")), [false, false]);
});

Deno.test("slidingWindow(): a plan that the host replaces under its id is sent as it is now", async () => {
  const streamFn = scriptedStream([reply("ok"), reply("ok")]);
  const agent = new Agent({
    model: "p/m",
    streamFn,
    transformContext: slidingWindow({ contextWindow: 10_000, keepSteps: 1 }),
    messages: createHistory().with(6, createPlan("first")),
  });
  await agent.prompt("one");
  agent.setMessages(agent.state.messages.with(6, createPlan("second")));
  await agent.prompt("two");
  assertEquals(streamFn.calls.map(({ context }) => listPlans(context.messages)), [
    ["first"],
    ["second"],
  ]);
});
