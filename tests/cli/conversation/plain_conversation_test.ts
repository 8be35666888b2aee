/**
 * Conversations on a terminal that only writes lines.
 *
 * @module
 */

import { assertEquals, assertStringIncludes } from "@std/assert";
import { main } from "../../../cli/main.ts";
import { createFakeHost, scriptedCall, scriptedReply } from "../fake_host.ts";
import { createTemporaryDirectory } from "../temporary_directory.ts";
import { typeConversation } from "./plain_conversation.ts";

const HEADER = `anthropic/claude-sonnet-5-5 · ~/p · asks first · net off
sandbox Landlock+seccomp+namespace
`;

const END = "swink -r SESSION continues this conversation\n";

const USAGE = "1 turn · 100 tokens in, 20 out · $0.0004 · 0.0 s\n";

/** Returns the texts of the messages of the user in a request. */
function listUserTexts(
  { messages }: {
    readonly messages: readonly { readonly role: string; readonly content: unknown }[];
  },
): string[] {
  return messages.filter(({ role }) => role === "user").map(({ content }) =>
    Array.isArray(content) ? content.map(({ text = "" }) => text).join("") : String(content)
  );
}

Deno.test("conversation: sends each line with the history, and leaves at /quit", async () => {
  await using conversation = await typeConversation({
    model: [scriptedReply("Hello!"), scriptedReply("Bye!")],
    typed: ["Greet me", "And now?", "/quit"],
  });
  const { transcript, code, requests } = conversation;
  assertEquals(
    transcript,
    `${HEADER}> Greet me
assistant: Hello!
${USAGE}> And now?
assistant: Bye!
${USAGE}> /quit
${END}`,
  );
  assertEquals(code, 0);
  assertEquals(requests.map(listUserTexts), [["Greet me"], ["Greet me", "And now?"]]);
});

Deno.test("conversation: begins with the prompt of the command line", async () => {
  await using conversation = await typeConversation({
    args: ["Greet", "me"],
    model: [scriptedReply("Hello!")],
    typed: ["/quit"],
  });
  assertEquals(conversation.transcript, `${HEADER}assistant: Hello!\n${USAGE}> /quit\n${END}`);
});

Deno.test("conversation: the end of the input leaves", async () => {
  await using conversation = await typeConversation({ typed: [] });
  assertEquals([conversation.code, conversation.transcript], [0, `${HEADER}>\n`]);
});

Deno.test("conversation: a backslash at the end of a line continues the text", async () => {
  await using conversation = await typeConversation({
    model: [scriptedReply("Yes.")],
    typed: ["one\\", "two", "/quit"],
  });
  assertEquals(conversation.requests.map(listUserTexts), [["one\ntwo"]]);
});

Deno.test("conversation: output contains no escape byte", async () => {
  await using conversation = await typeConversation({
    model: [
      scriptedReply(
        "\x1b[31mred\x1b[0m \x9b5m \x1b]0;title\x07 # **bold**",
        scriptedCall("list_directory"),
      ),
      scriptedReply("Done."),
    ],
    files: { "p/\x1b[31mevil.txt": "" },
    typed: ["Look", "#help", "/quit"],
  });
  // deno-lint-ignore no-control-regex -- matches what the terminal would interpret
  assertEquals(/[\x00-\x08\x0b-\x1f\x7f-\x9f]/.exec(conversation.transcript), null);
});

Deno.test("conversation: Ctrl+C aborts the run and keeps what was done, and leaves when it is pressed twice", async () => {
  await using conversation = await typeConversation({
    model: [scriptedReply(scriptedCall("bash", { command: "echo 1" })), scriptedReply("Done.")],
    args: ["--approve-all"],
    typed: ["Work", ({ host }) => {
      host.sendSignal("SIGINT");
      host.sendSignal("SIGINT");
    }],
  });
  assertEquals(conversation.code, 0);
  assertStringIncludes(conversation.transcript, "Ctrl+C again leaves; so do Ctrl+D and /quit\n>");
});

Deno.test("conversation: a signal ends it with its exit code", async () => {
  for (const [signal, code] of [["SIGTERM", 143], ["SIGHUP", 129]] as const) {
    await using conversation = await typeConversation({
      model: [scriptedReply("Hello!")],
      typed: ["Greet me", ({ host }) => host.sendSignal(signal)],
    });
    assertEquals(conversation.code, code);
  }
});

Deno.test("conversation: where standard input or output is no terminal, it is a run", async () => {
  await using home = await createTemporaryDirectory({ "p/x": "" });
  for (const terminals of [[], ["input"], ["output"]] as const) {
    const host = createFakeHost({
      terminals,
      model: [scriptedReply("Hello!")],
      env: { ANTHROPIC_API_KEY: "k", HOME: home.path },
    });
    assertEquals(await main(["--cwd", `${home.path}/p`, "Greet me"], host), 0);
    assertStringIncludes(host.output, "Hello!\n");
  }
});

Deno.test("conversation: an option that only a run has is a usage error at a terminal", async () => {
  await using conversation = await typeConversation({ args: ["--patch", "x"], typed: [] });
  assertEquals([conversation.code, conversation.host.messages], [
    2,
    "swink: A conversation has no option --patch\n" +
    "It is an option of swink run: swink run --patch …\n",
  ]);
});

Deno.test("conversation: a misspelt command of the program is no prompt", async () => {
  await using conversation = await typeConversation({ typed: [] });
  const host = createFakeHost({ terminals: ["input", "output", "messages"] });
  assertEquals(await main(["modles"], host), 2);
  assertStringIncludes(host.messages, 'Unknown command "modles". Did you mean models?');
  assertEquals(conversation.requests, []);
});

Deno.test("conversation: a line that is similar to a command is held back until it is confirmed", async () => {
  await using conversation = await typeConversation({
    model: [scriptedReply("Hm."), scriptedReply("Hm."), scriptedReply("Hm.")],
    typed: ["/hlep me", "", "/etc/hosts is wrong", "/hlep", "#12 fails", "/quit"],
  });
  assertStringIncludes(
    conversation.transcript,
    `> /hlep me
note: /hlep is no command. Did you mean /help? Enter again sends the line as text.
>
assistant: Hm.
`,
  );
  assertEquals(conversation.requests.map(listUserTexts).at(-1), [
    "/hlep me",
    "/etc/hosts is wrong",
    "#12 fails",
  ]);
});

Deno.test("conversation: a line with an API key is held back until it is confirmed", async () => {
  const key = `sk-ant-${"x1".repeat(20)}`;
  await using conversation = await typeConversation({
    model: [scriptedReply("Hm.")],
    typed: [key, "Greet me", "/quit"],
  });
  assertStringIncludes(
    conversation.transcript,
    "This looks like an API key or a password. #key PROVIDER saves a key. Enter again sends the line as it is.\n",
  );
  assertEquals(conversation.requests.map(listUserTexts), [["Greet me"]]);
});

Deno.test("conversation: a failed request is reported, and the next line is sent", async () => {
  await using conversation = await typeConversation({
    model: [
      { status: 400, body: '{"error":{"type":"invalid_request_error","message":"no"}}' },
      scriptedReply("Hello!"),
    ],
    typed: ["Greet me", "Again", "/quit"],
  });
  assertStringIncludes(conversation.transcript, "anthropic answered 400");
  assertStringIncludes(conversation.transcript, "> Again\nassistant: Hello!\n");
});
