/**
 * Conversations on a terminal with a live region: the terminal itself.
 *
 * @module
 */

// deno-lint-ignore-file no-control-regex -- sequences begin with control characters

import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { scriptedCall, scriptedReply } from "../fake_host.ts";
import { createTemporaryDirectory } from "../temporary_directory.ts";
import { holdReply, KEYS, openTerminal } from "./live_terminal.ts";

const WRITE = scriptedCall("write_file", { path: "a.txt", content: "1\n" });

Deno.test("live: marks prompts and output for terminals that jump between them", async () => {
  await using terminal = await openTerminal({
    model: [scriptedReply("Yes."), scriptedReply("No.")],
  });
  await terminal.enter("One");
  await terminal.waitFor("Yes.");
  await terminal.waitFor("1 turn");
  await terminal.enter("Two");
  await terminal.waitFor("No.");
  const written = terminal.emulator.written.join("");
  const marks = written.match(/\x1b\]133;[A-D]\x07/g)?.map((mark) => mark.slice(6, 7));
  assertEquals(marks, ["A", "C", "D", "A", "C"]);
});

Deno.test("live: a question is reported as configured", async () => {
  for (
    const [way, sequence] of [
      ["osc9", "\x1b]9;swink asks about write_file\x07"],
      ["bell", "\x07"],
      ["off", undefined],
    ] as const
  ) {
    const model = [scriptedReply(WRITE)];
    await using terminal = await openTerminal({ model, args: ["--notify", way] });
    await terminal.enter("Write");
    await terminal.waitFor("Allow?");
    const notices = terminal.emulator.written.filter((text) =>
      /^(?:\x1b\]9;[^\x07]*)?\x07$/.test(text)
    );
    assertEquals(notices, sequence === undefined ? [] : [sequence]);
    terminal.press("n");
  }
});

Deno.test("live: /copy copies the reply, a code block and the conversation", async () => {
  const model = [scriptedReply("See:\n\n```ts\nconst a = 1;\n```\n\nDone.")];
  await using terminal = await openTerminal({ model });
  await terminal.enter("Code?");
  await terminal.waitFor("1 turn");
  for (const command of ["/copy", "/copy code", "#copy all"]) {
    const { length } = terminal.text.split("Copied");
    await terminal.enter(command);
    await terminal.waitFor(() => terminal.text.split("Copied").length > length);
  }
  const copied = terminal.emulator.written.join("").matchAll(/\x1b\]52;c;([^\x07]*)\x07/g);
  assertEquals(
    [...copied].map(([, text = ""]) => new TextDecoder().decode(Uint8Array.fromBase64(text))),
    [
      "See:\n\n```ts\nconst a = 1;\n```\n\nDone.",
      "const a = 1;",
      "> Code?\n\nSee:\n\n```ts\nconst a = 1;\n```\n\nDone.",
    ],
  );
});

Deno.test("live: Ctrl+Z leaves the terminal to the shell, and the draft is there afterwards", async () => {
  await using terminal = await openTerminal();
  terminal.press("My draft");
  await terminal.waitFor("\n› My draft");
  terminal.press(KEYS.controlZ);
  await terminal.waitFor(() => terminal.suspensions.length === 1);
  assertEquals(terminal.suspensions, [{ isRaw: false }]);
  await terminal.waitFor(() => terminal.isRaw);
  await terminal.waitFor(() => terminal.screen.endsWith("› My draft"));
});

Deno.test("live: each key counts once after a stop that was not prepared", async () => {
  await using terminal = await openTerminal();
  await terminal.waitFor("asks first");
  for (const [number, text] of ["one", " two", " three"].entries()) {
    terminal.continue();
    // The row of before remains, since another program may have written behind it.
    await terminal.waitFor(() => terminal.text.split("EXECUTE").length === number + 3);
    terminal.press(text);
    await terminal.waitFor(() => terminal.screen.endsWith(text));
  }
  await terminal.waitFor(() => terminal.screen.endsWith("› one two three"));
});

