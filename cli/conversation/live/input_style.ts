/**
 * The styles of the input.
 *
 * @module
 */

import type { InputStyle } from "../../editor/editor_options.ts";
import type { EncodeLine } from "../../render/line/encode_line.ts";

/** Creates the styles from the roles of a theme. */
export function createInputStyle(encode: EncodeLine): InputStyle {
  const paint = (role: "prompt" | "faint" | "selected") => (text: string) =>
    text === "" ? "" : encode([{ text, role }]);
  return { sign: paint("prompt"), faint: paint("faint"), selected: paint("selected") };
}
