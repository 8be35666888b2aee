/**
 * Conversations whose session another program has taken over, as during a suspension.
 *
 * @module
 */

import { assertEquals, assertStringIncludes } from "@std/assert";
import { scriptedReply } from "../fake_host.ts";
import { createTemporaryDirectory } from "../temporary_directory.ts";
import { typeConversation } from "./plain_conversation.ts";

for (
  const [command, expected] of [
    ["/resume talk", "assistant: One."],
    ["/fork", "Continuing in the copy"],
    ["/reset", "New conversation"],
  ] as const
) {
  Deno.test(`${command}: leaves a session that another program has taken over`, async () => {
    await using home = await createTemporaryDirectory({ "p/.keep": "" });
    const lock = `${home.path}/.local/state/swink/sessions/talk.lock`;
    const takeOver = () => {
      Deno.removeSync(lock);
      return "Second";
    };
    await using conversation = await typeConversation({
      home,
      args: ["--session-id", "talk"],
      model: ["One.", "Two."].map((text) => scriptedReply(text)),
      typed: ["First", "/resume talk", takeOver, command, "Third", "/quit"],
    });
    const { outputs } = conversation;
    assertStringIncludes(outputs[1] ?? "", "This session is open already");
    assertStringIncludes(outputs[2] ?? "", "open it again, or fork it");
    assertStringIncludes(outputs[3] ?? "", expected);
    assertStringIncludes(outputs[4] ?? "", "assistant: Two.");
    assertEquals(conversation.code, 0);
  });
}

Deno.test("/resume: opens a session again whose loss was found by a command of the user, and then once", async () => {
  await using home = await createTemporaryDirectory({ "p/.keep": "" });
  const lock = `${home.path}/.local/state/swink/sessions/talk.lock`;
  const takeOver = () => {
    Deno.removeSync(lock);
    return "!echo hello";
  };
  await using conversation = await typeConversation({
    home,
    args: ["--session-id", "talk"],
    model: ["One."].map((text) => scriptedReply(text)),
    typed: ["First", takeOver, "/resume talk", "/resume talk", "/quit"],
  });
  const { outputs } = conversation;
  assertStringIncludes(outputs[1] ?? "", "open it again, or fork it");
  assertStringIncludes(outputs[2] ?? "", "assistant: One.");
  assertStringIncludes(outputs[3] ?? "", "This session is open already");
});

Deno.test("conversation: its end does not say how to continue it when another program has deleted its file", async () => {
  await using home = await createTemporaryDirectory({ "p/.keep": "" });
  const deleteFile = () => {
    Deno.removeSync(`${home.path}/.local/state/swink/sessions/talk.jsonl`);
    return "Second";
  };
  await using conversation = await typeConversation({
    home,
    args: ["--session-id", "talk"],
    model: ["One.", "Two."].map((text) => scriptedReply(text)),
    typed: ["First", deleteFile, "/quit"],
  });
  const { transcript } = conversation;
  assertStringIncludes(transcript, "another program has deleted its file");
  assertEquals(transcript.includes("continues this conversation"), false, transcript);
});
