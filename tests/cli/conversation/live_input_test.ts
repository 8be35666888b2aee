/**
 * Conversations on a terminal with a live region: what the user types.
 *
 * @module
 */

import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { FileSessionStore } from "../../../src/memory/mod.ts";
import { scriptedCall, scriptedReply } from "../fake_host.ts";
import { createTemporaryDirectory } from "../temporary_directory.ts";
import { holdReply, KEYS, openTerminal } from "./live_terminal.ts";

const WRITE = scriptedCall("write_file", { path: "a.txt", content: "1\n" });

Deno.test("live: a line that is sent during a run waits for the end of the turn, one with >> or Alt+Enter for that of the run", async () => {
  const first = holdReply(scriptedReply(scriptedCall("read_file", { path: "a.txt" })), 4);
  const model = [
    first,
    scriptedReply("Steered."),
    scriptedReply("Followed."),
    scriptedReply("Later."),
  ];
  await using terminal = await openTerminal({ model, files: { "p/a.txt": "1\n" }, rows: 30 });
  await terminal.enter("Begin");
  await terminal.waitFor("preparing read_file");
  await terminal.enter(">> after that");
  await terminal.waitFor("queued >> after that");
  terminal.press("and later", KEYS.altEnter);
  await terminal.waitFor("queued >> and later");
  await terminal.enter("not b.txt");
  await terminal.waitFor("queued not b.txt");
  assertEquals(terminal.requests.length, 1);
  first.release();
  await terminal.waitFor("Later.");
  await terminal.waitFor(() => !terminal.screen.includes("queued"));
  assertEquals(terminal.listPrompts().slice(0, 2), ["Begin", "not b.txt"]);
  const texts = terminal.text.match(/^(?:› .*|\w+\.)$/gm);
  assertEquals(texts, [
    "› Begin",
    "› not b.txt",
    "Steered.",
    "› after that",
    "Followed.",
    "› and later",
    "Later.",
  ]);
});

Deno.test("live: a queued text is taken back into the input, or removed", async () => {
  const reply = holdReply(scriptedReply("Yes."));
  await using terminal = await openTerminal({ model: [reply, scriptedReply("Again.")], rows: 30 });
  await terminal.enter("Begin");
  await terminal.waitFor("Yes.");
  await terminal.enter("first");
  await terminal.enter(">> second");
  await terminal.waitFor("queued >> second");
  await terminal.enter("/queue edit 2");
  await terminal.waitFor("\n› >> second");
  assert(!terminal.screen.includes("queued >> second"), terminal.screen);
  terminal.press("!", KEYS.enter);
  await terminal.waitFor("queued >> second!");
  await terminal.enter("/queue remove 1");
  await terminal.waitFor(() => !terminal.screen.includes("queued first"));
  reply.release();
  await terminal.waitFor("Again.");
  assertEquals(terminal.listPrompts(), ["Begin", "second!"]);
});

Deno.test("live: a text that is wider than the terminal is shown with the indentation of its sign", async () => {
  await using terminal = await openTerminal({ model: [scriptedReply("Yes.")], columns: 40 });
  const words = Array.from({ length: 16 }, (_, word) => `word${word}`).join(" ");
  terminal.press(KEYS.paste(`${words}\n${words}`), KEYS.enter);
  await terminal.waitFor("Yes.");
  const rows = terminal.text.split("\n").filter((row) => row.includes("word"));
  assertEquals(rows.map((row) => row.slice(0, 3)), [
    "› w",
    ...Array.from({ length: 5 }, () => "  w"),
  ]);
});

Deno.test("live: the beginning of a long text is shown when it is sent", async () => {
  await using terminal = await openTerminal({ model: [scriptedReply("Yes.")] });
  const text = Array.from({ length: 1_500 }, (_, line) => `line ${line}`).join("\n");
  terminal.press(KEYS.paste(text), KEYS.enter);
  await terminal.waitFor("Yes.");
  assertStringIncludes(terminal.text, "\n  line 199\n  … 1,300 more rows\nYes.");
  assertEquals(terminal.listPrompts(), [text]);
});

Deno.test("live: three queued texts are shown, and the number of the others", async () => {
  const reply = holdReply(scriptedReply("Yes."));
  await using terminal = await openTerminal({ model: [reply], rows: 30 });
  await terminal.enter("Begin");
  await terminal.waitFor("Yes.");
  const rows = () => terminal.screen.split("\n").filter((row) => /^queued|more; /.test(row));
  for (const text of ["one", "two", "three"]) {
    await terminal.enter(text);
    await terminal.waitFor(`queued ${text}`);
  }
  assertEquals(rows(), ["queued one", "queued two", "queued three"]);
  await terminal.enter("four");
  await terminal.waitFor("+1 more; /queue");
  assertEquals(rows(), ["queued one", "queued two", "queued three", "+1 more; /queue"]);
  terminal.press(KEYS.escape);
  reply.release();
});

