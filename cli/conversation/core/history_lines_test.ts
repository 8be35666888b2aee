import { assertEquals } from "@std/assert";
import { userMessage } from "../../../mod.ts";
import { assistantMessage } from "../../../src/testing/mod.ts";
import { getDisplay } from "../../render/theme/get_display.ts";
import { formatCommandNote } from "../../sessions/user_notes.ts";
import { toLineText } from "../view/lines.ts";
import { formatHistory } from "./history_lines.ts";

Deno.test("formatHistory(): shortens texts of many lines, and lines of many characters", () => {
  const display = getDisplay({ isTerminal: true }, () => undefined);
  const messages = [
    userMessage("word ".repeat(200_000), 0),
    assistantMessage(Array.from({ length: 20 }, (_, line) => `line ${line}`).join("\n")),
  ];
  const columns = 10_000;
  const options = { columns, display, formatEndedCall: () => [] };
  const lines = formatHistory(messages, options).map(toLineText);
  assertEquals(lines[0]?.length, 1_000 + "› ".length);
  assertEquals(lines.slice(-2), ["line 9", "… 10 more lines"]);
  assertEquals(lines.length, 12);
});

Deno.test("formatHistory(): shows commands of the user as they were typed, with their output", () => {
  const display = getDisplay({ isTerminal: true }, () => undefined);
  const output = "Exit code: 1\n" +
    Array.from({ length: 20 }, (_, line) => `line ${line}`).join("\n");
  const messages = [
    userMessage(formatCommandNote({ command: "echo a\necho b", output: "Exit code: 0\na\nb" }), 0),
    userMessage(formatCommandNote({ command: "seq", output }), 0),
    userMessage("I have run a command:\n\n<command>\nless", 0),
  ];
  const options = { columns: 80, display, formatEndedCall: () => [] };
  const lines = formatHistory(messages, options).map(toLineText);
  assertEquals(lines.slice(0, 5), ["› !echo a", "  echo b", "a", "b", "Exit code: 0"]);
  assertEquals(lines.slice(5, 7), ["› !seq", "line 0"]);
  assertEquals(lines.slice(15), [
    "line 9",
    "… 11 more lines",
    "› I have run a command:",
    "",
    "  <command>",
    "  less",
  ]);
});

Deno.test("formatHistory(): wraps texts between words, and indents those of the user", () => {
  const display = getDisplay({ isTerminal: true }, () => undefined);
  const messages = [
    userMessage("Explain the parser\nand its tests"),
    assistantMessage("It parses code"),
  ];
  const options = { columns: 12, display, formatEndedCall: () => [] };
  assertEquals(formatHistory(messages, options).map(toLineText), [
    "› Explain",
    "  the parser",
    "  and its",
    "  tests",
    "It parses",
    "code",
  ]);
});