Deno.test("live: Ctrl+Z at a question or a text prompt leaves the terminal to the shell, and they are there afterwards", async () => {
  await using terminal = await openTerminal({ model: [scriptedReply(WRITE)], rows: 30 });
  await terminal.enter("Write");
  await terminal.waitFor("Allow?");
  terminal.press(KEYS.controlZ);
  await terminal.waitFor(() => terminal.suspensions.length === 1);
  await terminal.waitFor(() => terminal.isRaw);
  terminal.press("r");
  await terminal.waitFor("\nReason:");
  terminal.press("Not", KEYS.controlZ);
  await terminal.waitFor(() => terminal.suspensions.length === 2);
  await terminal.waitFor(() => terminal.isRaw);
  terminal.press(" yet");
  await terminal.waitFor("Reason: Not yet");
  assertEquals(terminal.suspensions, [{ isRaw: false }, { isRaw: false }]);
  assert(!terminal.text.includes("Possible answers"), terminal.text);
});

Deno.test("live: a terminal that is closed leaves the session saved, and its questions refused", async () => {
  await using home = await createTemporaryDirectory({ "p/.keep": "" });
  const model = [scriptedReply("Before."), scriptedReply(WRITE)];
  {
    await using terminal = await openTerminal({ home, model });
    await terminal.enter("One");
    await terminal.waitFor("1 turn");
    await terminal.enter("Two");
    await terminal.waitFor("Allow?");
    terminal.close();
    assertEquals(await terminal.waitForExit(), 129);
    assertEquals(terminal.isRaw, false);
    assertEquals(terminal.requests.length, 2);
  }
  await using terminal = await openTerminal({
    home,
    args: ["-c"],
    model: [scriptedReply("After.")],
  });
  await terminal.waitFor("› Two");
  assertStringIncludes(terminal.text, "› One\nBefore.\n");
  await terminal.enter("Three");
  await terminal.waitFor("After.");
  assertEquals(terminal.listPrompts(), ["One", "Two", "Three"]);
  assertEquals(await Deno.stat(`${home.path}/p/a.txt`).catch(() => "none"), "none");
});

Deno.test("live: a session that cannot be written is reported, and its prompts end with the reason", async () => {
  const model = [scriptedReply("One."), scriptedReply("Two."), scriptedReply("Three.")];
  await using terminal = await openTerminal({ model, rows: 40 });
  await terminal.enter("1");
  await terminal.waitFor("1 turn");
  const sessions = `${terminal.home.path}/.local/state/swink/sessions`;
  for await (const { name } of Deno.readDir(sessions)) {
    if (name.endsWith(".jsonl")) await Deno.remove(`${sessions}/${name}`);
  }
  await terminal.enter("2");
  await terminal.waitFor(/^(?:warning|error): Cannot write the session/m);
  await terminal.enter("3");
  await terminal.waitFor(/^error: Cannot write the session "\S+": another/m);
  assert(!terminal.text.includes("aborted"), terminal.text);
});

Deno.test("live: SIGTERM during a run restores the terminal and saves the session", async () => {
  const reply = holdReply(scriptedReply("I have begun and"));
  await using terminal = await openTerminal({ model: [reply] });
  await terminal.enter("Begin");
  await terminal.waitFor("I have begun and");
  terminal.sendSignal("SIGTERM");
  assertEquals(await terminal.waitForExit(), 143);
  assertEquals(terminal.isRaw, false);
  assertStringIncludes(terminal.text, "swink -r SESSION continues this conversation");
  assert(!terminal.screen.includes("EXECUTE"), terminal.screen);
});

Deno.test("live: an invalid model restores the terminal, and is reported", async () => {
  await using home = await createTemporaryDirectory({ "p/.keep": "" });
  await using terminal = await openTerminal({
    home,
    args: ["-m", "nowhere/model"],
    awaits: "nothing",
  });
  assertEquals(await terminal.waitForExit(), 3);
  assertStringIncludes(terminal.messages, "nowhere");
  assertEquals(terminal.isRaw, false);
});

