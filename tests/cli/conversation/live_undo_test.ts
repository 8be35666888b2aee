/**
 * Conversations on a terminal with a live region: undoing what followed a queued text.
 *
 * @module
 */

import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { scriptedCall, scriptedReply } from "../fake_host.ts";
import { holdReply, KEYS, openTerminal } from "./live_terminal.ts";

Deno.test("live: the file changes after a queued text are undone by themselves, also with /rewind", async () => {
  const write = (path: string) =>
    scriptedReply(scriptedCall("write_file", { path, content: "1\n" }));
  const first = holdReply(scriptedReply(scriptedCall("list_directory", {})), 4);
  const model = [
    write("a.txt"),
    first,
    write("b.txt"),
    scriptedReply("Steered."),
    write("c.txt"),
    scriptedReply("Followed."),
  ];
  await using terminal = await openTerminal({ model, args: ["--approve-all"], rows: 40 });
  await terminal.enter("Begin");
  await terminal.waitFor("preparing list_directory");
  await terminal.enter("and b");
  await terminal.waitFor("queued and b");
  await terminal.enter(">> and c");
  await terminal.waitFor("queued >> and c");
  first.release();
  await terminal.waitFor("Followed.");
  await terminal.waitFor("6 turns");
  await terminal.enter("/undo");
  await terminal.waitFor("removed c.txt");
  assert(!terminal.text.includes("removed b.txt"), terminal.text);
  await terminal.enter("/rewind 2");
  await terminal.waitFor("Files were changed after 1 prompt since then");
  terminal.press("y");
  await terminal.waitFor("Back before: and b");
  assertStringIncludes(terminal.text, "removed b.txt");
  assert(!terminal.text.includes("removed a.txt"), terminal.text);
});

Deno.test({
  name: "live: the file changes of a command are undone after it was interrupted by leaving",
  ignore: Deno.build.os === "windows",
  async fn() {
    const command = "echo two > a.txt; sleep 60";
    const model = [scriptedReply(scriptedCall("bash", { command }))];
    const files = { "p/a.txt": "one\n" };
    await using terminal = await openTerminal({ model, files, args: ["--approve-all"] });
    await terminal.enter("Begin");
    const path = `${terminal.home.path}/p/a.txt`;
    await terminal.waitFor(() => Deno.readTextFileSync(path) === "two\n");
    terminal.press(KEYS.controlC, KEYS.controlC);
    assertEquals(await terminal.waitForExit(), 0);
    await using next = await openTerminal({ home: terminal.home, args: ["-c"] });
    await next.enter("/undo");
    await next.waitFor("restored a.txt");
    assertEquals(await Deno.readTextFile(path), "one\n");
  },
});