Deno.test("live: keys that were typed before a question do not answer it, and the unfinished line is kept", async () => {
  const reply = holdReply(scriptedReply(WRITE), 2);
  await using terminal = await openTerminal({ model: [reply, scriptedReply("Done.")] });
  await terminal.enter("Write");
  await terminal.waitFor("preparing write_file");
  terminal.press("y");
  await terminal.waitFor("\n› y");
  reply.release();
  await terminal.waitFor("Allow?");
  await new Promise((resolve) => setTimeout(resolve, 50));
  assertStringIncludes(terminal.screen, "Allow?");
  assert(!terminal.screen.includes("\n› y"), terminal.screen);
  terminal.press("y");
  await terminal.waitFor("Done.");
  await terminal.waitFor("\n› y");
  assertEquals(terminal.home.read("p/a.txt"), "1\n");
});

Deno.test("live: an answer that is completed by its word and Enter does not send the unfinished line", async () => {
  for (const rest of ["", "es"]) {
    const reply = holdReply(scriptedReply(WRITE), 2);
    const done = holdReply(scriptedReply("Done."));
    // On a busy machine, the keys are not late.
    const now = () => Date.now() / 10;
    await using terminal = await openTerminal({ model: [reply, done], now });
    await terminal.enter("Write");
    await terminal.waitFor("preparing write_file");
    terminal.press("not yet");
    await terminal.waitFor("\n› not yet");
    reply.release();
    await terminal.waitFor("Allow?");
    terminal.press("y", ...rest, KEYS.enter, "!");
    await terminal.waitFor("\n› not yet!");
    done.release();
    await terminal.waitFor("Done.");
    assert(!terminal.text.includes("queued not yet"), terminal.text);
    assertEquals(terminal.listPrompts(), ["Write"]);
  }
});

Deno.test("live: a pasted text is no answer", async () => {
  const model = [scriptedReply(WRITE), scriptedReply("Done.")];
  await using terminal = await openTerminal({ model });
  await terminal.enter("Write");
  await terminal.waitFor("Allow?");
  terminal.press(KEYS.paste("y"));
  terminal.press(KEYS.paste("yes"));
  await new Promise((resolve) => setTimeout(resolve, 50));
  terminal.press("n");
  await terminal.waitFor("you said no");
});

Deno.test("live: Escape at a question refuses the call and aborts the run", async () => {
  const model = [scriptedReply(WRITE), scriptedReply("Done.")];
  await using terminal = await openTerminal({ model });
  await terminal.enter("Write");
  await terminal.waitFor("Allow?");
  terminal.press(KEYS.escape);
  await terminal.waitFor("aborted; changes made so far are kept");
  assertEquals(terminal.requests.length, 1);
  assertEquals(await Deno.stat(`${terminal.home.path}/p/a.txt`).catch(() => "none"), "none");
});

Deno.test("live: Ctrl+C directly before a question aborts the run, as other keys are discarded", async () => {
  const reply = holdReply(scriptedReply(WRITE), 1);
  await using terminal = await openTerminal({ model: [reply], rows: 30 });
  await terminal.enter("Write");
  await terminal.waitFor("preparing write_file");
  reply.release();
  // The status is erased before earlier keys are discarded.
  await terminal.waitFor(() => !terminal.screen.includes("EXECUTE"));
  terminal.press("y", KEYS.controlC);
  await terminal.waitFor("aborted; changes made so far are kept");
  assert(!terminal.text.includes("Allow?"), terminal.text);
});

Deno.test("live: Ctrl+C clears the text, then aborts the run, and leaves when it is pressed again", async () => {
  const reply = holdReply(scriptedReply("Yes."));
  await using terminal = await openTerminal({ model: [reply] });
  await terminal.enter("Begin");
  await terminal.waitFor("Yes.");
  terminal.press("draft");
  await terminal.waitFor("\n› draft");
  terminal.press(KEYS.controlC);
  await terminal.waitFor(() => !terminal.screen.includes("› draft"));
  assert(!terminal.text.includes("aborted"), terminal.text);
  terminal.press(KEYS.controlC);
  await terminal.waitFor("aborted;");
  terminal.press(KEYS.controlC);
  assertEquals(await terminal.waitForExit(), 0);
});

