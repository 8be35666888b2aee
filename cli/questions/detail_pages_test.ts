import { assertEquals } from "@std/assert";
import { DetailPages } from "./detail_pages.ts";

/** Creates pages of 30 lines, of 20 characters each, on a screen of 10 rows. */
function createPages() {
  const screen = { columns: 40, rows: 10 };
  const lines = Array.from({ length: 30 }, (_, index) => ({
    text: `line ${index}`.padEnd(20, "."),
    paint: (row: string) => row,
  }));
  const pages = new DetailPages(lines, screen);
  return { screen, pages, getFirst: () => pages.text.split("\n", 1)[0]?.replace(/\.+$/, "") };
}

Deno.test("DetailPages: shows as many rows as fit, and how many follow", () => {
  const { pages, getFirst } = createPages();
  assertEquals(pages.text.trimEnd().split("\n").length, 7);
  assertEquals(pages.text.endsWith("  … 24 more lines: [v]iew\n"), true);
  for (let page = 1; page < 5; page++) pages.advance();
  assertEquals([getFirst(), pages.hasMore], ["line 24", false]);
});

Deno.test("DetailPages: redraw() begins with the same row, on a screen of any size", () => {
  const { screen, pages, getFirst } = createPages();
  pages.advance();
  pages.advance();
  assertEquals(getFirst(), "line 12");
  screen.rows = 20;
  pages.redraw();
  assertEquals([getFirst(), pages.hasMore], ["line 12", true]);
  screen.columns = 14;
  pages.redraw();
  assertEquals(getFirst(), "line 12");
  assertEquals(pages.text.endsWith("  … 20 more lines: [v]iew\n"), true);
});

Deno.test("DetailPages: no row is skipped when the screen is resized between two pages", () => {
  const sizes = [[40, 10], [40, 40], [10, 10], [15, 24], [80, 6], [13, 12]] as const;
  for (const [columns, rows] of sizes) {
    const { screen, pages } = createPages();
    const shown = [pages.text];
    while (pages.hasMore) {
      Object.assign(screen, shown.length % 2 ? { columns, rows } : { columns: 40, rows: 10 });
      pages.advance();
      shown.push(pages.text);
    }
    const text = shown.join("").replaceAll(/ {2}… .*\n|^ {2}┆ |\n/gm, "");
    const lines = Array.from({ length: 30 }, (_, index) => `line ${index}`.padEnd(20, "."));
    assertEquals(text, lines.join(""), `${columns} columns, ${rows} rows`);
  }
});

Deno.test("DetailPages: empty lines are shown once", () => {
  const lines = Array.from({ length: 12 }, () => ({ text: "", paint: (row: string) => row }));
  const pages = new DetailPages(lines, { columns: 40, rows: 10 });
  const first = pages.text;
  pages.advance();
  assertEquals([first, pages.text], [
    `${"\n".repeat(6)}  … 6 more lines: [v]iew\n`,
    "\n".repeat(6),
  ]);
  assertEquals(pages.hasMore, false);
});

Deno.test("DetailPages: a row that continues a line is marked, so that it cannot be mistaken for a question", () => {
  const text = `  text: ${"a".repeat(32)}  Allow? [y]es / [n]o: no`;
  const lines = [{ text, paint: (row: string) => row }];
  const rows = new DetailPages(lines, { columns: 40, rows: 20 }).text.trimEnd().split("\n");
  assertEquals(rows.slice(1).map((row) => row.slice(0, 4)), ["  ┆ "]);
  assertEquals(rows.every((row) => row.length <= 40), true);
});

Deno.test("DetailPages: the end of a row differs from a line break in a command", () => {
  const paint = (row: string) => row;
  const lines = ["# a note that is as long as the row: and rm -rf b", "ls"]
    .map((text) => ({ text, paint, mark: "  │ " }));
  const pages = new DetailPages(lines, { columns: 40, rows: 20 });
  assertEquals(pages.text, "  │ # a note that is as long as the row:\n  ┆  and rm -rf b\n  │ ls\n");
});
