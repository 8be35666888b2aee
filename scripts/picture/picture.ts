/**
 * Draws the picture of the README, `docs/images/session.svg`, from a conversation that it runs: `deno task picture`.
 *
 * @module
 */

import { drawSession } from "./draw_session.ts";
import { recordSession } from "./record_session.ts";

/** Describes the picture. */
export const TITLE =
  "A conversation of swink in a terminal: the agent runs the tests of a small project, reads its code, asks before it " +
  "changes a file, and runs the tests again.";

/** The picture. */
export const PICTURE = new URL("../../docs/images/session.svg", import.meta.url);

if (import.meta.main) {
  await Deno.mkdir(new URL(".", PICTURE), { recursive: true });
  await Deno.writeTextFile(PICTURE, drawSession(await recordSession(), TITLE));
}
