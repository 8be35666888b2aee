/**
 * Conversations on a terminal with a live region: what the screen shows.
 *
 * @module
 */

import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { scriptedCall, scriptedReply } from "../fake_host.ts";
import { createTemporaryDirectory } from "../temporary_directory.ts";
import { holdReply, KEYS, openTerminal } from "./live_terminal.ts";

const HEADER =
  `anthropic/claude-sonnet-5-5 · ~/p · asks first · net off · sandbox Landlock+seccomp+namespace
`;

const USAGE = "1 turn · 100 tokens in, 20 out · $0.0004 · 0.0 s";

Deno.test("live: text appears while it arrives, above the status and the input [AC-16]", async () => {
  const reply = holdReply(scriptedReply("One **two**.\n\nThree"));
  await using terminal = await openTerminal({ model: [reply], columns: 120 });
  await terminal.enter("Count");
  await terminal.waitFor("Three");
  assertEquals(
    terminal.screen.replace(/Three[ ▌]$/m, "Three"),
    `${HEADER}
› Count
One two.

Three
EXECUTE · anthropic/claude-sonnet-5-5 · writing · approval smart · net off · turn 1 · 0 s · context 0 %
›`,
  );
  reply.release();
  await terminal.waitFor("approval smart · net off · 120 tokens");
  terminal.press(KEYS.controlD);
  assertEquals(await terminal.waitForExit(), 0);
  assertEquals(
    terminal.text,
    `${HEADER}
› Count
One two.

Three
${USAGE}
swink -r SESSION continues this conversation`,
  );
  assertEquals(terminal.isRaw, false);
});

Deno.test("live: a text of several lines is typed with Ctrl+J, a backslash or a paste, and sent with Enter [AC-17]", async () => {
  await using terminal = await openTerminal({ model: [scriptedReply("Yes.")] });
  terminal.press("one", KEYS.controlJ, "two\\");
  await terminal.waitFor("two\\");
  terminal.press(KEYS.enter, KEYS.paste("three\nfour"));
  await terminal.waitFor("four");
  assertEquals(terminal.requests.length, 0);
  terminal.press(KEYS.enter);
  await terminal.waitFor("Yes.");
  assertEquals(terminal.listPrompts(), ["one\ntwo\nthree\nfour"]);
  assertStringIncludes(terminal.text, "\n\n› one\n  two\n  three\n  four\nYes.\n");
});

for (const [name, key] of [["Escape", KEYS.escape], ["Ctrl+C", KEYS.controlC]] as const) {
  Deno.test(`live: ${name} aborts the run, which is shown, and keeps what was done [AC-18]`, async () => {
    const model = [
      scriptedReply(scriptedCall("write_file", { path: "a.txt", content: "1\n" })),
      holdReply(scriptedReply("I have begun and")),
      scriptedReply("Right."),
    ];
    await using terminal = await openTerminal({ model, args: ["--approve-all"] });
    await terminal.enter("Write");
    await terminal.waitFor("I have begun and");
    terminal.press(key);
    await terminal.waitFor("aborted; changes made so far are kept");
    await terminal.waitFor(() => !terminal.screen.includes("writing"));
    assertEquals(terminal.home.read("p/a.txt"), "1\n");
    await terminal.enter("Go on");
    await terminal.waitFor("Right.");
    const { messages } = terminal.requests.at(-1) ?? { messages: [] };
    assertStringIncludes(JSON.stringify(messages), "Created a.txt");
  });
}

Deno.test("live: running tools show their output and duration, then their result in one line [AC-19]", async () => {
  const command = "echo first; until [ -e go ]; do sleep 0.02; done; echo last";
  const model = [scriptedReply(scriptedCall("bash", { command })), scriptedReply("Done.")];
  await using terminal = await openTerminal({ model, args: ["--approve-all"], columns: 120 });
  await terminal.enter("Run");
  await terminal.waitFor("· first");
  assertStringIncludes(terminal.screen, "◌ bash echo first; until");
  terminal.home.write("p/go", "");
  await terminal.waitFor("Done.");
  assertStringIncludes(terminal.text, "• bash echo first; until");
  assertStringIncludes(terminal.text, "· first · +1 line [1]");
  assert(!terminal.screen.includes("◌"), terminal.screen);
});

Deno.test("live: input, status and running tools follow the size of the terminal [AC-20]", async () => {
  const reply = holdReply(
    scriptedReply("One two three four five six seven eight nine ten\n\neleven twelve"),
  );
  await using terminal = await openTerminal({ model: [reply], columns: 80, rows: 12 });
  await terminal.enter("Count");
  await terminal.waitFor("eleven twelve");
  terminal.press("a draft that is longer than the narrow terminal");
  await terminal.waitFor("narrow terminal");
  terminal.resize(30, 12);
  await terminal.waitFor("› a draft that is longer than\n   the narrow terminal");
  await terminal.waitFor(() => /^(?:EXECUTE · )?claude-sonnet-5-5.{0,2}$/m.test(terminal.screen));
  terminal.resize(100, 20);
  await terminal.waitFor("› a draft that is longer than the narrow terminal");
  await terminal.waitFor("approval smart · net off");
  reply.release();
  await terminal.waitFor("1 turn");
  await terminal.waitFor(() => terminal.screen.split("EXECUTE").length === 2);
});

