/**
 * Conversations on a terminal with a live region.
 *
 * @module
 */

import { assertEquals } from "@std/assert";
import { scriptedReply } from "../fake_host.ts";
import { holdReply, KEYS, openTerminal } from "./live_terminal.ts";

Deno.test("live: text appears while it arrives, above the input [16]", async () => {
  const reply = holdReply(scriptedReply("One two.\n\nThree"));
  await using terminal = await openTerminal({ model: [reply] });
  await terminal.enter("Count");
  await terminal.waitFor("Three");

  assertEquals(terminal.isRaw, true);
  reply.release();
  await terminal.waitFor("1 turn");

  terminal.press(KEYS.controlD);
  assertEquals(await terminal.waitForExit(), 0);

  assertEquals(terminal.isRaw, false);
});
