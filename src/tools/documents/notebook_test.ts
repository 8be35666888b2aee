import { assertEquals, assertStringIncludes } from "@std/assert";
import { TestWorkspace } from "../../../tests/sandbox/test_workspace.ts";

interface TestCell {
  readonly [key: string]: unknown;
  source: readonly string[];
}

const NOTEBOOK: { cells: TestCell[]; [key: string]: unknown } = {
  cells: [
    { cell_type: "markdown", id: "m1", metadata: { tags: ["a"] }, source: ["# Title\n", "Text"] },
    {
      cell_type: "code",
      execution_count: 3,
      id: "c1",
      metadata: {},
      outputs: [
        { name: "stdout", output_type: "stream", text: ["hello\n"] },
        {
          data: { "image/png": "iVBORw0KGgo=", "text/plain": "<Figure>" },
          metadata: {},
          output_type: "display_data",
        },
      ],
      source: ["x = 1\n", "print('hello')"],
    },
    { cell_type: "code", execution_count: null, id: "c2", metadata: {}, outputs: [], source: [] },
  ],
  metadata: { kernelspec: { name: "python3" } },
  nbformat: 4,
  nbformat_minor: 5,
};

const TEXT = `${JSON.stringify(NOTEBOOK, null, 1)}\n`;

Deno.test("read_file: shows the cells of a notebook and their outputs", async () => {
  await using workspace = new TestWorkspace();
  workspace.writeFile("a.ipynb", TEXT);
  const { text } = await workspace.callTool("read_file", { path: "a.ipynb" });
  assertEquals(
    text,
    [
      "1\t# %% [markdown] cell=1 id=m1",
      "2\t# Title",
      "3\tText",
      "4\t# %% [code] cell=2 id=c1",
      "5\tx = 1",
      "6\tprint('hello')",
      "7\t# %% [code] cell=3 id=c2",
      "8\t",
      "[Output of cell 2]",
      "hello",
      "",
      "<Figure> [image/png]",
    ].join("\n"),
  );
});

Deno.test("edit_file: edits the source of a cell and changes nothing else of the notebook", async () => {
  await using workspace = new TestWorkspace();
  workspace.writeFile("a.ipynb", TEXT);
  const edits = [{ old_string: "x = 1\nprint", new_string: "x = 2\ny = 3\nprint" }];
  const { isError } = await workspace.callTool("edit_file", { path: "a.ipynb", edits });
  assertEquals(isError, false);
  const expected = structuredClone(NOTEBOOK);
  const [, cell] = expected.cells;
  if (cell) cell.source = ["x = 2\n", "y = 3\n", "print('hello')"];
  assertEquals(workspace.readFile("a.ipynb"), `${JSON.stringify(expected, null, 1)}\n`);
});

Deno.test("edit_file: adds and removes cells of a notebook, and changes their type", async () => {
  await using workspace = new TestWorkspace();
  workspace.writeFile("a.ipynb", TEXT);
  const edits = [
    { old_string: "# %% [code] cell=3 id=c2\n", new_string: "# %% [markdown] cell=3\nEnd\n" },
    { old_string: "# %% [markdown] cell=1 id=m1\n# Title\nText\n", new_string: "" },
    { old_string: "# %% [markdown] cell=3", new_string: "# %% [code]\nz\n# %% [markdown] cell=3" },
  ];
  const { isError } = await workspace.callTool("edit_file", { path: "a.ipynb", edits });
  assertEquals(isError, false);
  const { cells, metadata } = JSON.parse(workspace.readFile("a.ipynb")) as typeof NOTEBOOK;
  assertEquals(cells[0], NOTEBOOK.cells[1]);
  assertEquals({ ...cells[1], id: "" }, {
    ...{ id: "", metadata: {}, cell_type: "code", execution_count: null, outputs: [] },
    source: ["z"],
  });
  assertEquals(cells[2], {
    ...{ id: "c2", metadata: {}, cell_type: "markdown" },
    source: ["End\n"],
  });
  assertEquals(metadata, NOTEBOOK.metadata);
});

Deno.test("read_file and edit_file: reject a damaged notebook and a text without markers", async () => {
  await using workspace = new TestWorkspace();
  workspace.writeFile("bad.ipynb", '{"cells": 1}');
  const { text } = await workspace.callTool("read_file", { path: "bad.ipynb" });
  assertStringIncludes(text, "is not a valid notebook of format 4");
  workspace.writeFile("a.ipynb", TEXT);
  const edits = [{ old_string: "# %% [markdown] cell=1 id=m1\n", new_string: "" }];
  const refused = await workspace.callTool("edit_file", { path: "a.ipynb", edits });
  assertStringIncludes(refused.text, "must be a marker of a cell");
  assertEquals(workspace.readFile("a.ipynb"), TEXT);
});

Deno.test("edit_file: a repeated marker adds a cell without the id and the outputs of the first", async () => {
  await using workspace = new TestWorkspace();
  workspace.writeFile("a.ipynb", TEXT);
  const marker = "# %% [code] cell=2 id=c1\n";
  const edits = [{
    old_string: "print('hello')\n",
    new_string: `print('hello')\n${marker}y = 2\n`,
  }];
  const { isError, text } = await workspace.callTool("edit_file", { path: "a.ipynb", edits });
  assertEquals(isError, false, text);
  const { cells } = JSON.parse(workspace.readFile("a.ipynb"));
  assertEquals(cells.length, 4);
  assertEquals(cells[1], { ...NOTEBOOK.cells[1], source: ["x = 1\n", "print('hello')"] });
  assertEquals([cells[2].source, cells[2].outputs], [["y = 2"], []]);
  assertEquals(cells[2].id === "c1", false);
});

Deno.test("edit_file: keeps the line endings of a notebook", async () => {
  await using workspace = new TestWorkspace();
  workspace.writeFile("a.ipynb", TEXT.replaceAll("\n", "\r\n"));
  const edits = [{ old_string: "x = 1", new_string: "x = 2" }];
  await workspace.callTool("edit_file", { path: "a.ipynb", edits });
  const expected = TEXT.replace("x = 1", "x = 2").replaceAll("\n", "\r\n");
  assertEquals(workspace.readFile("a.ipynb"), expected);
});

Deno.test("write_file: cells as read_file shows them replace those of a notebook, or make a new one", async () => {
  await using workspace = new TestWorkspace();
  workspace.writeFile("a.ipynb", TEXT);
  const content = "# %% [code] cell=2 id=c1\nx = 2\n";
  await workspace.callTool("write_file", { path: "a.ipynb", content });
  const [, cell] = NOTEBOOK.cells;
  assertEquals(JSON.parse(workspace.readFile("a.ipynb")), {
    ...NOTEBOOK,
    cells: [{ ...cell, source: ["x = 2"] }],
  });
  await workspace.callTool("write_file", { path: "b.ipynb", content: "# %% [markdown]\r\nText" });
  const { cells: [added], ...created } = JSON.parse(workspace.readFile("b.ipynb"));
  assertEquals(created, { metadata: {}, nbformat: 4, nbformat_minor: 5 });
  assertEquals(added, { id: added.id, cell_type: "markdown", metadata: {}, source: ["Text"] });
  for (const text of [TEXT, "{}", ""]) {
    await workspace.callTool("write_file", { path: "c.ipynb", content: text });
    assertEquals(workspace.readFile("c.ipynb"), text);
  }
});
