import { assertEquals } from "@std/assert";
import type { Policy } from "../../src/core/hooks/policy.ts";
import { type AgentMessage, userMessage } from "../../src/core/messages/message.ts";
import { modelSpec } from "../../src/core/models/model.ts";
import { agentLoop } from "../../src/loop/loop.ts";
import { MessageQueue } from "../../src/loop/queues/message_queue.ts";
import type { MessageSource } from "../../src/loop/queues/message_source.ts";
import { checkEvents } from "../../src/testing/event_grammar.ts";
import { reply } from "../../src/testing/script.ts";
import { scriptedStream } from "../../src/testing/scripted_stream.ts";
import { eventsOfType, outlineMessages } from "./outline.ts";

/** Runs a prompt with a queue; returns the codes of the warnings and the messages. */
async function runWith(queue: MessageSource, policies: readonly Policy[]) {
  const streamFn = scriptedStream([reply("One"), reply("Two")]);
  const context = { systemPrompt: "", messages: [], tools: [] };
  const config = { model: modelSpec("test/model"), streamFn, steering: queue, policies };
  const events = await checkEvents(agentLoop([userMessage("Go", 0)], context, config));
  return {
    warnings: eventsOfType(events, "warning").map(({ code }) => code),
    messages: outlineMessages(eventsOfType(events, "agent_end")[0]?.messages ?? []),
  };
}

Deno.test("a class that extends MessageQueue: a failure is a warning, and the run ends with its messages", async () => {
  class StoredQueue extends MessageQueue {
    override take(): readonly AgentMessage[] {
      throw new Error("The database is locked");
    }
  }
  const queue = new StoredQueue();
  queue.add(userMessage("later", 0));
  assertEquals(await runWith(queue, []), {
    warnings: ["message_source_failed"],
    messages: ["user: Go", "assistant: One"],
  });
});

Deno.test("a class that extends MessageQueue: a take() without a parameter delivers no unchecked message", async () => {
  class CountedQueue extends MessageQueue {
    count = 0;
    override take(): readonly AgentMessage[] {
      const messages = super.take();
      this.count += messages.length;
      return messages;
    }
  }
  const queue = new CountedQueue({ mode: "all" });
  queue.add(userMessage("first", 0));
  const checked: string[] = [];
  const check: Policy = {
    name: "check",
    preTurn({ newMessages }) {
      checked.push(...outlineMessages(newMessages));
      if (checked.length === 2) queue.add(userMessage("second", 0));
    },
  };
  const { messages } = await runWith(queue, [check]);
  assertEquals(messages, [
    "user: Go",
    "assistant: One",
    "user: first",
    "user: second",
    "assistant: Two",
  ]);
  assertEquals(checked, ["user: Go", "user: first", "user: first", "user: second"]);
  assertEquals(queue.count, 2);
});

Deno.test("a queue of the application: a message that is not JSON is a failure, also if policies check messages", async () => {
  const message = { ...userMessage("later", 0), metadata: { user: 1n } } as unknown as AgentMessage;
  const queue: MessageSource = { peek: () => [message], take: () => [message] };
  const check: Policy = { name: "check", preTurn: ({ newMessages }) => void newMessages };
  for (const policies of [[], [check]]) {
    assertEquals((await runWith(queue, policies)).messages, ["user: Go", "assistant: One"]);
  }
});
