/**
 * The messages of a conversation that is continued, shortened.
 *
 * @module
 */

import type { AgentMessage, AssistantMessage, ToolResultMessage } from "../../../mod.ts";
import { extractText } from "../../../src/core/content.ts";
import type { Line } from "../../render/line/line.ts";
import { formatCall, formatResult, pluralize } from "../../render/tool_line.ts";
import { toLine, toLines } from "../view/lines.ts";
import { getUserText } from "./conversation_runs.ts";

/** Number of the last messages of the user that are shown. */
const MAX_PROMPTS = 3;

/** Number of lines of a text that are shown. */
const MAX_LINES = 10;

/** Options for `formatHistory()`. */
export interface HistoryOptions {
  /** Sign before the messages of the user. */
  readonly prompt: string;
  /** Sign before tool calls. */
  readonly bullet: string;
}

/** Formats the last messages of a history. */
export function formatHistory(
  messages: readonly AgentMessage[],
  { prompt, bullet }: HistoryOptions,
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
          return markFirst(shorten(getUserText(message)), [{ text: `${prompt} `, role: "prompt" }]);
        case "assistant":
          return formatReply(message, results, bullet);
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
  bullet: string,
): Line[] {
  const text = extractText(content).trim();
  const calls = content.flatMap((block): Line[] => {
    if (block.type !== "tool_call") return [];
    const result = results.get(block.id);
    const end = result ? ` · ${formatResult(result, result.isError)}` : "";
    return [[
      { text: `${bullet} ` },
      { text: block.name, role: "tool" },
      { text: ` ${formatCall(block.name, block.arguments)}${end}`, role: "faint" },
    ]];
  });
  return [...(text === "" ? [] : shorten(text)), ...calls];
}

function shorten(text: string): Line[] {
  const lines = toLines(text);
  if (lines.length <= MAX_LINES) return lines;
  const rest = lines.length - MAX_LINES;
  return [...lines.slice(0, MAX_LINES), toLine(`… ${pluralize(rest, "more line")}`, "faint")];
}

function markFirst([first = [], ...rest]: readonly Line[], mark: Line): Line[] {
  return [[...mark, ...first], ...rest];
}
