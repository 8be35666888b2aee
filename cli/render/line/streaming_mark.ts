/**
 * The mark that shows that text is still coming.
 *
 * @module
 */

import type { Display } from "../theme/display.ts";
import type { Line } from "./line.ts";
import { getLineWidth } from "./line_width.ts";

/** Time between the states of the mark. */
const INTERVAL_MS = 500;

/** Options for `addStreamingMark()`. */
export interface StreamingMarkOptions {
  /** How the output shows lines. */
  readonly display: Display;
  /** Columns of the terminal. */
  readonly columns: number;
  /** The current time in milliseconds, which determines the state of the mark. */
  readonly now: number;
}

/** Adds a blinking mark behind the last open row; on a row of its own if that one is full. */
export function addStreamingMark(
  open: readonly Line[],
  { display: { symbols: { streaming } }, columns, now }: StreamingMarkOptions,
): Line[] {
  const text = streaming[Math.floor(now / INTERVAL_MS) % streaming.length] ?? "";
  const mark = { text, role: "prompt" } as const;
  const last = open.at(-1);
  if (last === undefined || getLineWidth(last) + 1 > columns) return [...open, [mark]];
  return [...open.slice(0, -1), [...last, mark]];
}
