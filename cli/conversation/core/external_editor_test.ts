import { assertEquals, assertRejects } from "@std/assert";
import { existsSync } from "node:fs";
import { createTemporaryDirectory } from "../../../tests/cli/temporary_directory.ts";
import { waitUntil } from "../../../tests/wait_until.ts";
import { CliError } from "../../host/cli_error.ts";
import { ExternalEditor } from "./external_editor.ts";

const ignore = Deno.build.os === "windows";

/** Creates an editor that is a script. */
async function createEditor(script: string) {
  const home = await createTemporaryDirectory({ "edit.sh": script });
  const calls: string[] = [];
  const closing = new AbortController();
  const editor = new ExternalEditor({
    view: {
      lend: (use) => use({ restoreScreen: () => Promise.resolve(void calls.push("restored")) }),
    },
    signal: closing.signal,
    env: (name) => name === "EDITOR" ? `sh "${home.path}/edit.sh"` : undefined,
    cwd: home.path,
  });
  return { home, calls, closing, editor };
}

Deno.test(
  "ExternalEditor: ends with the program, and its file is removed",
  { ignore },
  async () => {
    const { home, closing, editor } = await createEditor(
      'echo "$1" >new\nmv new path\nexec sleep 100\n',
    );
    await using _home = home;
    const editing = assertRejects(() => editor.editText("draft", ".md"), Error, "ended with");
    await waitUntil(() => existsSync(`${home.path}/path`));
    closing.abort();
    await editor[Symbol.asyncDispose]();
    const path = home.read("path").trim();
    assertEquals(await Deno.stat(path).then(() => "exists", () => "removed"), "removed");
    await editing;
  },
);

Deno.test("ExternalEditor: the screen is restored, except after a failure, whose message stays", {
  ignore,
}, async () => {
  for (
    const [end, expected] of [
      ["exit 0", "restored"],
      ["kill -KILL $$", "restored"],
      ["exit 3", ""],
    ] as const
  ) {
    const { home, calls, editor } = await createEditor(`${end}\n`);
    await using _home = home;
    await editor.editText("draft", ".md").catch(() => {});
    assertEquals(calls.join(), expected, end);
  }
});

Deno.test(
  "ExternalEditor: keeps what was written when the editor fails, is killed or writes no UTF-8, and names the place",
  { ignore },
  async () => {
    for (
      const [script, file, content] of [
        ['echo written >"$1"\nexit 1\n', "text.md", "written\n"],
        ['echo written >"$1"\nkill -KILL $$\n', "text.md", "written\n"],
        ['cd "${1%/*}"\necho written >.text.md.swp\nexit 1\n', ".text.md.swp", "written\n"],
        ['printf "gr\\374n" >"$1"\n', "text.md", "gr\ufffdn"],
      ] as const
    ) {
      const { home, editor } = await createEditor(script);
      await using _home = home;
      const error = await assertRejects(() => editor.editText("draft", ".md"), CliError);
      const [, directory = ""] = /What you have written is in (\S+)\.$/.exec(error.advice) ?? [];
      assertEquals(await Deno.readTextFile(`${directory}/${file}`), content, script);
      await Deno.remove(directory, { recursive: true });
    }
  },
);

Deno.test("ExternalEditor: removes the file of an editor that fails without changes", {
  ignore,
}, async () => {
  const { home, editor } = await createEditor('echo "$1" >path\nexit 1\n');
  await using _home = home;
  const error = await assertRejects(() => editor.editText("draft", ".md"), CliError);
  assertEquals(error.advice, "Nothing was sent. EDITOR selects another editor.");
  await assertRejects(() => Deno.stat(home.read("path").trim()), Deno.errors.NotFound);
});