Deno.test("live: another key that ends the run keeps the text, and does not leave when it is pressed again", async () => {
  const reply = holdReply(scriptedReply("Yes."));
  const config = '[keys]\nabort = "ctrl+x"\n';
  await using terminal = await openTerminal({
    model: [reply, scriptedReply("Again.")],
    files: { ".config/swink/config.toml": config },
  });
  await terminal.enter("Begin");
  await terminal.waitFor("Yes.");
  terminal.press("draft");
  await terminal.waitFor("\n› draft");
  terminal.press("\x18");
  await terminal.waitFor("aborted;");
  terminal.press("\x18", "\x18", KEYS.enter);
  await terminal.waitFor("Again.");
  assertEquals(terminal.listPrompts().slice(-1), ["draft"]);
});

Deno.test("live: Ctrl+C twice leaves also at a question", async () => {
  await using terminal = await openTerminal({ model: [scriptedReply(WRITE)] });
  await terminal.enter("Write");
  await terminal.waitFor("Allow?");
  terminal.press(KEYS.controlC);
  await terminal.waitFor("aborted");
  terminal.press(KEYS.controlC);
  assertEquals(await terminal.waitForExit(), 0);
});

Deno.test("live: Ctrl+C before and after a prompt are not twice", async () => {
  const held = [holdReply(scriptedReply("One …")), holdReply(scriptedReply("Two …"))];
  await using terminal = await openTerminal({ model: held });
  await terminal.enter("First");
  await terminal.waitFor("One");
  terminal.press(KEYS.controlC);
  await terminal.waitFor("aborted");
  await terminal.enter("Second");
  await terminal.waitFor("Two");
  terminal.press(KEYS.controlC);
  await terminal.waitFor(/aborted[^]*aborted/);
  terminal.press("still here");
  await terminal.waitFor("› still here");
});

Deno.test("live: Ctrl+C without a run explains how to leave; Ctrl+Q and /quit leave", async () => {
  for (const key of [KEYS.controlQ, `/quit${KEYS.enter}`]) {
    await using terminal = await openTerminal();
    // Before the first input is read, Ctrl+C leaves at once.
    await terminal.enter("/theme");
    await terminal.waitFor("theme dark");
    terminal.press(KEYS.controlC);
    await terminal.waitFor("Ctrl+C again leaves");
    for (const part of key === KEYS.controlQ ? [key] : ["/quit", KEYS.enter]) terminal.press(part);
    assertEquals(await terminal.waitForExit(), 0);
    assertEquals(terminal.isRaw, false);
  }
});

Deno.test("live: Shift+Tab turns plan mode on and off", async () => {
  await using terminal = await openTerminal();
  await terminal.waitFor("EXECUTE");
  terminal.press(KEYS.shiftTab);
  await terminal.waitFor("PLAN ·");
  terminal.press(KEYS.shiftTab);
  await terminal.waitFor("EXECUTE");
});

Deno.test("live: F1, F3, F4 and F5 run their commands", async () => {
  const env = { OPENAI_API_KEY: "k" };
  await using terminal = await openTerminal({ columns: 100, rows: 30, env });
  terminal.press(KEYS.f1);
  await terminal.waitFor("/compact");
  terminal.press(KEYS.f3);
  await terminal.waitFor("theme light");
  terminal.press(KEYS.f4);
  await terminal.waitFor("from now on");
  terminal.press(KEYS.f5);
  await terminal.waitFor("No prompt has been sent yet");
});

Deno.test("live: [keys] gives actions other keys", async () => {
  const files = { ".config/swink/config.toml": '[keys]\nusage = ["f6"]\nsubmit = "ctrl+s"\n' };
  await using terminal = await openTerminal({ files, model: [scriptedReply("Yes.")] });
  terminal.press(KEYS.f5, "\x1b[17~");
  await terminal.waitFor("No prompt has been sent yet");
  terminal.press("one", KEYS.enter, "two", "\x13");
  await terminal.waitFor("Yes.");
  assertEquals(terminal.listPrompts(), ["onetwo"]);
});

Deno.test("live: Tab completes commands, their arguments and files", async () => {
  const files = { "p/src/alpha.ts": "", "p/src/beta.ts": "", "p/two words/my file.txt": "" };
  await using terminal = await openTerminal({ files, rows: 30 });
  await terminal.waitFor("EXECUTE");
  terminal.press("/the");
  await terminal.waitFor("\n› /the");
  terminal.press(KEYS.tab);
  await terminal.waitFor("\n› /theme");
  terminal.press(KEYS.controlC, "/theme hi", KEYS.tab);
  await terminal.waitFor("\n› /theme high_contrast");
  terminal.press(KEYS.controlC, "see @alp", KEYS.tab);
  await terminal.waitFor("\n› see @src/alpha.ts");
  terminal.press(KEYS.controlC, 'see @"tw', KEYS.tab);
  await terminal.waitFor('\n› see @"two words/');
  terminal.press("m", KEYS.tab);
  await terminal.waitFor('\n› see @"two words/my file.txt"');
});

