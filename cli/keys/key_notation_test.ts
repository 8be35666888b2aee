import { assertEquals } from "@std/assert";
import { formatKey, parseKey } from "./key_notation.ts";

Deno.test("parseKey() reads the notation of keys, in any case and with other names", () => {
  for (
    const [notation, key] of [
      ["enter", "enter"],
      ["Shift+Enter", "shift+enter"],
      ["alt+return", "alt+enter"],
      ["shift+ctrl+alt+x", "ctrl+alt+shift+x"],
      ["meta+b", "alt+b"],
      ["esc", "escape"],
      ["F2", "f2"],
      ["PageUp", "page_up"],
      ["ctrl+space", "ctrl+space"],
      ["ctrl++", "ctrl++"],
      ["+", "+"],
      ["ctrl+ü", "ctrl+ü"],
      ["ctrl+/", "ctrl+/"],
    ] as const
  ) {
    const parsed = parseKey(notation);
    assertEquals(parsed && formatKey(parsed), key);
  }
});

Deno.test("parseKey() returns undefined for a notation that is invalid", () => {
  for (
    const notation of ["", "ctrl", "hyper+a", "ctrl+foo", "f13", "a+b", "ctrl+", "constructor+a"]
  ) {
    assertEquals(parseKey(notation), undefined, notation);
  }
});
