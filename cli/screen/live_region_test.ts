import { assert, assertEquals } from "@std/assert";
import { createEmulatedRegion } from "../../tests/cli/emulated_region.ts";
import { ManualTimers } from "../../tests/cli/manual_timers.ts";
import { createLiveRegion } from "./create_live_region.ts";
import type { RegionContent } from "./live_region.ts";

const prompt: RegionContent = { rows: ["── status ──", "› "], cursor: { row: 1, column: 2 } };

Deno.test("LiveRegion: output is above the region, and continues its last line", async () => {
  using setup = createEmulatedRegion();
  const { terminal, region } = setup;
  region.update(prompt);
  await region.flush();
  assertEquals(terminal.screenWithCursor, "── status ──\n› ▏");
  void region.print("Hello");
  await region.flush();
  assertEquals(terminal.screenWithCursor, "Hello\n── status ──\n› ▏");
  void region.print(", world.\nSecond");
  void region.print(" line");
  await region.flush();
  assertEquals(terminal.screenWithCursor, "Hello, world.\nSecond line\n── status ──\n› ▏");
  void region.printLines(["A line", "Another"]);
  void region.print("Last\n");
  await region.flush();
  assertEquals(
    terminal.screenWithCursor,
    "Hello, world.\nSecond line\nA line\nAnother\nLast\n── status ──\n› ▏",
  );
  await region.close();
  assertEquals(
    terminal.screenWithCursor,
    "Hello, world.\nSecond line\nA line\nAnother\nLast\n▏",
  );
});

Deno.test("LiveRegion: lines and the region below them change in one frame", async () => {
  using setup = createEmulatedRegion();
  const { terminal, region } = setup;
  region.update({ rows: ["open line", "› "] });
  await region.flush();
  const { length } = terminal.written;
  void region.draw(["open line is complete"], { rows: ["› "] });
  void region.draw([], { rows: ["› "] });
  await region.flush();
  assertEquals(terminal.written.length, length + 1);
  assertEquals(terminal.screen, "open line is complete\n›");
});

Deno.test("LiveRegion: a region that grows and shrinks leaves nothing behind", async () => {
  using setup = createEmulatedRegion({ rows: 8 });
  const { terminal, region } = setup;
  void region.print("1\n2\n3\n4\n5\n6\n");
  for (
    const rows of [["a"], ["a", "b", "c"], ["a", "x", "c", "d"], ["c"], [], ["y", "z"], ["z"]]
  ) {
    region.update({ rows });
    await region.flush();
    const expected = ["1", "2", "3", "4", "5", "6", ...rows].join("\n");
    assertEquals(terminal.text, expected);
  }
});

Deno.test("LiveRegion: changes only the rows that differ", async () => {
  using setup = createEmulatedRegion();
  const { terminal, region } = setup;
  region.update({ rows: ["queue", "status", "› "], cursor: { row: 2, column: 2 } });
  await region.flush();
  region.update({ rows: ["queue", "status", "› a"], cursor: { row: 2, column: 3 } }, "key");
  await region.flush();
  assertEquals(terminal.written.at(-1), "\r› a\x1b[K\r\x1b[3C");
  region.update({ rows: ["queue", "status", "› a"], cursor: { row: 2, column: 2 } }, "key");
  await region.flush();
  assertEquals(terminal.written.at(-1), "\r\x1b[2C");
  const { length } = terminal.written;
  region.update({ rows: ["queue", "status", "› a"], cursor: { row: 2, column: 2 } }, "key");
  await region.flush();
  assertEquals(terminal.written.length, length);
});

Deno.test("LiveRegion: output causes at most 30 redraws a second, and a key redraws at once", async () => {
  using setup = createEmulatedRegion();
  const { terminal, timers, region } = setup;
  region.update(prompt);
  await region.flush();
  const before = terminal.written.length;
  for (let time = 0; time < 1_000; time += 5) {
    void region.print("word ");
    await Promise.resolve();
    timers.advance(5);
    await terminal.write("");
  }
  const frames = terminal.written.slice(before).filter((text) => text !== "");
  assert(frames.length <= 30 && frames.length >= 28, `${frames.length} redraws`);
  void region.print("x");
  region.update({ ...prompt, rows: ["s", "› k"] }, "key");
  assert(terminal.written.at(-1)?.includes("› k"), "drawn without time passing");
  await region.flush();
});