Deno.test("live: a change of a file is shown as a diff with highlighted code [AC-21]", async () => {
  const model = [
    scriptedReply(
      scriptedCall("edit_file", {
        path: "a.ts",
        edits: [{ old_string: "= 1", new_string: "= 2" }],
      }),
    ),
    scriptedReply("Done."),
  ];
  const files = { "p/a.ts": "const a = 0;\nconst b = 1;\nconst c = 0;\n" };
  await using terminal = await openTerminal({ model, files, args: ["--approve-all"] });
  await terminal.enter("Edit");
  await terminal.waitFor("Done.");
  assertStringIncludes(terminal.text, "\n  2 - const b = 1;\n  2 + const b = 2;\n");
  const rows = terminal.screen.split("\n");
  const row = rows.findIndex((text) => text.includes("+ const b"));
  const column = rows[row]?.indexOf("const") ?? -1;
  const keyword = terminal.emulator.getColor(row, column);
  assert(keyword !== terminal.emulator.getColor(row, column + 6), "the keyword has its own color");
});

Deno.test("live: /diff wide shows this and later changes on two sides where the terminal is wide enough [AC-22]", async () => {
  const edit = (from: number, to: number) =>
    scriptedReply(
      scriptedCall("edit_file", {
        path: "a.ts",
        edits: [{ old_string: `= ${from}`, new_string: `= ${to}` }],
      }),
    );
  const model = [edit(1, 2), scriptedReply("Done."), edit(2, 3), scriptedReply("Also done.")];
  const files = { "p/a.ts": "const a = 1;\n" };
  const args = ["--approve-all"];
  for (const columns of [100, 60]) {
    await using terminal = await openTerminal({ model, files, args, columns, rows: 40 });
    const hasRow = (before: string, after: string) => {
      const row = new RegExp(`- ${before} +│ +1 \\+ ${after}`);
      return row.test(terminal.text);
    };
    await terminal.enter("Edit");
    await terminal.waitFor("Done.");
    assert(!hasRow("const a = 1;", "const a = 2;"), terminal.text);
    await terminal.enter("/diff wide");
    await terminal.waitFor(() => terminal.text.split("const a = 2;").length > 2);
    await terminal.enter("Again");
    await terminal.waitFor("Also done.");
    const isWide = columns === 100;
    assertEquals(hasRow("const a = 1;", "const a = 2;"), isWide, terminal.text);
    assertEquals(hasRow("const a = 2;", "const a = 3;"), isWide, terminal.text);
    assertStringIncludes(terminal.text, "+ const a = 3;");
  }
});

Deno.test("live: a question about a change shows it with highlighted code, and it is not repeated afterwards [AC-21]", async () => {
  const edits = [{ old_string: "= 1", new_string: "= 2" }];
  const model = [
    scriptedReply(scriptedCall("edit_file", { path: "a.ts", edits })),
    scriptedReply("Done."),
  ];
  await using terminal = await openTerminal({ model, files: { "p/a.ts": "const b = 1;\n" } });
  await terminal.enter("Edit");
  await terminal.waitFor("Allow?");
  const rows = terminal.screen.split("\n");
  const row = rows.findIndex((text) => text.includes("1 + const b = 2;"));
  const column = rows[row]?.indexOf("const") ?? -1;
  const keyword = terminal.emulator.getColor(row, column);
  assert(keyword !== terminal.emulator.getColor(row, column + 6), "the keyword has its own color");
  terminal.press("y");
  await terminal.waitFor("Done.");
  assertEquals(terminal.text.split("const b = 2").length, 2, terminal.text);
});

Deno.test("live: the gauge of the context window is green, yellow and red [AC-23]", async () => {
  const model = [500_000, 750_000, 980_000].map((inputTokens) => ({
    ...scriptedReply("Yes."),
    inputTokens,
  }));
  await using terminal = await openTerminal({ model, columns: 160 });
  const colors: number[] = [];
  for (const percent of [50, 75, 98]) {
    await terminal.enter(`Fill to ${percent}`);
    await terminal.waitFor(() => new RegExp(`[█░] ${percent} %`).test(terminal.screen));
    const rows = terminal.screen.split("\n");
    const row = rows.findIndex((text) => text.includes(`${percent} %`) && text.includes("█"));
    colors.push(terminal.emulator.getColor(row, rows[row]?.indexOf("█") ?? -1));
  }
  assertEquals(new Set(colors).size, 3, String(colors));
});