Deno.test("live: NO_COLOR shows no color", async () => {
  const model = [
    scriptedReply("# Title\n\n`code` and **bold**\n\n```ts\nconst a = 1;\n```\n"),
    scriptedReply(WRITE),
  ];
  await using terminal = await openTerminal({ model, env: { NO_COLOR: "1" } });
  await terminal.enter("One");
  await terminal.waitFor("1 turn");
  await terminal.enter("Two");
  await terminal.waitFor("Allow?");
  terminal.press("y");
  await terminal.waitFor("Created a.txt");
  const styles = terminal.emulator.written.join("").match(/\x1b\[[\d;:]*m/g) ?? [];
  assertEquals([...new Set(styles)].filter((style) => style !== "\x1b[m"), []);
});

Deno.test("live: /theme changes the colors of later output", async () => {
  await using terminal = await openTerminal({
    model: [scriptedReply("`code`"), scriptedReply("`code`")],
  });
  const colors: number[] = [];
  for (const theme of ["dark", "light"]) {
    await terminal.enter(`/theme ${theme}`);
    await terminal.waitFor(`theme ${theme}`);
    await terminal.enter(`Show ${theme}`);
    await terminal.waitFor(() => terminal.text.split("1 turn").length > colors.length + 1);
    const rows = terminal.screen.split("\n");
    colors.push(terminal.emulator.getColor(rows.findLastIndex((row) => row.startsWith("code")), 0));
  }
  assertEquals(new Set(colors).size, 2);
});

Deno.test("live: #clear empties the screen and keeps the scrollback", async () => {
  await using terminal = await openTerminal({ model: [scriptedReply("Yes.")] });
  await terminal.enter("One");
  await terminal.waitFor("1 turn");
  await terminal.enter("#clear");
  await terminal.waitFor(() => !terminal.screen.includes("Yes."));
  assertStringIncludes(terminal.text, "Yes.");
  await terminal.waitFor(() => terminal.screen.split("\n").at(-1) === "›");
});

Deno.test("live: output of the model cannot change the terminal", async () => {
  const hostile = [
    "a\x1b[2Jb\x1b]0;title\x07c\x9b31md\x1b]52;c;aGk=\x07e\r\x08f",
    "x".repeat(10_000),
    "\u202eright to left\u2066",
    "```sh\nno end",
  ].join("\n\n");
  const model = [
    scriptedReply(
      hostile,
      scriptedCall("bash", { command: "printf '\\033[2J\\033]0;t\\007\\033[31m%0500d' 1" }),
    ),
    scriptedReply("Done."),
  ];
  await using terminal = await openTerminal({ model, args: ["--approve-all"] });
  await terminal.enter("Go");
  await terminal.waitFor("Done.");
  await terminal.waitFor("2 turns");
  const written = terminal.emulator.written.join("");
  for (const sequence of ["\x1b[2J", "\x1b]0;", "\x1b]52;", "\x9b", "\x08", "\u202e", "\u2066"]) {
    assert(!written.includes(sequence), JSON.stringify(sequence));
  }
  assertEquals(terminal.text.match(/^x+$/gm)?.join("").length, 10_000);
  const [status, input] = terminal.screen.split("\n").slice(-2);
  assert(status?.startsWith("EXECUTE"), status);
  assertEquals(input, "›");
});

Deno.test("live: text that is typed while the program starts is kept, and Ctrl+C leaves before it has started", async () => {
  const files = {
    ".config/swink/config.toml":
      '[[hooks.SessionStart]]\ncommand = "until [ -e go ]; do sleep 0.02; done"\n',
  };
  {
    await using terminal = await openTerminal({
      files,
      model: [scriptedReply("Yes.")],
      awaits: "prompt",
    });
    terminal.press("typed early", KEYS.enter);
    await terminal.waitFor(() => terminal.screen === "›");
    terminal.home.write("p/go", "");
    await terminal.waitFor("Yes.");
    assertEquals(terminal.listPrompts(), ["typed early"]);
  }
  await using terminal = await openTerminal({ files, awaits: "prompt" });
  terminal.press(KEYS.controlC);
  assertEquals(await terminal.waitForExit(), 130);
  assertEquals(terminal.isRaw, false);
});
