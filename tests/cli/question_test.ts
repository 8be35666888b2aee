/**
 * Approval by the user at the terminal.
 *
 * @module
 */

import { assertEquals, assertStringIncludes } from "@std/assert";
import { main } from "../../cli/main.ts";
import { toPlainText } from "../../cli/render/plain_text.ts";
import { createFakeHost, type FakeHostOptions, scriptedCall, scriptedReply } from "./fake_host.ts";
import { createTemporaryDirectory } from "./temporary_directory.ts";

const ENV = { ANTHROPIC_API_KEY: "k", NO_COLOR: "1" };
const TWO_COMMANDS = [
  scriptedReply(scriptedCall("bash", { command: "echo 1 > x" })),
  scriptedReply(scriptedCall("bash", { command: "echo 2 > x" })),
  scriptedReply("Done."),
];

/** Runs `swink run` at a terminal. */
async function runAtTerminal(options: FakeHostOptions) {
  await using directory = await createTemporaryDirectory();
  const host = createFakeHost({
    terminals: ["input", "output", "messages"],
    env: ENV,
    model: TWO_COMMANDS,
    ...options,
  });
  const modes = new Set<"lines" | "keys">();
  host.onMessage((text) => {
    if (text.includes("Allow?")) modes.add(host.isRaw ? "keys" : "lines");
  });
  const code = await main(["run", "--cwd", directory.path, "Work"], host);
  assertEquals(host.isRaw, false);
  const results = host.requests.slice(1).map(({ body }) => body.split("tool_result").at(-1) ?? "");
  return {
    code,
    hasRun: results.map((result) => result.includes("Exit code: 0")),
    screen: toTranscript(host.screen),
    /** Modes of the terminal while a question was open. */
    modes: [...modes],
    host,
  };
}

/** Removes escape sequences and the cursor that one of the package sets draws. */
function toTranscript(screen: string): string {
  return toPlainText(screen).replaceAll("█", "");
}

Deno.test("question: runs a command after yes, and refuses it after no", async () => {
  const answer = async (...answers: string[]) => (await runAtTerminal({ answers })).hasRun;
  assertEquals(await answer("y\r", "n\r"), [true, false]);
  assertEquals(await answer("yes\r", " NO \r"), [true, false]);
  assertEquals(await answer("n\x7fy\r", "y\x7fn\r"), [true, false]);
});

Deno.test("question: shows the call and the answers", async () => {
  const { code, screen, modes } = await runAtTerminal({ answers: ["y\r", "n\r"] });
  assertEquals({ code, modes }, { code: 0, modes: ["keys"] });
  assertStringIncludes(screen, "? bash echo 1 > x\n  Allow? [y]es / [n]o / [a]lways bash › ");
  assertStringIncludes(
    screen,
    "  Allow? [y]es / [n]o / [a]lways bash › yes\n• bash echo 1 > x\n",
  );
});

Deno.test("question: stays open after an invalid answer, and shows the possible ones", async () => {
  const { hasRun, screen } = await runAtTerminal({ answers: ["\rmaybe\r\x7f\x7f\x7f\x7f\x7fy\r"] });
  assertEquals(hasRun, [true, false]);
  assertStringIncludes(screen, "  ✘ Possible answers: yes, no, always");
});

Deno.test("question: always applies until the run ends; the changes to files are shown", async () => {
  const write = (content: string) => scriptedCall("write_file", { path: "a.txt", content });
  const { code, host, screen } = await runAtTerminal({
    model: [scriptedReply(write("one\n")), scriptedReply(write("two\n")), scriptedReply("Done.")],
    answers: ["a\r"],
  });
  assertEquals(code, 0);
  assertEquals(host.requests.length, 3);
  assertEquals(screen.match(/\? write_file/g)?.length, 1);
  assertStringIncludes(screen, "+one");
});

Deno.test("question: input that was typed before the question is no answer", async () => {
  const { hasRun } = await runAtTerminal({ input: "y\ry\ry\r", answers: ["n\r", "y\r"] });
  assertEquals(hasRun, [false, true]);
  // So is the input after an answer, which was typed before the next question.
  assertEquals((await runAtTerminal({ answers: ["n\ry\r", "n\r"] })).hasRun, [false, false]);
});

Deno.test("question: the end of the input and Ctrl+D refuse the call", async () => {
  assertEquals((await runAtTerminal({})).hasRun, [false, false]);
  const { hasRun, screen } = await runAtTerminal({ answers: ["y\x04", "y\r"] });
  assertEquals(hasRun, [false, true]);
  assertStringIncludes(screen, "› y\n• bash echo 1 > x\n");
});

/** Runs `swink run` at a terminal, and sends SIGINT when a text is shown. */
async function runInterrupted(text: string) {
  const host = createFakeHost({
    terminals: ["input", "output", "messages"],
    env: ENV,
    model: TWO_COMMANDS,
    input: new ReadableStream(),
  });
  host.onMessage((message) => {
    if (message.includes(text)) host.sendSignal("SIGINT");
  });
  await using directory = await createTemporaryDirectory();
  const code = await main(["run", "--cwd", directory.path, "Work"], host);
  assertEquals({ code, isRaw: host.isRaw, requests: host.requests.length }, {
    code: 130,
    isRaw: false,
    requests: 1,
  });
  return toTranscript(host.screen);
}

Deno.test("question: a signal closes it and ends the run", async () => {
  assertStringIncludes(await runInterrupted("Allow?"), "bash › \n• bash echo 1 > x\n");
});

Deno.test("question: is not shown after a signal", async () => {
  assertEquals((await runInterrupted("? bash")).includes("Allow?"), false);
});

Deno.test("question: colors follow the environment of the program", async () => {
  // deno-lint-ignore no-control-regex -- matches colors
  const hasColors = (text: string) => /\x1b\[\d+m/.test(text);
  const { host } = await runAtTerminal({ answers: ["n\r", "n\r"] });
  assertEquals(hasColors(host.screen), false);
});

Deno.test("question: a terminal that cannot move the cursor reads a line", async () => {
  const env = { ...ENV, TERM: "dumb" };
  const { hasRun, modes, host } = await runAtTerminal({
    env,
    answers: ["maybe\ny\n", "no\n"],
    input: "y\n",
  });
  assertEquals({ hasRun, modes }, { hasRun: [true, false], modes: ["lines"] });
  assertEquals(host.screen, toPlainText(host.screen));
  const question = "  Allow? [y]es / [n]o / [a]lways bash: ";
  assertStringIncludes(
    host.messages,
    `? bash echo 1 > x\n${question}  Possible answers: yes, no, always\n${question}`,
  );
});

Deno.test("question: the end of the input refuses the call on a terminal that reads lines", async () => {
  const env = { ...ENV, TERM: "dumb" };
  assertEquals((await runAtTerminal({ env, answers: ["y"] })).hasRun, [true, false]);
  assertEquals((await runAtTerminal({ env })).hasRun, [false, false]);
});