Deno.test("live: results of tools are one line each; F2 shows and hides one, Shift+arrows select [AC-28]", async () => {
  const model = [
    scriptedReply(
      scriptedCall("read_file", { path: "a.txt" }),
      scriptedCall("read_file", { path: "b.txt" }),
    ),
    scriptedReply("Read."),
  ];
  const files = { "p/a.txt": "alpha\nbeta\ngamma\n", "p/b.txt": "delta\n" };
  await using terminal = await openTerminal({ model, files });
  await terminal.enter("Read");
  await terminal.waitFor("Read.");
  const { screen } = terminal;
  assertStringIncludes(screen, "• read_file a.txt · ");
  assert(!screen.includes("gamma"), screen);
  terminal.press(KEYS.f2);
  await terminal.waitFor("delta");
  terminal.press(KEYS.shiftLeft);
  await terminal.waitFor("gamma");
  assert(!terminal.screen.includes("1  delta"), terminal.screen);
  terminal.press(KEYS.f2);
  await terminal.waitFor(() => !terminal.screen.includes("gamma"));
  await terminal.enter("/expand 1");
  await terminal.waitFor("gamma");
});

Deno.test("live: thinking is shown while it arrives, and as its duration while it is hidden", async () => {
  const createReply = () =>
    holdReply(scriptedReply({ thinking: "First I look." }, "It is **fine**."), 9);
  const replies = [createReply(), createReply()] as const;
  await using terminal = await openTerminal({ model: replies });
  await terminal.enter("Look");
  await terminal.waitFor("First I look.");
  replies[0].release();
  await terminal.waitFor("It is fine.");
  await terminal.enter("/thinking hide");
  await terminal.enter("Again");
  await terminal.waitFor(/^thinking · \d\.\d s$/m);
  replies[1].release();
  await terminal.waitFor(/^thought for \d\.\d s\nIt is fine\.$/m);
  assertEquals(terminal.text.split("First I look.").length, 2);
});

Deno.test("live: running sub-agents are shown with what they do, and /agents shows their work", async () => {
  const held = holdReply(scriptedReply("I have read it."));
  const model = [
    scriptedReply(scriptedCall("task", { prompt: "Read the file a.txt" })),
    scriptedReply(scriptedCall("read_file", { path: "a.txt" })),
    held,
    scriptedReply("It contains one line."),
  ];
  await using terminal = await openTerminal({
    model,
    files: { "p/a.txt": "1\n" },
    rows: 30,
    columns: 100,
  });
  await terminal.enter("Delegate");
  await terminal.waitFor("◌ task [1] · read_file a.txt");
  await terminal.enter("/agents");
  await terminal.waitFor(() => terminal.text.split("task [1] · read_file a.txt").length > 2);
  held.release();
  await terminal.waitFor("It contains one line.");
  await terminal.waitFor(() => !terminal.screen.split("\n").at(-3)?.includes("◌"));
  await terminal.enter("/agents 1");
  await terminal.waitFor("• read_file a.txt\nI have read it.");
});

Deno.test("live: the context gauge shows the tokens of a conversation that is continued [AC-23]", async () => {
  await using home = await createTemporaryDirectory({ "p/a.txt": "one\n" });
  {
    await using terminal = await openTerminal({ home, model: [scriptedReply("Read.")] });
    await terminal.enter("Read");
    await terminal.waitFor("1 turn");
  }
  await using terminal = await openTerminal({ home, args: ["-c"] });
  await terminal.waitFor(/EXECUTE .* context 0 %/);
});

Deno.test("live: F2 and /expand show the tool calls of a conversation that is continued", async () => {
  await using home = await createTemporaryDirectory({ "p/a.txt": "one\ntwo\nthree\n" });
  {
    const model = [
      scriptedReply(scriptedCall("read_file", { path: "a.txt" })),
      scriptedReply("Read."),
    ];
    await using terminal = await openTerminal({ home, model });
    await terminal.enter("Read");
    await terminal.waitFor("2 turns");
  }
  await using terminal = await openTerminal({ home, args: ["-c"] });
  await terminal.waitFor("› Read\n• read_file a.txt · one · +2 lines [1]\nRead.\n");
  terminal.press(KEYS.f2);
  await terminal.waitFor(/three\n(?:EXECUTE)/);
  terminal.press(KEYS.f2);
  await terminal.enter("/expand 1");
  await terminal.waitFor(/› \/expand 1\n.*\n.*one\n.*two\n.*three\n/);
});

Deno.test("live: a text that waits in a continued conversation is shown when the model reads it", async () => {
  await using home = await createTemporaryDirectory({ "p/.keep": "" });
  {
    await using first = await openTerminal({ home, model: [holdReply(scriptedReply("One two"))] });
    await first.enter("Count");
    await first.waitFor("One");
    await first.enter("also three");
    await first.waitFor("queued also three");
    first.press(KEYS.escape);
    await first.waitFor("aborted");
  }
  await using second = await openTerminal({ home, args: ["-c"], model: [scriptedReply("Three.")] });
  await second.waitFor("queued also three");
  await second.enter("Continue");
  await second.waitFor("Three.");
  await second.waitFor(/\n› Continue\n+› also three\nThree\./);
});
