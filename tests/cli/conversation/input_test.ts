/**
 * Texts, files and commands that are typed into a conversation.
 *
 * @module
 */

import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { scriptedCall, scriptedReply } from "../fake_host.ts";
import { createTemporaryDirectory } from "../temporary_directory.ts";
import { type PlainConversation, typeConversation } from "./plain_conversation.ts";

const HELLO = [scriptedReply("Hello!")];

function getLastText({ requests }: PlainConversation): string {
  return JSON.stringify(requests.at(-1)?.messages.at(-1)?.content);
}

Deno.test("!command: runs a command, and the model reads it with the next text", async () => {
  await using conversation = await typeConversation({
    files: { "p/a.txt": "needle\n" },
    model: HELLO,
    typed: ["!cat a.txt; exit 3", "What is it?", "/quit"],
  });
  assertEquals(conversation.outputs[0], "needle\nExit code: 3\n");
  assertStringIncludes(getLastText(conversation), "cat a.txt; exit 3");
  assertStringIncludes(getLastText(conversation), "needle");
  assertStringIncludes(getLastText(conversation), "What is it?");
});

Deno.test("!!command: runs a command for the user only", async () => {
  await using conversation = await typeConversation({
    files: { "p/a.txt": "needle\n" },
    model: HELLO,
    typed: ["!!cat a.txt", "What is it?", "/quit"],
  });
  assertEquals(conversation.outputs[0], "needle\nExit code: 0\n");
  assert(!getLastText(conversation).includes("needle"));
});

Deno.test("!command: runs in the sandbox, and its changes can be undone", async () => {
  await using conversation = await typeConversation({
    files: { "outside.txt": "1\n" },
    typed: ["!echo 2 > ../outside.txt", "!echo 2 > a.txt", "/undo", "/quit"],
  });
  assertEquals(conversation.home.read("outside.txt"), "1\n");
  assertEquals(conversation.outputs[2], "removed a.txt\n/redo makes these changes again\n");
});

Deno.test("!command: its changes can be undone when it is the first input", async () => {
  await using conversation = await typeConversation({
    files: { "p/a.txt": "1\n" },
    model: HELLO,
    typed: [
      ...["!echo 2 > a.txt", "/undo", "/reset"],
      ...["!!echo 3 > a.txt", "!!echo 4 > b.txt", "Greet me", "/undo", "/undo", "/undo"],
      ...["/reset", "!!echo 5 > c.txt", "/reset", "!!true", "/undo", "/quit"],
    ],
  });
  const { outputs } = conversation;
  assertEquals(outputs[1], "restored a.txt\n/redo makes these changes again\n");
  assertEquals(outputs.slice(6, 9), [
    "removed b.txt\n/redo makes these changes again\n",
    "restored a.txt\n/redo makes these changes again\n",
    "There is no change to undo; those of swink run are not recorded\n",
  ]);
  assertEquals(outputs[13], "There is no change to undo; those of swink run are not recorded\n");
  assertEquals(conversation.home.read("p/a.txt"), "1\n");
  assertEquals(conversation.home.read("p/c.txt"), "5\n");
});

Deno.test("!command: Ctrl+C ends a command, and the conversation continues", async () => {
  await using conversation = await typeConversation({
    model: HELLO,
    typed: ["Greet me", ({ host }) => {
      setTimeout(() => host.sendSignal("SIGINT"), 300);
      return "!sleep 60";
    }, "/quit"],
  });
  assertEquals(conversation.code, 0);
});

Deno.test("@path: adds a file to the text", async () => {
  await using conversation = await typeConversation({
    files: { "p/a.txt": "needle\n" },
    model: HELLO,
    typed: ["Look at @a.txt", "/quit"],
  });
  assertStringIncludes(getLastText(conversation), "needle");
});

const PIXEL = Uint8Array.fromBase64(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
);

Deno.test("image: the path of an image adds it, in the project or elsewhere", async () => {
  for (
    const text of [
      "See HOME/shot 1.png",
      "See 'HOME/shot 1.png' now",
      "See HOME/shot\\ 1.png",
      "See @b.png",
    ]
  ) {
    await using home = await typeConversation({ typed: ["/quit"] });
    home.home.write("shot 1.png", PIXEL);
    home.home.write("p/b.png", PIXEL);
    await using conversation = await typeConversation({
      home: home.home,
      model: HELLO,
      typed: [text.replace("HOME", home.home.path), "/quit"],
    });
    assertStringIncludes(getLastText(conversation), '"type":"image"', text);
  }
});