Deno.test("LiveRegion: draws once after a slow write", async () => {
  const timers = new ManualTimers();
  const writes: { readonly text: string; readonly finish: () => void }[] = [];
  const region = createLiveRegion({
    output: {
      closed: new AbortController().signal,
      write(content) {
        const { promise, resolve } = Promise.withResolvers<void>();
        writes.push({ text: String(content), finish: resolve });
        return promise;
      },
    },
    getSize: () => ({ columns: 40, rows: 10 }),
    now: timers.now,
    startTimer: timers.startTimer,
    features: { hasCursor: true, isSynchronized: false, reflow: "yes" },
  });
  region.update({ rows: ["0"] });
  for (let count = 1; count <= 100; count++) {
    region.update({ rows: [`${count}`] }, "key");
    timers.advance(100);
  }
  assertEquals(writes.map(({ text }) => text), ["0\r\x1b[1C"]);
  writes[0]?.finish();
  await region.print("").then(() => new Promise((resolve) => queueMicrotask(() => resolve(0))));
  assertEquals(writes.map(({ text }) => text), ["0\r\x1b[1C", "\r100\x1b[K\r\x1b[3C"]);
  // Output that a terminal does not take stops its source.
  let isWelcome = false;
  void region.print("x".repeat(100_000)).then(() => isWelcome = true);
  for (let count = 0; count < 10; count++) {
    timers.advance(100);
    await Promise.resolve();
  }
  assertEquals(isWelcome, false);
  writes[1]?.finish();
  for (let count = 0; count < 10; count++) await Promise.resolve();
  timers.advance(100);
  writes[2]?.finish();
  for (let count = 0; count < 10; count++) await Promise.resolve();
  assertEquals(isWelcome, true);
});

Deno.test("LiveRegion: an update is inside a synchronized update where the terminal has it", async () => {
  using setup = createEmulatedRegion({ isSynchronized: true });
  const { terminal, region } = setup;
  region.update(prompt);
  await region.flush();
  assertEquals(terminal.written, ["\x1b[?2026h── status ──\r\n› \r\x1b[2C\x1b[?2026l"]);
});

Deno.test("LiveRegion: continues a line that fills the row, and breaks it as the terminal does", async () => {
  using setup = createEmulatedRegion({ columns: 10 });
  const { terminal, region } = setup;
  region.update({ rows: ["> "] });
  const text = "0123456789abcdefghij한글 👨‍👩‍👧e\u0301\u0301ok 0123456789";
  for (const character of text) {
    void region.print(character);
    await region.flush();
  }
  // It is not known whether the terminal shows the emoji as one, and so where it breaks the row.
  assert(terminal.lines.endsWith("abcdefghij한글 👨‍👩‍\n>"), terminal.lines);
  void region.print("\nnext");
  await region.flush();
  assertEquals(terminal.lines, `${text}\nnext\n>`);
});

Deno.test("LiveRegion: rows never fill the last column", async () => {
  using setup = createEmulatedRegion({ columns: 10 });
  const { terminal, region } = setup;
  region.update({ rows: ["0123456789", "한글한글한글", "\x1b[1m012345678901", "ok"] });
  await region.flush();
  assertEquals(terminal.screen, "01234567…\n한글한글…\n01234567…\nok");
  assertEquals(terminal.hasStyle(3, 0), false, "a style ends with its row");
});

Deno.test("LiveRegion: keeps the style of output in its last line, and out of the region", async () => {
  using setup = createEmulatedRegion();
  const { terminal, region } = setup;
  region.update({ rows: ["status"] });
  void region.print("plain \x1b[1;38;5;208mbo");
  await region.flush();
  assertEquals([0, 6, 7].map((column) => terminal.hasStyle(0, column)), [false, true, true]);
  assertEquals(terminal.hasStyle(1, 0), false);
  void region.print("ld\nnext\x1b[22;39m plain");
  await region.flush();
  assertEquals(terminal.screen, "plain bold\nnext plain\nstatus");
  assertEquals([0, 6, 9].map((column) => terminal.hasStyle(0, column)), [false, true, true]);
  assertEquals([0, 3, 5].map((column) => terminal.hasStyle(1, column)), [true, true, false]);
});

