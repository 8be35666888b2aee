/**
 * Approval of tool calls: by the user at the terminal, or denied in a non-interactive run.
 *
 * @module
 */

import type { ApprovalDecision } from "../../mod.ts";
import type { ApprovalPrompt, GateRequest } from "../../src/tools/mod.ts";
import type { Host } from "../host/host.ts";
import type { LineReader } from "../host/line_reader.ts";
import { formatDiffLines } from "../render/diff_lines.ts";
import { toPlainText } from "../render/plain_text.ts";
import { getStyle } from "../render/style.ts";
import { truncateToWidth } from "../render/text_width.ts";
import { formatCall } from "../render/tool_line.ts";

/** Maximum lines of a diff that are shown before the question. */
const MAX_CHANGE_LINES = 40;
/** Maximum terminal lines of a command that are shown before the question. */
const MAX_COMMAND_LINES = 4;

/** Denies every tool call that requires approval, and records the names of the tools. */
export class NonInteractiveApprover {
  readonly #refused = new Set<string>();

  /** Names of the denied tools without duplicates, in the order of their first denial. */
  get refused(): readonly string[] {
    return [...this.#refused];
  }

  /** Denies a call. */
  readonly ask: ApprovalPrompt = ({ name }) => {
    this.#refused.add(name);
    return { type: "denied", reason: "it requires approval, and this run is not interactive" };
  };
}

/** Creates a prompt that asks the user at the terminal and reads the answers from `answers`. */
export function createTerminalAsk(host: Host, answers: LineReader): ApprovalPrompt {
  return async (request) => {
    const { messages } = host.terminal;
    await messages.write(`${formatQuestion(request, host).join("\n")}\n`);
    const { signal } = request;
    while (!signal.aborted) {
      await messages.write("  Run it? yes, no, always (this tool): ");
      const answer = await answers.readLine(signal);
      // The user has typed no line feed after the question.
      if (answer === undefined) await messages.write("\n");
      const decision = parseDecision(answer);
      if (decision) return decision;
    }
    return { type: "denied" };
  };
}

/** Formats a call, the reasons why its command is dangerous, and its changes to files. */
function formatQuestion(
  { name, arguments: args, changes = [], assessment }: GateRequest,
  { terminal, env }: Host,
): string[] {
  const style = getStyle(terminal.messages, env);
  const call = truncateToWidth(formatCall(name, args), terminal.columns * MAX_COMMAND_LINES);
  const isDangerous = assessment?.verdict === "dangerous";
  const lines = formatDiffLines(changes.map(({ diff = "" }) => diff).join(""), style);
  const hiddenCount = lines.length - MAX_CHANGE_LINES;
  return [
    `\n? ${style.name(toPlainText(name))} ${call}`,
    ...(isDangerous ? [style.warning(`  ${toPlainText(assessment.reasons.join("; "))}`)] : []),
    ...lines.slice(0, MAX_CHANGE_LINES),
    ...(hiddenCount > 0 ? [`  … and ${hiddenCount} more lines`] : []),
  ];
}

/** Parses an answer; `undefined` if it is invalid. The end of the input (`undefined`) denies the call. */
function parseDecision(answer: string | undefined): ApprovalDecision | undefined {
  switch (answer?.trim().toLowerCase()) {
    case "y":
    case "yes":
      return { type: "approved" };
    case "a":
    case "always":
      return { type: "approved", scope: "tool" };
    case "n":
    case "no":
    case undefined:
      return { type: "denied", reason: "the user denied it at the terminal" };
    default:
      return undefined;
  }
}
