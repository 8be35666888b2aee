import { assertEquals } from "@std/assert";
import { type AgentMessage, userMessage } from "../../core/messages/message.ts";
import { assistantMessage } from "../../testing/messages.ts";
import { createSummaryMessages } from "./summary_messages.ts";

Deno.test("createSummaryMessages(): users and replies alternate, also when the next message is a pinned reply", () => {
  const messages = [
    userMessage("go", 1),
    assistantMessage("one"),
    assistantMessage("the plan"),
    userMessage("two", 2),
  ];
  const getRoles = (pinned: readonly { from: number; to: number; tokens: number }[]) =>
    createSummaryMessages(messages, { cut: { from: 1, to: 3, pinned }, summary: "s" })
      .map(({ role }) => role);
  assertEquals(getRoles([]), ["assistant"]);
  assertEquals(getRoles([{ from: 2, to: 3, tokens: 1 }]), ["assistant", "user"]);
});

Deno.test("createSummaryMessages(): a user message follows if only a custom message and a reply are kept", () => {
  const messages: AgentMessage[] = [
    userMessage("go", 1),
    assistantMessage("one"),
    { role: "custom", type: "plan", data: {}, timestamp: 2 },
    userMessage("two", 3),
    assistantMessage("three"),
  ];
  const cut = { from: 1, to: 4, pinned: [{ from: 2, to: 3, tokens: 0 }] };
  const roles = createSummaryMessages(messages, { cut, summary: "s" }).map(({ role }) => role);
  assertEquals(roles, ["assistant", "user"]);
});
