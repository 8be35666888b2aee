import { assert, assertEquals, assertRejects, assertThrows } from "@std/assert";
import { TestWorkspace } from "../../../tests/sandbox/test_workspace.ts";
import type { FileChange } from "../../core/diff/file_change.ts";
import { listHunks } from "../../core/diff/unified_diff.ts";
import { BadRequestError } from "../../core/errors/errors.ts";
import type { JsonObject } from "../../core/json/json.ts";
import { seededRandom } from "../../testing/seeded_random.ts";
import { createEdit, omitRefusedHunks } from "./omit_refused_hunks.ts";

const signal = new AbortController().signal;
const lines = Array.from({ length: 40 }, (_, index) => `line ${index}`);
const before = `${lines.join("\n")}\n`;

/** Calls a tool as the loop does after an approval that refuses the hunks of the given indices. */
async function callWithoutHunks(
  workspace: TestWorkspace,
  { name, args, refused }: {
    readonly name: string;
    readonly args: JsonObject;
    readonly refused: readonly number[];
  },
): Promise<JsonObject> {
  const tool = workspace.tools.find((tool) => tool.name === name);
  assert(tool?.preview && tool.omitHunks);
  const [change] = await tool.preview(args, { signal });
  assert(change);
  const hunks = listHunks(change);
  const selected = refused.map((index) => hunks[index] ?? "missing");
  const partial = await tool.omitHunks(args, {
    refused: [{ path: change.path, hunks: selected }],
    signal,
  });
  const { isError, text } = await workspace.callTool(name, partial);
  assert(!isError, text);
  return partial;
}

const EDITS = [2, 20, 35].map((index) => ({
  old_string: `line ${index}\n`,
  new_string: `changed ${index}\n`,
}));

Deno.test("edit_file, write_file: make a change without the hunks that an approval refused", async () => {
  const wanted = before.replace("line 2\n", "changed 2\n").replace("line 35\n", "changed 35\n");
  const content = wanted.replace("line 20\n", "changed 20\n");
  for (
    const [name, args] of [
      ["edit_file", { path: "a.txt", edits: EDITS }],
      ["write_file", { path: "a.txt", content }],
    ] as const
  ) {
    await using workspace = new TestWorkspace();
    workspace.writeFile("a.txt", before);
    await workspace.callTool("read_file", { path: "a.txt" });
    await callWithoutHunks(workspace, { name, args, refused: [1] });
    assertEquals(workspace.readFile("a.txt"), wanted, name);
  }
});

Deno.test("edit_file: hunks of a file with other line endings, a byte order mark or equal lines can be refused", async () => {
  const texts = [
    before.replaceAll("\n", "\r\n"),
    `\ufeff${before}`,
    before.replaceAll(/line (?!2\n|20|35)\d+/g, "same"),
    before.slice(0, -1),
  ];
  for (const text of texts) {
    await using workspace = new TestWorkspace();
    workspace.writeFile("a.txt", text);
    await callWithoutHunks(workspace, {
      name: "edit_file",
      args: { path: "a.txt", edits: EDITS },
      refused: [0, 2],
    });
    assertEquals(workspace.readFile("a.txt"), text.replace("line 20", "changed 20"));
  }
});

Deno.test("edit_file: hunks of a notebook cannot be refused, since its text is not that of the file", async () => {
  await using workspace = new TestWorkspace();
  const cell = (source: string) => ({ cell_type: "code", source, metadata: {}, outputs: [] });
  const notebook = { cells: ["a", "b", "c"].map(cell), metadata: {}, nbformat: 4 };
  workspace.writeFile("a.ipynb", JSON.stringify(notebook, null, 1));
  const edits = [{ old_string: "a", new_string: "x" }, { old_string: "c", new_string: "z" }];
  await assertRejects(
    () =>
      callWithoutHunks(workspace, {
        name: "edit_file",
        args: { path: "a.ipynb", edits },
        refused: [0],
      }),
    BadRequestError,
  );
});

Deno.test("write_file: hunks of a file that is not UTF-8 cannot be refused, since its other lines would lose bytes", async () => {
  await using workspace = new TestWorkspace();
  const bytes = new Uint8Array([0xe9, ...new TextEncoder().encode(before)]);
  workspace.writeFile("a.txt", bytes);
  const args = { path: "a.txt", content: before.replace("line 35", "changed") };
  await assertRejects(
    () => callWithoutHunks(workspace, { name: "write_file", args, refused: [0] }),
    BadRequestError,
    "cannot be written in parts",
  );
  assertEquals(Deno.readFileSync(`${workspace.directory}/a.txt`), bytes);
});

Deno.test("omitRefusedHunks(): rejects another file, another hunk, and all hunks", () => {
  const change: FileChange = { path: "a.txt", before, after: before.replace("line 20", "changed") };
  const [hunk = ""] = listHunks(change);
  const omit = (path: string, hunks: readonly string[]) => () =>
    omitRefusedHunks(change, [{ path, hunks }]);
  assertThrows(omit("b.txt", [hunk]), BadRequestError, "does not change");
  assertThrows(omit("a.txt", [hunk.replace("changed", "other")]), BadRequestError, "no longer");
  assertThrows(omit("a.txt", [hunk]), BadRequestError, "deny the call instead");
});

Deno.test("omitRefusedHunks(): any selection of hunks leaves out exactly those", () => {
  const random = seededRandom(3);
  for (let round = 0; round < 300; round++) {
    const old = Array.from({ length: random() * 60 }, () => `${Math.floor(random() * 5)}\n`);
    const changed = old.flatMap((line) =>
      random() < 0.1 ? [] : random() < 0.1 ? [line, "new\n"] : [line]
    );
    const change = { path: "a", before: old.join(""), after: changed.join("") };
    const hunks = listHunks(change);
    const refused = hunks.filter(() => random() < 0.5);
    if (refused.length === hunks.length || new Set(hunks).size < hunks.length) continue;
    const text = omitRefusedHunks(change, [{ path: "a", hunks: refused }]);
    assertEquals(text, applyHunks(old, hunks.filter((hunk) => !refused.includes(hunk))));
    const edit = createEdit(change.before, text);
    assertEquals(applyEdit(change.before, edit), text);
    assert(edit.old_string !== "" || change.before === "");
  }
});

/** Applies hunks by their line numbers in the old text, from the last to the first. */
function applyHunks(old: readonly string[], hunks: readonly string[]): string {
  const changed = [...old];
  for (const hunk of hunks.toReversed()) {
    const [, first = "", count = "1"] = /^@@ -(\d+)(?:,(\d+))? /.exec(hunk) ?? [];
    const added = hunk.match(/^[ +].*\n/gm)?.map((line) => line.slice(1)) ?? [];
    const start = count === "0" ? Number(first) : Number(first) - 1;
    changed.splice(start, Number(count), ...added);
  }
  return changed.join("");
}

/** Applies an edit at its line. */
function applyEdit(
  text: string,
  { old_string, new_string, line_hint = 1 }: ReturnType<typeof createEdit>,
): string {
  const start = text.split("\n").slice(0, line_hint - 1).reduce(
    (sum, line) => sum + line.length + 1,
    0,
  );
  assertEquals(text.slice(start, start + old_string.length), old_string);
  return text.slice(0, start) + new_string + text.slice(start + old_string.length);
}
