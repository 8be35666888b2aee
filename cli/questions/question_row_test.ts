import { assertEquals } from "@std/assert";
import { createFakeHost } from "../../tests/cli/fake_host.ts";
import { QuestionRow } from "./question_row.ts";

const QUESTION = "Allow? [y]/[n]: ";

/** Writes a question on a terminal, and returns what `act` adds to the screen. */
function getAdded(
  columns: number,
  act: (row: QuestionRow, host: ReturnType<typeof createFakeHost>) => void,
): string {
  const host = createFakeHost({ columns });
  const row = new QuestionRow(QUESTION, host.terminal);
  void row.write("details\n");
  const shown = host.messages;
  assertEquals(shown, `details\n${QUESTION}`);
  act(row, host);
  return host.messages.slice(shown.length);
}

Deno.test("QuestionRow: replaces all rows of a question that is wrapped, and nothing above them", () => {
  const getClear = (columns: number) => getAdded(columns, (row) => void row.write("hint\n"));
  for (const columns of [80, 17, 16]) {
    assertEquals(getClear(columns), `\r\x1b[Jhint\n${QUESTION}`, `${columns} columns`);
  }
  assertEquals(getClear(15), `\x1b[1A\r\x1b[Jhint\n${QUESTION}`);
  assertEquals(getClear(8), `\x1b[1A\r\x1b[Jhint\n${QUESTION}`);
  assertEquals(getClear(7), `\x1b[2A\r\x1b[Jhint\n${QUESTION}`);
});

Deno.test("QuestionRow: is written again after a resize if it fits in a row", () => {
  const resize = (before: number, after: number) =>
    getAdded(before, (row, { terminal }) => {
      Object.defineProperty(terminal, "columns", { value: after });
      row.resize();
      row.resize();
    });
  const again = `\r\x1b[J${QUESTION}`;
  assertEquals(resize(80, 17), again + again);
  assertEquals(resize(10, 80), again + again);
  // The terminal has wrapped it; another row of the question would stay above a new one.
  assertEquals(resize(80, 16), "");
  assertEquals(resize(80, 10), "");
});

Deno.test("QuestionRow: clears no row above the cursor after a resize and after another program", () => {
  const added = getAdded(10, (row, { terminal }) => {
    Object.defineProperty(terminal, "columns", { value: 8 });
    void row.write("");
  });
  assertEquals(added, `\r\x1b[J${QUESTION}`);
  const continued = getAdded(10, (row) => {
    row.restart();
    void row.write("");
  });
  assertEquals(continued, `\r\x1b[J${QUESTION}`);
});
