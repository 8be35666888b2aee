/**
 * Hooks of conversations.
 *
 * @module
 */

import { assertEquals, assertStringIncludes } from "@std/assert";
import { scriptedReply } from "../fake_host.ts";
import { typeConversation } from "./plain_conversation.ts";

function createFiles(command: string): Readonly<Record<string, string>> {
  const hook = `[[hooks.UserPromptSubmit]]\ncommand = ${JSON.stringify(command)}\n`;
  return { ".config/swink/config.toml": hook };
}

Deno.test("conversation: UserPromptSubmit adds to all prompts, also to the first one and those of commands", async () => {
  await using conversation = await typeConversation({
    args: ["First"],
    files: createFiles("echo 'Branch: main'"),
    model: ["One.", "Two.", "Three.", "Four."].map((text) => scriptedReply(text)),
    typed: ["Second", "/init", "/review", "/quit"],
  });
  const prompts = conversation.requests.map(({ messages }) => JSON.stringify(messages.at(-1)));
  assertEquals(prompts.length, 4);
  for (const prompt of prompts) assertStringIncludes(prompt, "Branch: main");
});

Deno.test("conversation: a first prompt and a command that UserPromptSubmit blocks are not sent", async () => {
  await using conversation = await typeConversation({
    args: ["First"],
    files: createFiles("echo 'no prompts' >&2; exit 2"),
    model: [],
    typed: ["/review", "/quit"],
  });
  assertEquals(conversation.requests.length, 0);
  const blocked = conversation.transcript.match(/A hook blocked the prompt: no prompts/g);
  assertEquals(blocked?.length, 2);
});

Deno.test("conversation: /rewind, /tree and a continued conversation have prompts without the output of hooks", async () => {
  const files = { ...createFiles("echo 'Branch: main'"), "p/a.txt": "content of the file\n" };
  await using first = await typeConversation({
    args: ["--session-id", "talk"],
    files,
    model: ["One.", "Two."].map((text) => scriptedReply(text)),
    typed: ["Read @a.txt", "Second", "/tree", "/quit"],
  });
  assertEquals(first.requests.length, 2);
  for (const { messages } of first.requests) {
    assertStringIncludes(JSON.stringify(messages.at(-1)), "Branch: main");
  }
  assertEquals(first.outputs[2], "1 * Read @a.txt\n2 * Second\n");
  await using second = await typeConversation({
    home: first.home,
    args: ["-r", "talk"],
    typed: ["/usage", "/rewind 2", "/quit"],
  });
  assertEquals(second.outputs[1], "Back before: Read @a.txt\n");
  assertEquals(second.transcript.includes("Branch: main"), false, second.transcript);
});
