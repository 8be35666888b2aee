import { assertEquals } from "@std/assert";
import type { Display } from "../theme/display.ts";
import { ASCII_SYMBOLS, UNICODE_SYMBOLS } from "../theme/get_display.ts";
import { THEMES } from "../theme/themes.ts";
import { createEncoder } from "./encode_line.ts";
import { formatMessage } from "./format_message.ts";
import type { Speaker } from "./speaker_label.ts";

const display: Display = {
  theme: THEMES.dark,
  colors: "none",
  hasLinks: false,
  symbols: UNICODE_SYMBOLS,
  isPlain: false,
};

const plain: Display = { ...display, symbols: ASCII_SYMBOLS, isPlain: true };

function format(speaker: Speaker, text: string, options: Display = display): string[] {
  return formatMessage(text, { speaker, columns: 20, display: options }).map(
    createEncoder(options),
  );
}

Deno.test("formatMessage(): wraps behind the label and keeps line breaks", () => {
  assertEquals(format("user", "fix the failing test, please\nand run it"), [
    "› fix the failing",
    "  test, please",
    "  and run it",
  ]);
  assertEquals(format("notice", "saved\n"), ["saved"]);
  assertEquals(format("warning", "no price"), ["warning: no price"]);
});

Deno.test("formatMessage(): names every source with --plain", () => {
  assertEquals(format("user", "hello", plain), ["you: hello"]);
  assertEquals(format("assistant", "hello", plain), ["assistant: hello"]);
  assertEquals(format("error", "one two three four", plain), [
    "error: one two three",
    "       four",
  ]);
});

Deno.test("formatMessage(): removes escape sequences and shows controls of direction", () => {
  assertEquals(format("error", "\x1b[2Jgone \u202e\r\nnext"), [
    "error: gone <U+202E>",
    "       next",
  ]);
});
