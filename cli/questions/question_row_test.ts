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
  assertEquals(shown.replace(/\s+/g, " "), `details ${QUESTION}`);
  act(row, host);
  return host.messages.slice(shown.length);
}

Deno.test("QuestionRow: breaks before words, and replaces all rows and nothing above them", () => {
  const getClear = (columns: number) => getAdded(columns, (row) => void row.write("hint\n"));
  for (const columns of [80, 17, 16]) {
    assertEquals(getClear(columns), `\r\x1b[Jhint\n${QUESTION}`, `${columns} columns`);
  }
  assertEquals(getClear(14), "\x1b[1A\r\x1b[Jhint\nAllow?\n[y]/[n]: ");
  assertEquals(getClear(9), "\x1b[1A\r\x1b[Jhint\nAllow?\n[y]/[n]: ");
  // The terminal breaks a longer word.
  assertEquals(getClear(4), "\x1b[4A\r\x1b[Jhint\nAllow?\n[y]/[n]: ");
});

Deno.test("QuestionRow: has its indentation in each row", () => {
  const host = createFakeHost({ columns: 16 });
  void new QuestionRow("  Allow? [y]es / [n]o: ", host.terminal).write("");
  assertEquals(host.messages, "  Allow? [y]es /\n  [n]o: ");
});

Deno.test("QuestionRow: writes the answer below the question if it does not fit behind it", () => {
  const answer = (columns: number) => {
    const host = createFakeHost({ columns });
    const row = new QuestionRow("  Undo? [y]es / [n]o: ", host.terminal);
    void row.write("");
    void row.end("yes");
    return host.messages;
  };
  assertEquals(answer(25), "  Undo? [y]es / [n]o: yes\n");
  assertEquals(answer(24), "  Undo? [y]es / [n]o: \n  yes\n");
});

Deno.test("QuestionRow: is written again after a resize if its rows still fit", () => {
  const resize = (before: number, after: number) =>
    getAdded(before, (row, { terminal }) => {
      Object.defineProperty(terminal, "columns", { value: after });
      row.resize();
      row.resize();
    });
  const again = `\r\x1b[J${QUESTION}`;
  assertEquals(resize(80, 17), again + again);
  assertEquals(resize(10, 80), `\x1b[1A${again}${again}`);
  // The terminal has wrapped them; another row of the question would stay above a new one.
  assertEquals(resize(80, 16), "");
  assertEquals(resize(80, 10), "");
});

Deno.test("QuestionRow: clears no row above the cursor after a resize and after another program", () => {
  const added = getAdded(10, (row, { terminal }) => {
    Object.defineProperty(terminal, "columns", { value: 8 });
    void row.write("");
  });
  assertEquals(added, "\r\x1b[JAllow?\n[y]/[n]: ");
  const continued = getAdded(10, (row) => {
    row.restart();
    void row.write("");
  });
  assertEquals(continued, "\r\x1b[JAllow?\n[y]/[n]: ");
});
