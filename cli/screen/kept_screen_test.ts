import { assertEquals, assertMatch } from "@std/assert";
import { TerminalEmulator } from "../../tests/cli/terminal_emulator.ts";
import { keepScreen } from "./kept_screen.ts";

Deno.test("keepScreen: a program that leaves the alternate screen open hides nothing", async () => {
  using terminal = new TerminalEmulator({ columns: 20, rows: 6 });
  await terminal.write("one\r\ntwo\r\n");
  const kept = await keepScreen({ output: terminal, getSize: () => terminal });
  await terminal.write("\x1b[?1049h\x1b[2J\x1b[H\x1b[?25l\x1b[31mediting");
  assertEquals(terminal.screen, "editing");
  await kept.restore();
  await terminal.write("below");
  assertEquals(terminal.screenWithCursor, "one\ntwo\nbelow▏");
  assertEquals(terminal.hasStyle(2, 0), false);
});

Deno.test("keepScreen: the output above a program that has written to the normal screen is kept", async () => {
  using terminal = new TerminalEmulator({ columns: 20, rows: 4 });
  await terminal.write("one\r\ntwo\r\n");
  const kept = await keepScreen({ output: terminal, getSize: () => terminal });
  await terminal.write("a\r\nb\r\nc\r\nd\r\n");
  await kept.restore();
  await terminal.write("\x1b[Jbelow");
  // Some terminals move the saved cursor with the text, others do not.
  assertMatch(terminal.text, /^one\ntwo\n(?:[a-d]\n)*below$/);
});

Deno.test("keepScreen: output is kept when the size has changed", async () => {
  using terminal = new TerminalEmulator({ columns: 20, rows: 4 });
  await terminal.write("one\r\ntwo\r\nthree\r\nfour\r\nfive\r\n");
  const kept = await keepScreen({ output: terminal, getSize: () => terminal });
  await terminal.write("\x1b[?1049hediting");
  terminal.resize(20, 8);
  await kept.restore();
  await terminal.write("\x1b[Jbelow");
  assertEquals(terminal.text.replace(/\n+(?=below)/, "\n"), "one\ntwo\nthree\nfour\nfive\nbelow");
});

Deno.test("keepScreen: the output of a shell to which the program was suspended is kept", async () => {
  using terminal = new TerminalEmulator({ columns: 20, rows: 6 });
  await terminal.write("one\r\ntwo\r\n");
  const kept = await keepScreen({ output: terminal, getSize: () => terminal });
  // As in tmux, the cursor of the alternate screen is saved apart from the one before the program.
  await terminal.write("\x1b[?47hediting\x1b[?47l\x1b[3;1H");
  kept.forgetPosition();
  await terminal.write("$ ls\r\na.txt\r\n$ fg\r\n\x1b[?47hediting\x1b[?47l\x1b[6;1H");
  await kept.restore();
  await terminal.write("\x1b[Jbelow");
  assertEquals(terminal.text, "one\ntwo\n$ ls\na.txt\n$ fg\n\nbelow");
});
