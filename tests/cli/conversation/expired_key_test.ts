/**
 * Keys that become invalid during a conversation.
 *
 * @module
 */

import { assertEquals, assertStringIncludes } from "@std/assert";
import { scriptedCall, scriptedReply } from "../fake_host.ts";
import { createTemporaryDirectory } from "../temporary_directory.ts";
import { typeConversation } from "./plain_conversation.ts";

const REJECTED = {
  status: 401,
  headers: { "content-type": "application/json" },
  body: JSON.stringify({ type: "error", error: { message: "The key has expired" } }),
};

Deno.test("conversation: the key command runs once in a run that a fallback model continues", async () => {
  await using home = await createTemporaryDirectory({ "p/x": "" });
  home.write(
    ".config/swink/config.toml",
    `[providers.anthropic]\nkey_command = "echo x >> '${home.path}/calls'; echo sk-old"\n`,
  );
  const call = scriptedReply(scriptedCall("list_directory"));
  let calls = "";
  await using conversation = await typeConversation({
    home,
    env: { ANTHROPIC_API_KEY: "" },
    args: ["-m", "anthropic/a", "--fallback-model", "anthropic/b"],
    model: [REJECTED, call, REJECTED, scriptedReply("Done.")],
    typed: ["First", () => {
      calls = home.read("calls");
      return "/quit";
    }],
  });
  assertEquals([conversation.host.requests.length, calls], [4, "x\n"]);
});

Deno.test("conversation: the key command runs again when its key is rejected", async () => {
  await using home = await createTemporaryDirectory({ "p/x": "", key: "sk-old" });
  home.write(
    ".config/swink/config.toml",
    `[providers.anthropic]\nkey_command = "cat '${home.path}/key'"\n`,
  );
  await using conversation = await typeConversation({
    home,
    env: { ANTHROPIC_API_KEY: "" },
    args: ["-m", "anthropic/claude-sonnet-5-5"],
    model: [scriptedReply("One."), REJECTED, scriptedReply("Three."), scriptedReply("Four.")],
    typed: [
      "First",
      () => {
        home.write("key", "sk-new");
        return "Second";
      },
      "Third",
      "Fourth",
      "/quit",
    ],
  });
  const { host, transcript } = conversation;
  const keys = host.requests.map(({ headers }) => headers.get("x-api-key"));
  assertEquals(keys, ["sk-old", "sk-old", "sk-new", "sk-new"], transcript);
  assertStringIncludes(transcript, "The key has expired\n");
});

Deno.test("conversation: a summary gets the key of the conversation, and a rejected one is forgotten", async () => {
  await using home = await createTemporaryDirectory({ "p/x": "", key: "sk-old" });
  home.write(
    ".config/swink/config.toml",
    `[providers.anthropic]\nkey_command = "cat '${home.path}/key'"\n`,
  );
  await using conversation = await typeConversation({
    home,
    env: { ANTHROPIC_API_KEY: "" },
    args: ["-m", "anthropic/claude-sonnet-5-5"],
    model: [
      // Longer than the summary that replaces them.
      ...["One.", "Two.", "Three."].map((text) => scriptedReply(`${text} `.repeat(200).trimEnd())),
      REJECTED,
      scriptedReply("A summary."),
    ],
    typed: [
      "First",
      "Second",
      "Third",
      () => {
        home.write("key", "sk-new");
        return "/compact";
      },
      "/compact",
      "/quit",
    ],
  });
  const { host, transcript } = conversation;
  const keys = host.requests.map(({ headers }) => headers.get("x-api-key"));
  assertEquals(keys, ["sk-old", "sk-old", "sk-old", "sk-old", "sk-new"], transcript);
  assertStringIncludes(transcript, "No summary was written: anthropic answered 401");
  assertStringIncludes(transcript, "A summary replaces ");
});

Deno.test("fallback models: another model continues where a key command fails, which runs once in each run", async () => {
  await using home = await createTemporaryDirectory({ "p/.keep": "" });
  home.write(
    ".config/swink/config.toml",
    `[providers.openai]\nkey_command = "echo x >> '${home.path}/calls'; echo locked >&2; exit 3"\n`,
  );
  const call = scriptedReply(scriptedCall("list_directory"));
  await using conversation = await typeConversation({
    home,
    args: ["-m", "openai/a", "--fallback-model", "anthropic/b"],
    model: [call, scriptedReply("One."), scriptedReply("Two.")],
    typed: ["Work", "/quit"],
  });
  const text = conversation.transcript.replaceAll(/\s+/g, " ");
  assertStringIncludes(
    text,
    "warning: openai cannot be used, so the next fallback model continues: " +
      "The key command for openai: sh failed with exit code 3: locked",
  );
  assertStringIncludes(text, "assistant: One.");
  assertEquals(home.read("calls"), "x\n");
});

Deno.test("key command: one that fails is the error of the run", async () => {
  await using conversation = await typeConversation({
    files: { ".config/swink/config.toml": "[providers.openai]\nkey_command = 'exit 3'\n" },
    typed: ["/model openai/a", "Work", "/quit"],
  });
  assertStringIncludes(
    conversation.transcript,
    "\nerror: The key command for openai: sh failed with exit code 3\n",
  );
});
