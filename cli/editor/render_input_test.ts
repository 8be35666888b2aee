import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import { TypedEditor } from "../../tests/cli/typed_editor.ts";
import { startThreadTimer } from "../../tests/thread_time.ts";
import { getStyledWidth } from "../screen/styled_text.ts";
import type { InputLayout } from "./editor_options.ts";
import { createEditorState, type EditorState } from "./editor_state.ts";
import { renderInput } from "./render_input.ts";

/** Renders the input as text, with `▏` at the cursor. Styles are marks. */
function render(state: EditorState, layout: Partial<InputLayout> = {}): string {
  const style = {
    sign: (text: string) => text,
    faint: (text: string) => text,
    selected: (text: string) => `[${text}]`,
  };
  const { rows, cursor } = renderInput(state, { columns: 20, style, ...layout });
  return rows.map((row, index) => {
    if (index !== cursor.row) return row;
    const cut = Array.from(row).findIndex((_, at, all) =>
      getStyledWidth(all.slice(0, at).join("")) >= cursor.column
    );
    return cut < 0
      ? `${row}▏`
      : `${Array.from(row).slice(0, cut).join("")}▏${Array.from(row).slice(cut).join("")}`;
  }).join("\n");
}

function createState(text: string): EditorState {
  const cursor = text.includes("|") ? text.indexOf("|") : text.length;
  return { ...createEditorState(), text: text.replace("|", ""), cursor };
}

Deno.test("renderInput() shows control characters, such as those of a link, as code points", () => {
  const state = createState("\x1b]8;;http://a\x07b\x1b[8m\x9b\u202e|\rc");
  const shown = "› <U+001B>]8;;http://a<U+0007>b<U+001B>[8m<U+009B><U+202E>▏<U+000D>c";
  assertEquals(render(state, { columns: 80 }), shown);
  const [row = ""] = renderInput(state, { columns: 20, maxRows: 1 }).rows;
  assertEquals(row, row.replaceAll(/\p{Cc}/gu, ""));
});

Deno.test("renderInput() shows the sign, the text and the cursor", () => {
  assertEquals(render(createState("")), "› ▏");
  assertEquals(render(createState("te|xt")), "› te▏xt");
  assertEquals(render(createState("one\n|two\n")), "› one\n  ▏two\n  ");
  assertEquals(render(createState("한|글")), "› 한▏글");
  assertEquals(render(createState("a"), { sign: "> " }), "> a▏");
  assertEquals(render(createState(""), { placeholder: "Ask" }), "› ▏Ask");
  assertEquals(render(createState("a"), { placeholder: "Ask" }), "› a▏");
});

Deno.test("renderInput() breaks long lines, and leaves the last column empty", () => {
  assertEquals(render(createState("0123456789abcdefghij")), "› 0123456789abcdefg\n  hij▏");
  assertEquals(render(createState("0123456789abcdefg|")), "› 0123456789abcdefg\n  ▏");
  assertEquals(render(createState("0123456789abcdefg|h")), "› 0123456789abcdefg\n  ▏h");
  assertEquals(render(createState("0123456789abcdef한|")), "› 0123456789abcdef\n  한▏");
});

Deno.test("renderInput() shows the rows around the cursor, and marks that there are more", () => {
  const text = Array.from({ length: 20 }, (_, line) => `line ${line}`).join("\n");
  const layout = { maxRows: 4 };
  assertEquals(render(createState(text), layout), "… line 16\n  line 17\n  line 18\n  line 19▏");
  assertEquals(
    render(createState(text.replace("line 9", "line |9")), layout),
    "… line 7\n  line 8\n  line ▏9\n… line 10",
  );
  assertEquals(
    render(createState(`|${text}`), layout),
    "› ▏line 0\n  line 1\n  line 2\n… line 3",
  );
});

Deno.test("renderInput() scrolls a line sideways where there is one row", () => {
  const layout = { maxRows: 1 };
  assertEquals(render(createState("short"), layout), "› short▏");
  assertEquals(render(createState("0123456789abcdefghij"), layout), "› …9abcdefghij▏");
  assertEquals(render(createState("|0123456789abcdefghij"), layout), "› ▏0123456789abcde…");
  assertEquals(render(createState("0123456789|abcdefghij"), layout), "› 0123456789▏abcde…");
  assertEquals(render(createState("one\ntwo"), layout), "… two▏");
});

Deno.test("renderInput() shows the query of a search and a command of vi below the text", () => {
  const editor = new TypedEditor({ history: ["run the tests"], hasViKeys: true });
  assertEquals(renderInput(editor.type("<ctrl+r>the").state, { columns: 40 }), {
    rows: ["› run the tests", "search: the"],
    cursor: { row: 1, column: 11 },
  });
  editor.type("x");
  assertEquals(renderInput(editor.state, { columns: 40 }).rows.at(-1), "no match: thex");
  editor.type("<ctrl+c>text<escape>:net");
  assertEquals(render(editor.state), "› text\n:net▏");
});

Deno.test("renderInput() shows up to eight completions around the selected one", () => {
  const names = Array.from({ length: 12 }, (_, index) => `/name${index}`);
  const complete = () => names.map((text, index) => ({ text, detail: `Detail ${index}` }));
  const editor = new TypedEditor({ complete }).type("/");
  const layout = { columns: 40 };
  assertEquals(
    render(editor.state, layout),
    [
      "› /▏",
      ...names.slice(0, 7).map((name, index) => `  ${name}  Detail ${index}`),
      "  +5 more",
    ].join("\n"),
  );
  const rows = render(editor.type("<up>").state, layout).split("\n");
  assertEquals(rows.slice(-3), [
    "  /name10  Detail 10",
    "[> /name11]  Detail 11",
    "  +5 more",
  ]);
  assertEquals(
    render(editor.state, { columns: 12, maxMenuRows: 2 }),
    "› /▏\n[> /name11]\n  +11 more",
  );
});

Deno.test("renderInput() never fills the last column, and shows the cursor, for any text and size", () => {
  const text = fc.array(
    fc.oneof(
      fc.string({ unit: "grapheme" }),
      fc.constantFrom("\n", "\t", "한글", "👨‍👩‍👧", "אבג", "x".repeat(50)),
    ),
  ).map((parts) => parts.join("").replaceAll(/[^\P{Cc}\n\t]/gu, ""));
  fc.assert(
    fc.property(
      text,
      fc.nat(),
      fc.integer({ min: 6, max: 80 }),
      fc.integer({ min: 1, max: 10 }),
      (text, position, columns, maxRows) => {
        const cursor = text.length === 0 ? 0 : position % (text.length + 1);
        const state = { ...createEditorState(text), cursor };
        const view = renderInput(state, { columns, maxRows });
        assert(view.rows.length >= 1 && view.rows.length <= maxRows);
        assert(view.cursor.row < view.rows.length && view.cursor.column < columns);
        for (const row of view.rows) assert(getStyledWidth(row) <= columns - 1, row);
      },
    ),
  );
});

Deno.test("renderInput() lays out a large text in a few milliseconds", () => {
  for (const text of ["x".repeat(1_000_000), "line\n".repeat(200_000), "한".repeat(500_000)]) {
    const state = { ...createEditorState(text), cursor: text.length >> 1 };
    renderInput(state, { columns: 80 });
    const getTime = startThreadTimer();
    for (let count = 0; count < 10; count++) renderInput(state, { columns: 80 });
    const perCall = getTime() / 10;
    assert(perCall < 50, `${perCall} ms`);
  }
});