Deno.test("image: --image adds one to the first prompt", async () => {
  await using home = await createTemporaryDirectory({ "p/.keep": "", "b.png": PIXEL });
  const start = (...args: string[]) =>
    typeConversation({
      home,
      model: HELLO,
      args: ["-i", `${home.path}/b.png`, ...args],
      typed: ["/quit"],
    });
  assertStringIncludes(getLastText(await start("Look")), '"type":"image"');
  const { code, host } = await start();
  assertEquals([code, host.messages], [
    2,
    'swink: --image needs a prompt, to which it adds the image\nTry: swink -i FILE "What is this?"\n',
  ]);
});

Deno.test("image: a path that is no image stays a text", async () => {
  await using conversation = await typeConversation({
    model: HELLO,
    typed: ["See /nothing/shot.png", "/quit"],
  });
  assert(!getLastText(conversation).includes('"type":"image"'));
});

const EDITOR = {
  "editor.sh":
    '#!/bin/sh\nprintf "From the editor\\n" >> "$1"\necho "$1" > "$(dirname "$0")/path"\n',
};

Deno.test("/editor: sends the text of EDITOR, and removes the file [AC-24]", async () => {
  await using conversation = await typeConversation({
    files: EDITOR,
    env: { EDITOR: 'sh "HOME/editor.sh"', VISUAL: "false" },
    model: HELLO,
    typed: ["/editor First line.", "/quit"],
  });
  assertStringIncludes(getLastText(conversation), "First line.From the editor");
  assertStringIncludes(conversation.transcript, "> First line.From the editor\nassistant: Hello!");
  const path = conversation.home.read("path").trim();
  assertEquals(await Deno.stat(path).then(() => "exists", () => "removed"), "removed");
});

Deno.test("/editor: VISUAL is used without EDITOR", async () => {
  await using conversation = await typeConversation({
    files: EDITOR,
    env: { VISUAL: 'sh "HOME/editor.sh"' },
    model: HELLO,
    typed: ["/editor", "/quit"],
  });
  assertStringIncludes(getLastText(conversation), "From the editor");
});

Deno.test("/editor: a text with a key is sent only after a question", async () => {
  const key = `sk-ant-api03-${"aB3".repeat(20)}`;
  const options = {
    files: { "editor.sh": `printf "use ${key}" >"$1"\n` },
    env: { EDITOR: 'sh "HOME/editor.sh"' },
  };
  await using refused = await typeConversation({ ...options, typed: ["/editor", "n", "/quit"] });
  assertStringIncludes(refused.transcript, "looks like an API key or a password");
  assertEquals(refused.requests, []);
  await using sent = await typeConversation({
    ...options,
    model: HELLO,
    typed: ["/editor", "y", "/quit"],
  });
  assertStringIncludes(getLastText(sent), key);
});

Deno.test("/editor: an empty text sends nothing [AC-25]", async () => {
  for (const editor of ["true", "rm -f"]) {
    await using conversation = await typeConversation({
      env: { EDITOR: editor },
      typed: ["/editor", "/quit"],
    });
    assertEquals(conversation.outputs[0], "The text was empty, so nothing was sent\n");
    assertEquals(conversation.requests, []);
  }
});

Deno.test("/editor: a failing editor is reported, and nothing is sent", async () => {
  await using conversation = await typeConversation({
    env: { EDITOR: "false" },
    typed: ["/editor text", "/quit"],
  });
  assertEquals(
    conversation.outputs[0],
    'error: The editor "false" ended with exit code 1\nNothing was sent. EDITOR selects another editor.\n',
  );
});

Deno.test("custom commands: Markdown files of the user and of a trusted project are prompts", async () => {
  const files = {
    ".config/swink/commands/explain.md":
      "---\ndescription: Explains a file\nargument-hint: FILE\n---\nExplain $ARGUMENTS briefly.\n",
    ".config/swink/commands/greet.md": "Greet everyone\n",
    ".config/swink/commands/quit.md": "Never",
    "p/.swink/commands/greet.md": "Greet the project\n",
  };
  await using conversation = await typeConversation({
    files,
    args: ["--trust"],
    model: [...HELLO, ...HELLO],
    typed: ["/help explain", "/explain a.ts", "/greet in German", "/quit"],
  });
  const { outputs, requests, transcript } = conversation;
  assertStringIncludes(outputs[0] ?? "", "/explain FILE\n  Explains a file\n");
  assertEquals(
    requests.map(({ messages }) => JSON.stringify(messages.at(-1)?.content)).map((text) =>
      /"text":"([^"]*)"/.exec(text)?.[1]
    ),
    ["Explain a.ts briefly.", "Greet the project\\n\\nin German"],
  );
  assertStringIncludes(
    transcript,
    "warning: HOME/.config/swink/commands/quit.md is not used, because /quit is a command of the program: rename the file, for example to my-quit.md\n",
  );
});

