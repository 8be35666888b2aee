/**
 * Short texts with the label of their source: messages of the user, notices, warnings and errors.
 *
 * @module
 */

import { PlainTextFilter } from "../plain_text.ts";
import type { Display } from "../theme/display.ts";
import type { Role } from "../theme/role.ts";
import type { Line } from "./line.ts";
import { getLineWidth } from "./line_width.ts";
import { getSpeakerLabel, type Speaker } from "./speaker_label.ts";
import { wrapLine } from "./wrap_line.ts";

/** Options for `formatMessage()`. */
export interface MessageOptions {
  /** Source of the text. */
  readonly speaker: Speaker;
  /** Columns of the terminal. */
  readonly columns: number;
  /** How the output shows lines. */
  readonly display: Display;
}

const ROLES: Readonly<Record<Speaker, Role>> = {
  user: "text",
  assistant: "text",
  plan: "text",
  thinking: "thinking",
  tool: "faint",
  agent: "faint",
  notice: "faint",
  warning: "warning",
  error: "error",
};

/** Wraps a text with a hanging indentation behind its label. Its line breaks are kept. */
export function formatMessage(text: string, { speaker, columns, display }: MessageOptions): Line[] {
  const label = getSpeakerLabel(speaker, display);
  const plain = new PlainTextFilter({ bidi: "show" }).push(text.replaceAll("\r\n", "\n")).trimEnd();
  const hanging = Math.min(getLineWidth(label), Math.floor(columns / 2));
  return wrapLine([{ text: plain, role: ROLES[speaker] }], {
    columns,
    first: label,
    next: hanging === 0 ? [] : [{ text: " ".repeat(hanging) }],
  });
}
