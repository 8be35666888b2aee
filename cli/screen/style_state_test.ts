import { assertEquals } from "@std/assert";
import { StyleState } from "./style_state.ts";

/** Returns the sequences that start and end the style after others. */
function follow(...sequences: string[]): readonly [start: string, end: string] {
  const style = new StyleState();
  for (const sequence of sequences) style.apply(sequence);
  return [style.start, style.end];
}

Deno.test("StyleState: follows attributes, colors and their ends", () => {
  assertEquals(follow(), ["", ""]);
  assertEquals(follow("\x1b[1m", "\x1b[31m"), ["\x1b[1;31m", "\x1b[m"]);
  assertEquals(follow("\x1b[1;2;31m", "\x1b[22m"), ["\x1b[31m", "\x1b[m"]);
  assertEquals(follow("\x1b[31m", "\x1b[38;5;208m"), ["\x1b[38;5;208m", "\x1b[m"]);
  assertEquals(follow("\x1b[38;2;1;2;3;48;5;7m", "\x1b[39m"), ["\x1b[48;5;7m", "\x1b[m"]);
  assertEquals(follow("\x1b[4:3m", "\x1b[58:2::1:2:3m"), ["\x1b[4:3;58:2::1:2:3m", "\x1b[m"]);
  assertEquals(follow("\x1b[4m", "\x1b[4:0m"), ["", ""]);
  assertEquals(follow("\x1b[91;7m", "\x1b[27m", "\x1b[39m"), ["", ""]);
  assertEquals(follow("\x1b[1;31m", "\x1b[m"), ["", ""]);
  assertEquals(follow("\x1b[1;0;3m"), ["\x1b[3m", "\x1b[m"]);
  assertEquals(follow("\x1b[10m", "\x1b[999m"), ["", ""]);
});

Deno.test("StyleState: follows links", () => {
  const link = "\x1b]8;id=1;https://example.com/a;b\x1b\\";
  assertEquals(follow(link), [link, "\x1b]8;;\x1b\\"]);
  assertEquals(follow(link, "\x1b]8;;\x1b\\"), ["", ""]);
  assertEquals(follow(link, "\x1b]8;;\x07"), ["", ""]);
  assertEquals(follow("\x1b]133;A\x07"), ["", ""]);
});