Deno.test("live: Tab completes the id of a session by a word of its title", async () => {
  await using home = await createTemporaryDirectory({ "p/x": "" });
  const store = new FileSessionStore({ directory: `${home.path}/.local/state/swink/sessions` });
  for (const [id, title] of [["one", "Fix the parser"], ["two", "Plan a trip"]] as const) {
    await using session = await store.create({ id, cwd: await Deno.realPath(`${home.path}/p`) });
    session.append({ type: "title", title });
  }
  await using terminal = await openTerminal({ home });
  terminal.press("/resume parser", KEYS.tab);
  await terminal.waitFor("\n› /resume one");
});

Deno.test("live: a completion that is requested during the start is shown when the program has started", async () => {
  await using terminal = await openTerminal({ awaits: "nothing" });
  terminal.press("/the", KEYS.tab);
  await terminal.waitFor("\n› /theme");
});

Deno.test("live: Up and Ctrl+R find the inputs of this and of earlier conversations, without keys", async () => {
  await using home = await createTemporaryDirectory({ "p/.keep": "" });
  const key = `sk-ant-api03-${"aB3".repeat(20)}`;
  {
    await using terminal = await openTerminal({ home, model: [scriptedReply("Yes.")] });
    await terminal.enter("the first prompt");
    await terminal.waitFor("Yes.");
    terminal.press(`use ${key}`, KEYS.enter);
    await terminal.waitFor("This looks like an API key");
    terminal.press(KEYS.controlC, KEYS.controlD);
    await terminal.waitForExit();
  }
  await using terminal = await openTerminal({ home });
  await terminal.waitFor("EXECUTE");
  await terminal.waitFor(() => {
    // The history is read while the program starts.
    terminal.press(KEYS.up);
    return terminal.screen.includes("\n› the first prompt");
  });
  terminal.press(KEYS.controlC, KEYS.controlR, "irst");
  await terminal.waitFor("the first prompt");
  assert(!terminal.text.includes(key), terminal.text);
});

Deno.test("live: the prompt of the command line is shown like a typed one, and Up returns it", async () => {
  await using home = await createTemporaryDirectory({ "p/.keep": "" });
  {
    await using terminal = await openTerminal({ home, model: [scriptedReply("Yes.")] });
    await terminal.enter("Earlier");
    await terminal.waitFor("1 turn");
  }
  const model = [scriptedReply("Hello!")];
  await using terminal = await openTerminal({ home, model, args: ["-c", "Greet", "me"] });
  await terminal.waitFor("› Earlier\nYes.\n\n› Greet me\nHello!\n");
  await terminal.waitFor("1 turn");
  terminal.press(KEYS.up);
  await terminal.waitFor(/\n› Greet me$/);
});

Deno.test("live: a line that is held back stays in the input, and Enter sends it", async () => {
  await using terminal = await openTerminal({ model: [scriptedReply("Yes.")] });
  await terminal.enter("/hlep me");
  await terminal.waitFor("/hlep is no command. Did you mean /help?");
  await terminal.waitFor("\n› /hlep me");
  terminal.press(KEYS.enter);
  await terminal.waitFor("Yes.");
  assertEquals(terminal.listPrompts(), ["/hlep me"]);
});

Deno.test("live: a follow-up that is held back is still one after Enter", async () => {
  const held = holdReply(scriptedReply("One …"));
  await using terminal = await openTerminal({ model: [held, scriptedReply("Two.")] });
  await terminal.enter("First");
  await terminal.waitFor("One");
  terminal.press("/hlep me", KEYS.altEnter);
  await terminal.waitFor("/hlep is no command.");
  await terminal.waitFor("\n› /hlep me");
  terminal.press(KEYS.enter);
  await terminal.waitFor(">> /hlep me");
  held.release();
  await terminal.waitFor("Two.");
  assertEquals(terminal.listPrompts(), ["First", "/hlep me"]);
});

Deno.test("live: a line that is held back and then cleared is not sent by Enter", async () => {
  const key = `sk-ant-${"x1".repeat(20)}`;
  await using terminal = await openTerminal({ model: [scriptedReply("Yes.")] });
  await terminal.enter(key);
  await terminal.waitFor("This looks like an API key or a password.");
  await terminal.waitFor(`\n› ${key}`);
  terminal.press(KEYS.controlC);
  await terminal.waitFor(/\n› ?$/);
  terminal.press(KEYS.enter);
  await terminal.enter("Greet me");
  await terminal.waitFor("Yes.");
  assertEquals(terminal.listPrompts(), ["Greet me"]);
});

