/**
 * Conversations on a terminal with a live region: the editor of the user.
 *
 * @module
 */

import { assertEquals, assertStringIncludes } from "@std/assert";
import { scriptedReply } from "../fake_host.ts";
import { KEYS, openTerminal } from "./live_terminal.ts";

Deno.test("live: Ctrl+G opens the text in the editor and sends what it returns [AC-24]", async () => {
  const files = { "edit.sh": 'stty -a <"$1" >/dev/null 2>&1; echo "from the editor" >>"$1"\n' };
  await using terminal = await openTerminal({
    files,
    model: [scriptedReply("Yes.")],
    env: { EDITOR: "sh 'HOME/edit.sh'" },
  });
  terminal.press("My draft ");
  await terminal.waitFor("My draft");
  terminal.press(KEYS.controlG);
  await terminal.waitFor("Yes.");
  assertEquals(terminal.listPrompts(), ["My draft from the editor"]);
  assertStringIncludes(terminal.text, "\n\n› My draft from the editor\nYes.");
  assertEquals(terminal.isRaw, true);
});

Deno.test("live: an editor that is closed with an empty file sends nothing, and keeps the draft [AC-25]", async () => {
  const files = { "edit.sh": ': >"$1"\n' };
  await using terminal = await openTerminal({ files, env: { EDITOR: "sh 'HOME/edit.sh'" } });
  terminal.press("My draft", KEYS.controlG);
  await terminal.waitFor("nothing was sent");
  assertEquals(terminal.requests.length, 0);
  await terminal.waitFor("\n› My draft");
});

Deno.test("live: an editor that leaves no file to read is reported", async () => {
  const files = { "edit.sh": 'rm "$1"; mkfifo "$1"\n' };
  await using terminal = await openTerminal({ files, env: { EDITOR: "sh 'HOME/edit.sh'" } });
  terminal.press("My draft", KEYS.controlG);
  await terminal.waitFor("The text of the editor was not read: it is no file any more");
  await terminal.waitFor("\n› My draft");
});

Deno.test("live: a text with a key from the editor that is not to be sent is in the input", async () => {
  const key = `sk-ant-api03-${"aB3".repeat(20)}`;
  const files = { "edit.sh": `printf "use ${key}" >"$1"\n` };
  await using terminal = await openTerminal({ files, env: { EDITOR: "sh 'HOME/edit.sh'" } });
  terminal.press(KEYS.controlG);
  await terminal.waitFor("Send it? [y]es / [n]o");
  terminal.press("n");
  await terminal.waitFor(`› use ${key}`);
});
