/**
 * The messages of a conversation that is continued, shortened.
 *
 * @module
 */

import type { AgentMessage, AssistantMessage, ToolResultMessage } from "../../../mod.ts";
import { extractText } from "../../../src/core/content.ts";
import type { Line } from "../../render/line/line.ts";
import { truncateLine } from "../../render/line/line_width.ts";
import { getSpeakerLabel, type Speaker } from "../../render/line/speaker_label.ts";
import { toOneLine, toPlainText } from "../../render/plain_text.ts";
import type { Display } from "../../render/theme/display.ts";
import { formatCall, formatResult, pluralize } from "../../render/tool_line.ts";
import { toLine, toLines } from "../view/lines.ts";
import { getUserText } from "./user_text.ts";

/** Number of the last messages of the user that are shown. */
const MAX_PROMPTS = 3;

/** Number of lines of a text that are shown. */
const MAX_LINES = 10;

/** Number of characters of a line that are shown. */
const MAX_LINE_LENGTH = 1_000;

/** Formats the last messages of a history. */
export function formatHistory(
  messages: readonly AgentMessage[],
  display: Display,
): Line[] {
  const start = findStart(messages);
  const omitted = start === 0
    ? []
    : [toLine(`… ${pluralize(start, "earlier message")}; /tree lists the prompts`, "faint")];
  const results = new Map(
    messages.flatMap((message) =>
      message.role === "tool_result" ? [[message.toolCallId, message] as const] : []
    ),
  );
  return [
    ...omitted,
    ...messages.slice(start).flatMap((message) => {
      switch (message.role) {
        case "user":
          return label(shorten(getUserText(message)), "user", display);
        case "assistant":
          return formatReply(message, results, display);
        default:
          return [];
      }
    }),
  ];
}

function findStart(messages: readonly AgentMessage[]): number {
  const prompts = messages.flatMap(({ role }, index) => role === "user" ? [index] : []);
  return prompts.at(-MAX_PROMPTS) ?? prompts[0] ?? 0;
}

function formatReply(
  { content }: AssistantMessage,
  results: ReadonlyMap<string, ToolResultMessage>,
  display: Display,
): Line[] {
  const text = extractText(content).trim();
  const calls = content.flatMap((block): Line[] => {
    if (block.type !== "tool_call") return [];
    const result = results.get(block.id);
    const end = result ? ` · ${formatResult(result, result.isError)}` : "";
    const mark = display.isPlain
      ? getSpeakerLabel("tool", display)
      : [{ text: `${display.symbols.done} ` }];
    return [[
      ...mark,
      { text: toOneLine(toPlainText(block.name)), role: "tool" },
      { text: ` ${formatCall(block.name, block.arguments)}${end}`, role: "faint" },
    ]];
  });
  return [...(text === "" ? [] : label(shorten(text), "assistant", display)), ...calls];
}

function shorten(text: string): Line[] {
  const lines = toLines(text).map((line) =>
    truncateLine(line, { columns: MAX_LINE_LENGTH, ellipsis: "…" })
  );
  if (lines.length <= MAX_LINES) return lines;
  const rest = lines.length - MAX_LINES;
  return [...lines.slice(0, MAX_LINES), toLine(`… ${pluralize(rest, "more line")}`, "faint")];
}

function label([first = [], ...rest]: readonly Line[], speaker: Speaker, display: Display): Line[] {
  return [[...getSpeakerLabel(speaker, display), ...first], ...rest];
}