Deno.test("live: --vi has the keys of vi, with commands after a colon", async () => {
  await using terminal = await openTerminal({ args: ["--vi"], model: [scriptedReply("Yes.")] });
  terminal.press("one two", KEYS.escape);
  await terminal.waitFor("\n‹ one two");
  terminal.press("0", "d", "w");
  await terminal.waitFor("\n‹ two");
  terminal.press("A", "!");
  await terminal.waitFor("\n› two!");
  terminal.press(KEYS.enter);
  await terminal.waitFor("Yes.");
  assertEquals(terminal.listPrompts(), ["two!"]);
  terminal.press(KEYS.escape);
  await terminal.waitFor(/\n‹ ?$/);
  terminal.press(":");
  await terminal.waitFor(/\n‹ ?\n:$/);
  terminal.press("q", KEYS.enter);
  assertEquals(await terminal.waitForExit(), 0);
});

Deno.test("live: #key asks for a key without showing it, also for one that is pasted", async () => {
  const key = `sk-${"k1".repeat(20)}`;
  await using terminal = await openTerminal();
  await terminal.enter("#key openai");
  await terminal.waitFor("Key for openai (not shown):");
  terminal.press(KEYS.paste(key));
  terminal.press(KEYS.enter);
  await terminal.waitFor("The key for openai is saved in ");
  await terminal.enter("#keys");
  await terminal.waitFor(/^openai .*credentials/m);
  assert(!terminal.emulator.written.join("").includes("k1k1"), "the key is not shown");
});

Deno.test("live: a key in the line of a command that saves it is not printed", async () => {
  const key = `sk-${"k1".repeat(20)}`;
  for (const name of ["#key", "/key", "/login"]) {
    await using terminal = await openTerminal();
    await terminal.enter(`${name} openai ${key}`);
    await terminal.waitFor("The key for openai is saved in ");
    assert(!terminal.text.includes("k1k1"), name);
  }
});

Deno.test("live: the prefix of a grant and the reason of a refusal are edited in the input", async () => {
  const commands = ["touch a", "touch b", "touch c"];
  const model = [
    ...commands.map((command) => scriptedReply(scriptedCall("bash", { command }))),
    scriptedReply("Done."),
  ];
  await using terminal = await openTerminal({ model, rows: 40 });
  await terminal.enter("Work");
  await terminal.waitFor("Allow?");
  terminal.press("p");
  await terminal.waitFor(/^Commands that begin with these words: /m);
  // Cancelled: the question is asked again.
  terminal.press(KEYS.escape);
  await terminal.waitFor(() => terminal.text.split("Allow?").length === 3);
  await new Promise((resolve) => setTimeout(resolve, 50));
  terminal.press("y");
  await terminal.waitFor(() => terminal.text.split("Allow?").length === 4);
  terminal.press("r");
  await terminal.waitFor(/^Reason:$/m);
  terminal.press("Not now", KEYS.enter);
  await terminal.waitFor("Refused: the user denied it at the terminal: Not now");
});

Deno.test("live: at a text prompt, keys of other actions have no effect, and Ctrl+L draws it again", async () => {
  await using terminal = await openTerminal({
    model: [scriptedReply(WRITE), scriptedReply("Done.")],
  });
  await terminal.enter("Write");
  await terminal.waitFor("Allow?");
  terminal.press("r");
  await terminal.waitFor(/^Reason:$/m);
  await terminal.emulator.write("\rnoise of another program");
  terminal.press(KEYS.f3, KEYS.f5, KEYS.shiftTab, KEYS.controlL, "No");
  await terminal.waitFor("Reason: No");
  terminal.press(KEYS.enter);
  await terminal.waitFor("Done.");
  await terminal.waitFor("2 turns");
  assertEquals(terminal.text.match(/theme|PLAN|cached|noise/g), null);
});

Deno.test("live: Ctrl+L draws the prompt again and leaves no row behind", async () => {
  await using terminal = await openTerminal();
  terminal.press("a text");
  await terminal.waitFor("› a text");
  await terminal.waitFor("asks first");
  for (const mark of ["1", "2"]) {
    await terminal.emulator.write("\rnoise of another program");
    terminal.press(KEYS.controlL, mark);
    await terminal.waitFor(`› a text${mark === "1" ? "1" : "12"}`);
  }
  assertEquals(terminal.text.match(/EXECUTE|› a text|noise/g), ["EXECUTE", "› a text"]);
});
