import { assertEquals } from "@std/assert";
import { toVisibleText } from "./visible_text.ts";

Deno.test("toVisibleText(): keeps text, tabs and newlines", () => {
  const text =
    "git commit -m 'Füge 日本語 שלום e\u0301\u3000hinzu\u00a0!'\n\t👩‍👧 ✔️ ❤️\u200d🔥 1️⃣ 葛\u{e0100} می‌خواهم\n";
  assertEquals(toVisibleText(text), text);
});

Deno.test("toVisibleText(): shows everything that a terminal would interpret or hide", () => {
  const visible: Readonly<Record<string, string>> = {
    "echo a\x1b]0;$(rm -rf ~)\x07": "echo a<U+001B>]0;$(rm -rf ~)<U+0007>",
    "a\x1b[2K\x1b[8mb": "a<U+001B>[2K<U+001B>[8mb",
    "a\rb\b\x7f\0": "a<U+000D>b<U+0008><U+007F><U+0000>",
    "\x9b2J\x90x\x9c": "<U+009B>2J<U+0090>x<U+009C>",
    "a\u202eb\u2066c\u200fd\u061ce": "a<U+202E>b<U+2066>c<U+200F>d<U+061C>e",
    "a\u200bb\ufeffc\u00add\u2060e": "a<U+200B>b<U+FEFF>c<U+00AD>d<U+2060>e",
    "a\u{e0041}b": "a<U+E0041>b",
    "a\u2800b\u3164c": "a<U+2800>b<U+3164>c",
    "a\u2028b\ud800c": "a<U+2028>b<U+D800>c",
    "r\u200dm \u200c/": "r<U+200D>m <U+200C>/",
    "a\ufe0fb\u{e0100}c\u180bd": "a<U+FE0F>b<U+E0100>c<U+180B>d",
    "1\ufe0f2": "1<U+FE0F>2",
    "葛\u{e0100}\u{e0101}": "葛\u{e0100}<U+E0101>",
    "👩\u200d\u200d👧": "👩\u200d<U+200D>👧",
  };
  for (const [text, expected] of Object.entries(visible)) {
    assertEquals(toVisibleText(text), expected);
  }
});
