/**
 * The live region under random output, regions and resizes.
 *
 * @module
 */

import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import { createEmulatedRegion } from "../../tests/cli/emulated_region.ts";
import { TerminalEmulator } from "../../tests/cli/terminal_emulator.ts";

/** Steps of a random session. */
const step = fc.oneof(
  { weight: 6, arbitrary: fc.record({ print: fc.string({ unit: "grapheme-ascii" }) }) },
  { weight: 2, arbitrary: fc.record({ print: fc.constantFrom("\n", "한글", "a\tb", "word ") }) },
  { weight: 2, arbitrary: fc.record({ lines: fc.array(fc.string(), { maxLength: 3 }) }) },
  {
    weight: 4,
    arbitrary: fc.record({
      rows: fc.integer({ min: 1, max: 12 }),
      width: fc.integer({ min: 0, max: 60 }),
      cursor: fc.nat({ max: 11 }),
    }),
  },
  { weight: 2, arbitrary: fc.record({ advance: fc.nat({ max: 60 }) }) },
  { weight: 1, arbitrary: fc.constant("suspend" as const) },
);

const resize = fc.record({
  columns: fc.integer({ min: 10, max: 60 }),
  height: fc.integer({ min: 2, max: 14 }),
});

type Step = typeof step extends fc.Arbitrary<infer Value> ? Value : never;
type Resize = typeof resize extends fc.Arbitrary<infer Value> ? Value : never;

/** Formats the number of a region, in characters that are not part of the output. */
function formatMark(number: number): string {
  const letters = Array.from(`${number}`, (digit) => "αβγδεζηθικ"[Number(digit)]);
  return `⟦${letters.join("")}⟧`;
}

/** Runs a session and returns its terminal, and another one to which only the output was written. */
async function runSession(
  steps: readonly (Step | Resize)[],
  { columns, rows }: { readonly columns: number; readonly rows: number },
) {
  const { terminal, timers, region } = createEmulatedRegion({ columns, rows });
  const expected = new TerminalEmulator({ columns, rows: 50 });
  const record = (text: string) => expected.write(text.replaceAll("\n", "\r\n"));
  let isOpen = false;
  let shown = 0;
  for (const [index, item] of steps.entries()) {
    if (item === "suspend") {
      await region.suspend();
      await terminal.write("$ other program\r\n");
      await record(`${isOpen ? "\n" : ""}$ other program\n`);
      isOpen = false;
      await region.resume();
    } else if ("print" in item) {
      void region.print(item.print);
      await record(item.print);
      if (item.print !== "") isOpen = !item.print.endsWith("\n");
    } else if ("lines" in item) {
      void region.printLines(item.lines);
      await record((isOpen ? "\n" : "") + item.lines.map((line) => `${line}\n`).join(""));
      isOpen = false;
    } else if ("rows" in item) {
      shown = index + 1;
      const text = Array.from(
        { length: item.rows },
        (_, row) => `${formatMark(shown)}${".".repeat(row)}`.padEnd(item.width, "="),
      );
      const cursor = { row: Math.min(item.cursor, item.rows - 1), column: 1 };
      region.update({ rows: text, cursor }, index % 2 === 0 ? "key" : "output");
    } else if ("advance" in item) {
      timers.advance(item.advance);
    } else {
      await region.flush();
      terminal.resize(item.columns, item.height);
      region.resized();
      timers.advance(50);
    }
  }
  await region.flush();
  const whileShown = terminal.text;
  await region.close();
  return {
    terminal,
    expected,
    shown,
    whileShown,
    [Symbol.dispose]() {
      terminal[Symbol.dispose]();
      expected[Symbol.dispose]();
    },
  };
}

Deno.test("LiveRegion: any output and regions leave the complete output in the scrollback, with the region once", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(step, { maxLength: 40 }),
      fc.integer({ min: 4, max: 60 }),
      fc.integer({ min: 2, max: 14 }),
      async (steps, columns, rows) => {
        using session = await runSession(steps, { columns, rows });
        const { terminal, expected, shown, whileShown } = session;
        const regionRows = whileShown.split("\n").filter((row) => row.startsWith("⟦"));
        const start = formatMark(shown).slice(0, columns - 2);
        assert(regionRows.every((row) => row.startsWith(start)), whileShown);
        assertEquals(terminal.lines, expected.lines);
      },
    ),
    { numRuns: 80 },
  );
});

/** Returns the characters of the output, without those of regions and the spaces where rows end. */
function readCharacters(text: string): string {
  return text.replaceAll(/[\s=…⟦⟧.α-ω]/g, "");
}

Deno.test("LiveRegion: resizes at any time keep the complete output, below which the region is drawn", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.oneof(step, resize), { maxLength: 40 }), async (steps) => {
      // Without a region the emulator cuts the line of the cursor.
      const first = { rows: 1, width: 10, cursor: 0 };
      using session = await runSession([first, ...steps], { columns: 40, rows: 10 });
      const { terminal, expected, whileShown, shown } = session;
      assertEquals(readCharacters(terminal.text), readCharacters(expected.text));
      const lastRow = whileShown.split("\n").at(-1) ?? "";
      assert(lastRow.startsWith(formatMark(shown)), whileShown);
    }),
    { numRuns: 80 },
  );
});
