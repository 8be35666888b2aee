/**
 * Conversations on a terminal that only writes lines.
 *
 * @module
 */

import { assertEquals, assertStringIncludes } from "@std/assert";
import { scriptedReply } from "../fake_host.ts";
import { typeConversation } from "./plain_conversation.ts";

Deno.test("conversation: sends each line with the history, and leaves at /quit", async () => {
  await using conversation = await typeConversation({
    model: [scriptedReply("Hello!"), scriptedReply("Bye!")],
    typed: ["Greet me", "And now?", "/quit"],
  });
  console.log(conversation.transcript);
  assertEquals(conversation.code, 0);
  assertEquals(conversation.requests.length, 2);
  assertStringIncludes(conversation.transcript, "> Greet me\nassistant: Hello!\n");
});
