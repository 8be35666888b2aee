/**
 * The messages of a conversation that is continued, shortened.
 *
 * @module
 */

import type { AgentMessage, AssistantMessage, ToolCallBlock } from "../../../mod.ts";
import { extractText } from "../../../src/core/messages/content.ts";
import type { Line } from "../../render/line/line.ts";
import { getLineWidth, truncateLine } from "../../render/line/line_width.ts";
import { getSpeakerLabel, type Speaker } from "../../render/line/speaker_label.ts";
import { wrapLine } from "../../render/line/wrap_line.ts";
import type { Display } from "../../render/theme/display.ts";
import { pluralize } from "../../render/tool_line.ts";
import type { CallView } from "../../render/tools/call_view.ts";
import { parseCommandNote } from "../../sessions/user_notes.ts";
import { getTypedPrompt } from "../command/typed_text.ts";
import { toLine, toLines } from "../view/lines.ts";
import { listCalls } from "./list_calls.ts";
import { formatCommandOutput } from "./shell_command.ts";
import { getUserText } from "./user_text.ts";

/** Number of the last messages of the user that are shown. */
const MAX_PROMPTS = 3;

/** Number of lines of a text that are shown. */
const MAX_LINES = 10;

/** Number of characters of a line that are shown. */
const MAX_LINE_LENGTH = 1_000;

/** Options for `formatHistory()`. */
export interface HistoryOptions {
  /** Columns of the output. */
  readonly columns: number;
  /** How lines are shown. */
  readonly display: Display;
  /** Formats a call that has ended. */
  readonly formatEndedCall: (call: CallView) => Line;
}

/** Formats the last messages of a history. */
export function formatHistory(
  messages: readonly AgentMessage[],
  options: HistoryOptions,
): Line[] {
  const start = findStart(messages);
  const omitted = start === 0
    ? []
    : [toLine(`… ${pluralize(start, "earlier message")}; /tree lists the prompts`, "faint")];
  const calls = listCalls(messages);
  return [
    ...omitted,
    ...messages.slice(start).flatMap((message) => {
      switch (message.role) {
        case "user":
          return formatUserText(message, options);
        case "assistant":
          return formatReply(message, calls, options);
        default:
          return [];
      }
    }),
  ];
}

/** Formats a text of the user; a command that the user has run, and its output, as they were shown then. */
function formatUserText(message: AgentMessage, options: HistoryOptions): Line[] {
  const ran = parseCommandNote(getUserText(message));
  if (!ran) return layOut(shorten(toLines(getTypedPrompt(message))), "user", options);
  return [
    ...layOut(shorten(toLines(`!${ran.command}`)), "user", options),
    ...shorten(formatCommandOutput(ran.output)),
  ];
}

function findStart(messages: readonly AgentMessage[]): number {
  const prompts = messages.flatMap(({ role }, index) => role === "user" ? [index] : []);
  return prompts.at(-MAX_PROMPTS) ?? prompts[0] ?? 0;
}

function formatReply(
  { content }: AssistantMessage,
  calls: ReadonlyMap<ToolCallBlock, CallView>,
  options: HistoryOptions,
): Line[] {
  const text = extractText(content).trim();
  const lines = content.flatMap((block): Line[] => {
    const call = block.type === "tool_call" ? calls.get(block) : undefined;
    return call ? [options.formatEndedCall(call)] : [];
  });
  return [...(text === "" ? [] : layOut(shorten(toLines(text)), "assistant", options)), ...lines];
}

function shorten(all: readonly Line[]): Line[] {
  const lines = all.map((line) => truncateLine(line, { columns: MAX_LINE_LENGTH, ellipsis: "…" }));
  if (lines.length <= MAX_LINES) return lines;
  const rest = lines.length - MAX_LINES;
  return [...lines.slice(0, MAX_LINES), toLine(`… ${pluralize(rest, "more line")}`, "faint")];
}

/** Wraps a text behind the label of its source, with the indentation of the label, which distinguishes prompts from replies. */
function layOut(
  lines: readonly Line[],
  speaker: Speaker,
  { columns, display }: HistoryOptions,
): Line[] {
  const label = getSpeakerLabel(speaker, display);
  const width = display.isPlain ? 0 : getLineWidth(label);
  const next = width === 0 ? [] : [{ text: " ".repeat(width) }];
  return lines.flatMap((line, index) => {
    const first = index === 0 ? label : getLineWidth(line) === 0 ? [] : next;
    return wrapLine(line, { columns, first, next });
  });
}
