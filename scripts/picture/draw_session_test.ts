import { assertEquals, assertStringIncludes } from "@std/assert";
import { TerminalEmulator } from "../../tests/cli/terminal_emulator.ts";
import { drawSession, readPicture } from "./draw_session.ts";

async function draw(output: string): Promise<string> {
  using emulator = new TerminalEmulator({ columns: 20, rows: 4 });
  await emulator.write(output);
  return drawSession({ columns: 20, rows: emulator.readStyledRows() }, "A <test>");
}

Deno.test("drawSession(): places the text of each style at its column", async () => {
  const svg = await draw("a \x1b[1;31mred\x1b[0m\r\n  日本 x");
  assertStringIncludes(
    svg,
    '<text x="18" y="66" textLength="8.4" lengthAdjust="spacingAndGlyphs">a</text>',
  );
  assertStringIncludes(
    svg,
    '<text x="34.8" y="66" textLength="25.2" lengthAdjust="spacingAndGlyphs" fill="#ff7b72" font-weight="bold">red</text>',
  );
  assertStringIncludes(
    svg,
    '<text x="34.8" y="85" textLength="50.4" lengthAdjust="spacingAndGlyphs">日本 x</text>',
  );
});

Deno.test("drawSession(): draws backgrounds, and colors of every kind", async () => {
  const svg = await draw("\x1b[48;2;1;2;3m \x1b[0m\x1b[38;5;208mx\x1b[38;5;244my\x1b[7mz");
  assertStringIncludes(svg, '<rect x="18" y="52" width="8.4" height="19" fill="#010203"/>');
  assertStringIncludes(svg, 'fill="#ff8700">x<');
  assertStringIncludes(svg, 'fill="#808080">y<');
  assertStringIncludes(svg, 'height="19" fill="#808080"/>');
});

Deno.test("drawSession(): escapes the text, and describes the picture by its title", async () => {
  const svg = await draw("<a> & b");
  assertStringIncludes(svg, ">&lt;a&gt; &amp; b<");
  assertStringIncludes(svg, "<title>A &lt;test&gt;</title>");
});

Deno.test("readPicture(): returns one line for each row", async () => {
  assertEquals(readPicture(await draw("a \x1b[1mb\x1b[0m\r\n\r\nc")), "a b\nc");
});