Deno.test("custom commands: a file with the name of a command of the program is reported once, at the start", async () => {
  await using conversation = await typeConversation({
    files: {
      ".config/swink/commands/load.md": "Load all",
      "p/.swink/commands/help.md": "Help me",
    },
    args: ["--trust"],
    typed: ["/help load", "/help", "/quit"],
  });
  const [start = "", later = ""] = conversation.transcript.split("/help load\n");
  const conflicts = start.match(/[\w/.]+ is not used, because \/\w+/g);
  assertEquals(conflicts, [
    "HOME/p/.swink/commands/help.md is not used, because /help",
    "HOME/.config/swink/commands/load.md is not used, because /load",
  ]);
  assert(!later.includes("is not used"), later);
});

Deno.test("custom commands: files without a text, with fields that do not end and with binary data are reported", async () => {
  await using conversation = await typeConversation({
    files: {
      ".config/swink/commands/empty.md": "---\ndescription: Nothing\n---\n\n",
      ".config/swink/commands/open.md": "---\ndescription: Open\n\nText\n",
      ".config/swink/commands/binary.md": "a\0b",
      ".config/swink/commands/My_Review.md": "Review",
      ".config/swink/commands/rule.md": "---\n\nText below a rule\n",
    },
    typed: ["/help rule", "/quit"],
  });
  const { transcript, outputs } = conversation;
  assertStringIncludes(transcript, "empty.md was not loaded: it has no text to send");
  assertStringIncludes(transcript, "open.md was not loaded: the lines after its first ---");
  assertStringIncludes(transcript, "binary.md was not loaded: it is no text file");
  assertStringIncludes(transcript, "My_Review.md was not loaded: name the file with lower-case");
  assertStringIncludes(outputs.join(""), "/rule [TEXT]");
});

Deno.test("custom commands: files that cannot be read are reported with the reason", async () => {
  await using home = await createTemporaryDirectory({
    "p/.keep": "",
    "secret.md": "Secret",
    ".config/swink/commands/large.md": "a".repeat(100_001),
    ".config/swink/commands/directory.md/a": "",
  });
  const commands = `${home.path}/.config/swink/commands`;
  await Deno.symlink(`${home.path}/secret.md`, `${commands}/link.md`);
  await Deno.symlink("missing", `${commands}/lost.md`);
  await using conversation = await typeConversation({ home, typed: ["/quit"] });
  const reasons = [...conversation.transcript.matchAll(/(\w+)\.md was not loaded: (.*)/g)]
    .map(([, name, reason]) => `${name}: ${reason}`);
  assertEquals(reasons, [
    "directory: it is a directory, not a regular file",
    "large: it is larger than 100000 bytes",
    "link: it is a link to a file outside of its directory",
    "lost: it is a link to a missing file",
  ]);
});

Deno.test("custom commands: a directory that cannot be read, or has too many of them, is reported", async () => {
  await using file = await typeConversation({
    files: { ".config/swink/commands": "no directory" },
    typed: ["/quit"],
  });
  assertStringIncludes(
    file.transcript,
    "warning: the commands of HOME/.config/swink/commands were not loaded: ",
  );
  const names = Array.from(
    { length: 201 },
    (_, index) => String.fromCharCode(97 + index % 26).repeat(Math.floor(index / 26) + 1),
  );
  const files = names.map((name) => [`.config/swink/commands/${name}.md`, "Text"]);
  await using many = await typeConversation({
    files: Object.fromEntries(files),
    typed: ["/quit"],
  });
  assertStringIncludes(
    many.transcript,
    "warning: only the first 200 commands of HOME/.config/swink/commands were loaded\n",
  );
});

Deno.test("custom commands: those of a project that is not trusted are not loaded", async () => {
  await using conversation = await typeConversation({
    files: { "p/.swink/commands/deploy.md": "Deploy" },
    typed: ["n", "/help deploy", "/quit"],
  });
  assertStringIncludes(conversation.transcript, ".swink/commands");
  assertStringIncludes(conversation.outputs[1] ?? "", "There is no command deploy");
});

Deno.test("a failed tool call and a refused one are one line each", async () => {
  await using conversation = await typeConversation({
    model: [
      scriptedReply(scriptedCall("read_file", { path: "missing.txt" })),
      scriptedReply("It is missing."),
    ],
    typed: ["Read", "/quit"],
  });
  assertStringIncludes(conversation.transcript, "tool: failed read_file missing.txt - ");
});