Deno.test("LiveRegion: discards control characters that move the cursor", async () => {
  using setup = createEmulatedRegion();
  const { terminal, region } = setup;
  region.update({ rows: ["st\x1b[2Jatus\r\n\b"] });
  void region.print("one\x1b[2J\x1b[H\rtwo\btab\tx\x9b5A\x1b]0;title\x07\n");
  await region.flush();
  assertEquals(terminal.screen, "one[2J[Htwotab  x5A]0;title\nst[2Jatus");
});

Deno.test("LiveRegion: a resize draws the region again below the output", async () => {
  for (const reflow of ["yes", "no", "unknown"] as const) {
    using setup = createEmulatedRegion({ columns: 40, rows: 10, reflow });
    const { terminal, timers, region } = setup;
    void region.print("A line of output\nAn open line");
    region.update({ rows: ["── a status of thirty columns ─", "› some text"] });
    await region.flush();
    for (const [columns, rows] of [[60, 10], [60, 5], [36, 5], [36, 12]] as const) {
      terminal.resize(columns, rows);
      region.resized();
      timers.advance(50);
      await region.flush();
      assertEquals(
        terminal.text,
        "A line of output\nAn open line\n── a status of thirty columns ─\n› some text",
        `${reflow}, ${columns} columns`,
      );
    }
    void region.print(" goes on");
    await region.flush();
    assert(terminal.text.includes("An open line goes on\n──"), terminal.text);
  }
});

Deno.test("LiveRegion: a terminal that breaks the rows of the region keeps its output", async () => {
  for (const reflow of ["except_cursor", "unknown"] as const) {
    using setup = createEmulatedRegion({ columns: 40, rows: 12, reflow });
    const { terminal, timers, region } = setup;
    void region.print("Output that is long enough to be broken\nShort\n");
    region.update({ rows: ["── a status of thirty columns ─", "› some text of the input"] });
    await region.flush();
    terminal.resize(20, 12);
    region.resized();
    timers.advance(50);
    await region.flush();
    assert(
      terminal.lines.startsWith("Output that is long enough to be broken\nShort\n"),
      terminal.lines,
    );
    assert(terminal.text.endsWith("\n── a status of thi…\n› some text of the…"), terminal.text);
    if (reflow === "except_cursor") assertEquals(terminal.text.match(/──/g)?.length, 1);
  }
});

Deno.test("LiveRegion: a size that changed without a notice counts for the next frame", async () => {
  using setup = createEmulatedRegion({ columns: 40, rows: 12 });
  const { terminal, region } = setup;
  void region.print("Output\n");
  region.update({ rows: ["── a status of thirty columns ─", "› x"] });
  await region.flush();
  terminal.resize(20, 12);
  void region.print("More\n");
  await region.flush();
  assertEquals(terminal.text, "Output\nMore\n── a status of thi…\n› x");
});

Deno.test("LiveRegion: suspend() leaves the screen to another program, and keeps output until resume()", async () => {
  using setup = createEmulatedRegion();
  const { terminal, region } = setup;
  region.update(prompt);
  void region.print("open");
  await region.suspend();
  assertEquals(terminal.screenWithCursor, "open\n▏");
  void region.print(" kept");
  region.update({ rows: ["new"] }, "key");
  await region.flush();
  await terminal.write("editor\r\n$ fg");
  await region.resume();
  assertEquals(terminal.screenWithCursor, "open\neditor\n kept\nnew▏");
});

Deno.test("LiveRegion: resume() without suspend() draws the region where the shell left the cursor", async () => {
  using setup = createEmulatedRegion();
  const { terminal, region } = setup;
  void region.print("text");
  region.update(prompt);
  await region.flush();
  await terminal.write("^Z\r\n[1]+  Stopped\r\n$ fg\r\n");
  await region.resume();
  void region.print("more");
  await region.flush();
  assertEquals(
    terminal.screenWithCursor,
    "text\n── status ──\n› ^Z\n[1]+  Stopped\n$ fg\nmore\n── status ──\n› ▏",
  );
});

Deno.test("LiveRegion: redraw() replaces what another program has written over the region", async () => {
  using setup = createEmulatedRegion();
  const { terminal, region } = setup;
  void region.print("text\n");
  region.update(prompt);
  await region.flush();
  await terminal.write("\x1b[1A\rother\r\nprogram");
  region.redraw();
  await region.flush();
  assertEquals(terminal.screenWithCursor, "text\n── status ──\n› ▏");
});

