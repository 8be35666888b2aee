/**
 * Hooks in a conversation.
 *
 * @module
 */

import { assertEquals, assertStringIncludes } from "@std/assert";
import { scriptedReply } from "../fake_host.ts";
import { typeConversation } from "./plain_conversation.ts";

const createConfig = (command: string) => ({
  ".config/swink/config.toml": `[[hooks.UserPromptSubmit]]\ncommand = '${command}'\n`,
});
const env = { PATH: Deno.env.get("PATH") ?? "" };

Deno.test("hooks: UserPromptSubmit runs for the first prompt, and for those of commands", async () => {
  await using conversation = await typeConversation({
    args: ["First"],
    model: ["a", "b", "c", "d"].map((text) => scriptedReply(text)),
    files: createConfig("echo HOOKED"),
    env,
    typed: ["Typed", "/review", "/init", "/quit"],
  });
  const sent = conversation.requests.map(({ messages }) => JSON.stringify(messages.at(-1)));
  assertEquals(sent.length, 4);
  for (const message of sent) assertStringIncludes(message, "\\n\\nHOOKED");
});

Deno.test("hooks: UserPromptSubmit blocks the first prompt, and those of commands", async () => {
  await using conversation = await typeConversation({
    args: ["First"],
    files: createConfig("echo Not today >&2; exit 2"),
    env,
    typed: ["/review", "/quit"],
  });
  assertEquals(conversation.requests.length, 0);
  assertEquals(conversation.transcript.match(/A hook blocked the prompt: Not today/g)?.length, 2);
});
