/**
 * Asking at the terminal whether a tool call may run.
 *
 * @module
 */

import type { ApprovalDecision } from "../mod.ts";
import type { ApprovalPrompt, GateRequest } from "../src/tools/mod.ts";
import type { Host } from "./host.ts";
import type { LineReader } from "./line_reader.ts";
import { formatDiffLines } from "./render/diff_lines.ts";
import { toPlainText } from "./render/plain_text.ts";
import { getStyle } from "./render/style.ts";
import { truncateToWidth } from "./render/text_width.ts";
import { formatCall } from "./render/tool_line.ts";

/** Lines of a change, and of a command, that are shown before it is asked about. */
const MAX_CHANGE_LINES = 40;
const MAX_COMMAND_LINES = 4;

/** Who answers for a run with nobody at the terminal: nobody. What was refused is remembered. */
export class NonInteractiveApprover {
  readonly #refused = new Set<string>();

  /** Names of the tools that were refused, in order, each once. */
  get refused(): readonly string[] {
    return [...this.#refused];
  }

  /** Says no. */
  readonly ask: ApprovalPrompt = ({ name }) => {
    this.#refused.add(name);
    return { type: "denied", reason: "it needs permission, and nobody can be asked in this run" };
  };
}

/** Asks the person at the terminal; answers are read from `answers`. */
export function createTerminalAsk(host: Host, answers: LineReader): ApprovalPrompt {
  return async (request) => {
    const { messages } = host.terminal;
    await messages.write(`${formatQuestion(request, host).join("\n")}\n`);
    const { signal } = request;
    while (!signal.aborted) {
      await messages.write("  Run it? yes, no, always (this tool): ");
      const answer = await answers.readLine(signal);
      // Nobody has typed the end of the line.
      if (answer === undefined) await messages.write("\n");
      const decision = parseDecision(answer);
      if (decision) return decision;
    }
    return { type: "denied" };
  };
}

/** What would be done: the call, what the judge of commands says, and the changes of files. */
function formatQuestion(
  { name, arguments: args, changes = [], assessment: judgement }: GateRequest,
  { terminal, env }: Host,
): string[] {
  const style = getStyle(terminal.messages, env);
  const call = truncateToWidth(formatCall(name, args), terminal.columns * MAX_COMMAND_LINES);
  const isDangerous = judgement?.verdict === "dangerous";
  const lines = formatDiffLines(changes.map(({ diff = "" }) => diff).join(""), style);
  const left = lines.length - MAX_CHANGE_LINES;
  return [
    `\n? ${style.name(toPlainText(name))} ${call}`,
    ...(isDangerous ? [style.warning(`  ${toPlainText(judgement.reasons.join("; "))}`)] : []),
    ...lines.slice(0, MAX_CHANGE_LINES),
    ...(left > 0 ? [`  … and ${left} more lines`] : []),
  ];
}

/** What an answer means; `undefined` when it means nothing. The end of the input is a no. */
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
      return { type: "denied", reason: "the person at the terminal said no" };
    default:
      return undefined;
  }
}