Deno.test("LiveRegion: a region that is higher than the screen shows the rows around the cursor", async () => {
  using setup = createEmulatedRegion({ rows: 4 });
  const { terminal, region } = setup;
  const rows = ["1", "2", "3", "4", "5", "6"];
  region.update({ rows });
  void region.print("open");
  await region.flush();
  assertEquals(terminal.screen, "open\n4\n5\n6");
  region.update({ rows, cursor: { row: 1, column: 0 } });
  await region.flush();
  assertEquals(terminal.screenWithCursor, "open\n▏2\n3\n4");
});

Deno.test("LiveRegion: output after close() is written without a region", async () => {
  using setup = createEmulatedRegion();
  const { terminal, timers, region } = setup;
  region.update(prompt);
  void region.print("text");
  await region.close();
  void region.print("later\n");
  region.update(prompt, "key");
  await region.flush();
  assertEquals(terminal.screenWithCursor, "text\nlater\n▏");
  assertEquals(timers.active, 0);
});

Deno.test("LiveRegion: without cursor movement writes output as it is, and no escape sequences", async () => {
  using setup = createEmulatedRegion({ hasCursor: false });
  const { terminal, region } = setup;
  region.update(prompt);
  await region.print("Hello");
  region.update(prompt, "key");
  await region.printLines(["line"]);
  await region.send("\x07");
  region.resized();
  await region.suspend();
  void region.print("kept");
  await region.resume();
  await region.close();
  assertEquals(terminal.written.join(""), "Hello\nline\nkept\n");
});

/** A region with a wide row in a terminal like tmux, which reports a new size up to 250 ms after it has changed. */
async function createLateRegion() {
  let reported = { columns: 60, rows: 12 };
  const setup = createEmulatedRegion({ ...reported, reflow: "late", getSize: () => reported });
  const { terminal, region } = setup;
  void region.print("Output\n");
  region.update({ rows: ["── a status of thirty columns ─", "› x"] });
  await region.flush();
  const resize = (columns: number) => terminal.resize(columns, reported.rows);
  const report = () => {
    reported = { columns: terminal.columns, rows: terminal.rows };
  };
  return { ...setup, resize, report };
}

Deno.test("LiveRegion: in a terminal that reports its size late, quick changes leave no row behind", async () => {
  using setup = await createLateRegion();
  const { terminal, timers, region, resize, report } = setup;
  resize(50);
  report();
  region.resized();
  timers.advance(100);
  resize(20);
  for (const key of ["a", "b", "c"]) {
    region.update({ rows: ["── a status of thirty columns ─", `› x${key}`] }, "key");
    void region.print(`${key}\n`);
    timers.advance(50);
    await terminal.write("");
  }
  report();
  region.resized();
  timers.advance(300);
  await region.flush();
  assertEquals(terminal.text, "Output\na\nb\nc\n── a status of thi…\n› xc");
});

Deno.test("LiveRegion: in a terminal that reports its size late, a change is seen before its signal", async () => {
  using setup = await createLateRegion();
  const { terminal, timers, region, resize, report } = setup;
  const { length } = terminal.written;
  resize(20);
  report();
  region.update({ rows: ["── a status of thirty columns ─", "› xy"] }, "key");
  timers.advance(299);
  await terminal.write("");
  assertEquals(terminal.written.slice(length).join(""), "");
  timers.advance(1);
  await region.flush();
  assertEquals(terminal.text, "Output\n── a status of thi…\n› xy");
});

Deno.test("LiveRegion: in a terminal that reports its size late, a stop directly after a change leaves no row behind", async () => {
  using setup = await createLateRegion();
  const { terminal, timers, region, resize, report } = setup;
  resize(20);
  report();
  region.resized();
  const suspending = region.suspend();
  void region.print("kept\n");
  await terminal.write("");
  timers.advance(300);
  await suspending;
  assertEquals(terminal.screenWithCursor, "Output\nkept\n▏");
});

Deno.test("LiveRegion: in a terminal that reports its size late, the end directly after a change keeps the output", async () => {
  using setup = await createLateRegion();
  const { terminal, region, resize, report } = setup;
  resize(20);
  report();
  region.resized();
  // Meanwhile the terminal is wide again, and its rows are not broken any more.
  resize(60);
  await region.close();
  assertEquals(terminal.text, "Output");
});
