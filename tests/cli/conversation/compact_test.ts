import { assertEquals, assertMatch } from "@std/assert";
import { scriptedReply } from "../fake_host.ts";
import { typeConversation } from "./plain_conversation.ts";

Deno.test("/compact: runs the hooks before a summary, and one that blocks prevents it", async () => {
  const prompts = Array.from(
    { length: 12 },
    (_, index) => `Prompt ${index} ${"word ".repeat(8_000)}`,
  );
  const compactWith = async (command: string) => {
    await using conversation = await typeConversation({
      typed: [...prompts, "/compact", "Next", "/quit"],
      model: [
        ...prompts.map(() => scriptedReply("Yes.")),
        ...(command.startsWith("cat") ? [scriptedReply("SUMMARY")] : []),
        scriptedReply("Hello!"),
      ],
      files: {
        ".config/swink/config.toml": `[[hooks.PreCompact]]\ncommand = ${JSON.stringify(command)}\n`,
      },
    });
    const { outputs, requests, home } = conversation;
    const isSummarized = JSON.stringify(requests.at(-1)?.messages).includes("SUMMARY");
    const hasInput = [...Deno.readDirSync(home.path)].some(({ name }) => name === "input");
    const input = hasInput ? JSON.parse(home.read("input")).hook_event_name : undefined;
    return { output: outputs.at(-3) ?? "", isSummarized, input };
  };
  const passed = await compactWith("cat > ../input");
  assertMatch(passed.output, /^A summary replaces \d+ messages/);
  assertEquals([passed.isSummarized, passed.input], [true, "PreCompact"]);
  const blocked = await compactWith("echo 'not today' >&2; exit 2");
  assertMatch(blocked.output, /^warning: Nothing was omitted: .*not today/);
  assertEquals([blocked.isSummarized, blocked.input], [false, undefined]);
});

const REJECTED = {
  status: 401,
  headers: { "content-type": "application/json" },
  body: JSON.stringify({ type: "error", error: { message: "The key has expired" } }),
};

Deno.test("/compact: reports messages that are omitted without a summary", async () => {
  const answers = Array(8).fill(scriptedReply("One. ".repeat(400).trimEnd()));
  await using conversation = await typeConversation({
    args: ["-m", "anthropic/claude-sonnet-5-5"],
    model: [...answers.slice(1), { ...answers[0], inputTokens: 1_050_000 }, REJECTED],
    typed: [...answers.keys().map((number) => `Prompt ${number}`), "/compact", "/quit"],
  });
  assertMatch(
    conversation.outputs.at(-2) ?? "",
    /^warning: Requests omit 14 messages: 1,050,020 to [\d,]+ tokens\. No summary was written: .*expired/,
  );
});

Deno.test("/compact: a fallback model writes the summary when the key of the model is rejected", async () => {
  const answers = Array(3).fill(scriptedReply("One. ".repeat(400).trimEnd()));
  await using conversation = await typeConversation({
    args: ["-m", "anthropic/a", "--fallback-model", "anthropic/b"],
    model: [...answers, REJECTED, scriptedReply("SUMMARY")],
    typed: ["One", "Two", "Three", "/compact", "/quit"],
  });
  assertMatch(conversation.outputs.at(-2) ?? "", /^A summary replaces 4 messages/);
  const models = conversation.host.requests.map(({ body }) => JSON.parse(body ?? "").model);
  assertEquals(models, ["a", "a", "a", "a", "b"]);
});
