import { assertEquals } from "@std/assert";
import { canContinueReply, completeEnds, separateReplies } from "./complete_ends.ts";

const system = { role: "system", content: "s" };
const user = { role: "user", content: "u" };
const reply = { role: "assistant", content: "r" };
const tool = { role: "tool", tool_call_id: "1", content: "x" };
const first = { role: "user", content: "(The conversation goes on.)" };
const last = { role: "user", content: "Continue." };

Deno.test("completeEnds(): adds a prompt before a reply at the start, after the system prompt", () => {
  assertEquals(completeEnds([reply, user]), [first, reply, user]);
  assertEquals(completeEnds([system, reply, tool]), [system, first, reply, tool]);
});

Deno.test("completeEnds(): adds a prompt after a reply at the end", () => {
  assertEquals(completeEnds([system, user, reply]), [system, user, reply, last]);
  assertEquals(completeEnds([reply]), [first, reply, last]);
});

Deno.test("completeEnds(): leaves a conversation that starts and ends with prompts or results", () => {
  for (const messages of [[user], [system, user, reply, tool], [user, reply, user], [system], []]) {
    assertEquals(completeEnds(messages), messages);
  }
});

Deno.test("completeEnds(): leaves a reply at the end that the server continues", () => {
  assertEquals(completeEnds([user, reply], { continuesReply: true }), [user, reply]);
  assertEquals(completeEnds([reply], { continuesReply: true }), [first, reply]);
});

Deno.test("canContinueReply(): is true only for a request with continue_final_message", () => {
  assertEquals(canContinueReply({ continue_final_message: true }), true);
  for (const extra of [undefined, {}, { continue_final_message: false }]) {
    assertEquals(canContinueReply(extra), false);
  }
});

Deno.test("separateReplies(): puts the prompt of the request for a reply before it, unless the server continued the one before", () => {
  const calls = { ...reply, tool_calls: [{ id: "1" }] };
  const messages = [user, reply, reply, calls, tool, reply, user];
  assertEquals(separateReplies(messages), [
    user,
    reply,
    last,
    reply,
    last,
    calls,
    tool,
    reply,
    user,
  ]);
  assertEquals(separateReplies(messages, { continuesReply: true }), messages);
});
