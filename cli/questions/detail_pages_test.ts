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

Deno.test("DetailPages: resize() keeps the place, also when the lines become longer", () => {
  const { screen, pages, getFirst } = createPages();
  pages.advance();
  pages.advance();
  assertEquals(getFirst(), "line 12");
  screen.rows = 20;
  pages.resize();
  assertEquals(getFirst(), "line 12");
  screen.columns = 10;
  pages.resize();
  assertEquals(getFirst(), "line 12");
});

Deno.test("DetailPages: resize() stays on the first page", () => {
  const { screen, pages, getFirst } = createPages();
  screen.columns = 10;
  pages.resize();
  assertEquals(getFirst(), "line 0");
  assertEquals(pages.text.endsWith("  … 54 more lines: [v]iew\n"), true);
});
