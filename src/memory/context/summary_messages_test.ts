import { assertEquals } from "@std/assert";
import { userMessage } from "../../core/messages/message.ts";
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
