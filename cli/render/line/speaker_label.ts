/**
 * Labels that state where text comes from.
 *
 * @module
 */

import type { Display } from "../theme/display.ts";
import type { Line } from "./line.ts";

/** Source of a text. */
export type Speaker =
  | "user"
  | "assistant"
  | "plan"
  | "thinking"
  | "tool"
  | "agent"
  | "notice"
  | "warning"
  | "error";

/** Labels of `--plain`, which has no colors to distinguish sources. */
const PLAIN_LABELS: Readonly<Record<Speaker, string>> = {
  user: "you: ",
  assistant: "assistant: ",
  plan: "plan: ",
  thinking: "thinking: ",
  tool: "tool: ",
  agent: "agent: ",
  notice: "note: ",
  warning: "warning: ",
  error: "error: ",
};

/** Returns the text before the first row of a text; nothing where its look shows the source. */
export function getSpeakerLabel(speaker: Speaker, display: Display): Line {
  if (display.isPlain) return [{ text: PLAIN_LABELS[speaker] }];
  switch (speaker) {
    case "user":
      return [{ text: `${display.symbols.prompt} `, role: "prompt" }];
    case "plan":
      return [{ text: "PLAN", role: "plan" }, { text: " " }];
    case "warning":
    case "error":
      return [{ text: PLAIN_LABELS[speaker], role: speaker }];
    case "assistant":
    case "thinking":
    case "tool":
    case "agent":
    case "notice":
      return [];
  }
}
