/**
 * Lines from plain texts.
 *
 * @module
 */

import { formatMessage } from "../../render/line/format_message.ts";
import type { Line } from "../../render/line/line.ts";
import { toPlainText } from "../../render/plain_text.ts";
import { expandTabs } from "../../render/text_width.ts";
import type { Display } from "../../render/theme/display.ts";
import type { Role } from "../../render/theme/role.ts";

/** Returns the lines of a text of any source; control characters and escape sequences are removed. */
export function toLines(text: string, role?: Role): Line[] {
  const lines = toPlainText(text).replace(/\n$/, "").split("\n");
  return lines.map((line) => toLine(line, role));
}

/** The kind of a message of the program. */
export type MessageKind = "notice" | "warning" | "error";

/** Returns the lines of a message of the program, which begins with its kind where that is not visible otherwise. */
export function toMessage(
  kind: MessageKind,
  text: string,
  { columns, display }: { readonly columns: number; readonly display: Display },
): Line[] {
  return formatMessage(text, { speaker: kind, columns, display });
}

/** Returns a line of a text without line breaks and control characters except tabs, which become spaces. */
export function toLine(text: string, role?: Role): Line {
  const spaced = expandTabs(text);
  return [role === undefined ? { text: spaced } : { text: spaced, role }];
}

/** Returns the text of a line. */
export function toLineText(line: Line): string {
  return line.map(({ text }) => text).join("");
}

/** Returns the lines of a text of the user, the first one behind a sign. */
export function toPromptLines(text: string, sign: string): Line[] {
  const indent = " ".repeat(sign.length + 1);
  return toLines(text).map((line, index) => [
    { text: index === 0 ? `${sign} ` : indent, role: "prompt" },
    ...line.map((span) => ({ ...span, role: "prompt" as const })),
  ]);
}
