import { assert, assertEquals } from "@std/assert";
import { userMessage } from "../../core/messages/message.ts";
import { assistantMessage, text, toolCall, toolResultMessage } from "../../testing/messages.ts";
import { InMemorySessionStore } from "../storage/in_memory_store.ts";
import { resumeSession } from "./resume.ts";

Deno.test("resumeSession() returns repaired messages, and unchanged ones as they were recorded", async () => {
  const store = new InMemorySessionStore();
  const session = await store.create({ id: "s" });
  const prompt = { ...userMessage("pay", 1), id: "prompt" };
  const twice = [
    toolCall("pay", { amount: 5 }, { id: "same" }),
    toolCall("pay", {}, { id: "same" }),
  ];
  for (
    const message of [
      prompt,
      { ...assistantMessage(twice), id: "reply" },
      toolResultMessage({ id: "same", name: "pay" }, "one"),
      toolResultMessage({ id: "same", name: "pay" }, "two"),
      { ...assistantMessage([text("Done"), text("")]), id: "end" },
    ]
  ) session.append({ type: "message", message });
  await session.close();
  const { messages, repairs, session: resumed } = await resumeSession(store, "s");
  await resumed.close();
  const calls = messages.flatMap((message) =>
    message.role === "assistant"
      ? message.content.flatMap((block) => block.type === "tool_call" ? [block.id] : [])
      : []
  );
  const results = messages.flatMap((message) =>
    message.role === "tool_result" ? [message.toolCallId] : []
  );
  assertEquals(new Set(calls).size, 2);
  assertEquals(results, calls);
  assert(repairs.length > 0);
  assertEquals(messages[0], prompt);
  assertEquals([messages[1]?.id, messages.at(-1)?.id], ["reply", "end"]);
});
