import { assertEquals } from "@std/assert";
import { drawSession, readPicture } from "../../scripts/picture/draw_session.ts";
import { PICTURE, TITLE } from "../../scripts/picture/picture.ts";
import { recordSession } from "../../scripts/picture/record_session.ts";
import { findConfinement } from "../../src/tools/confinement/confinement.ts";

const confinement = await findConfinement();

/**
 * Leaves out what depends on the machine: the confinement, durations, which short calls do not have, and the blanks between
 * parts of different colors, since code is not colored until the highlighter has been loaded.
 */
function normalize(text: string): string {
  return text.replace(/(?<= · sandbox ).*/, "…").replaceAll(/ · [\d.]+ (s|ms)\b/g, "")
    .replaceAll(" ", "");
}

Deno.test({
  name: "picture: shows what the program writes; deno task picture draws it",
  // Where commands are not confined, the program asks about them too.
  ignore: confinement.type !== "linux" || confinement.support.landlock < 4,
  async fn() {
    const written = readPicture(drawSession(await recordSession(), TITLE));
    assertEquals(normalize(readPicture(await Deno.readTextFile(PICTURE))), normalize(written));
  },
});
