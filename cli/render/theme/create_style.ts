/**
 * The styles of a theme for text that is no line, such as questions.
 *
 * @module
 */

import type { Paint, Style } from "../style.ts";
import { getLookCode } from "./color_code.ts";
import type { Display } from "./display.ts";
import type { Role } from "./role.ts";
import type { Look } from "./theme.ts";

/** Returns the styles of a display. */
export function createStyle({ theme, colors }: Display): Style {
  const createPaint = (look: Look): Paint => {
    const code = getLookCode(look, colors);
    return (text) => code === "" || text === "" ? text : `\u001b[${code}m${text}\u001b[0m`;
  };
  const paintRole = (role: Role): Paint => createPaint(theme.looks[role]);
  return {
    strong: createPaint({ bold: true }),
    faint: paintRole("faint"),
    success: paintRole("success"),
    error: paintRole("error"),
    warning: paintRole("warning"),
    name: paintRole("tool"),
  };
}
