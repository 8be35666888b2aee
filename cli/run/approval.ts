/**
 * Approval of tool calls: by the user at the terminal, or denied in a non-interactive run.
 *
 * @module
 */

import type { ApprovalDecision } from "../../mod.ts";
import type { ApprovalPrompt, GateRequest } from "../../src/tools/mod.ts";
import type { Host } from "../host/host.ts";
import { askChoice } from "../questions/ask_choice.ts";
import { TypedInput } from "../questions/typed_input.ts";
import { formatDiffLines } from "../render/diff_lines.ts";
import { toPlainText } from "../render/plain_text.ts";
import { getStyle } from "../render/style.ts";
import { truncateToWidth } from "../render/text_width.ts";
import { formatCall } from "../render/tool_line.ts";

/** Maximum lines of a diff that are shown before the question. */
const MAX_CHANGE_LINES = 40;
/** Maximum terminal lines of a command that are shown before the question. */
const MAX_COMMAND_LINES = 4;

const ANSWERS = ["yes", "no", "always"] as const;

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
    const reason = "it requires approval, and this run is not interactive";
    return { type: "denied", reason, origin: "mode" };
  };
}

/** Creates a prompt that asks the user at the terminal. */
export function createTerminalAsk(host: Host): ApprovalPrompt {
  const input = new TypedInput(host.terminal.input);
  return async (request) => {
    await host.terminal.messages.write(`${formatCallDetails(request, host).join("\n")}\n`);
    const message = `Allow? [y]es / [n]o / [a]lways ${toPlainText(request.name)}`;
    const { signal } = request;
    const answer = await askChoice({ message, answers: ANSWERS }, { host, input, signal });
    return signal.aborted ? { type: "denied" } : toDecision(answer);
  };
}

/** Formats a call, the reasons why its command is dangerous, and its changes to files. */
function formatCallDetails(
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

/** Returns the decision for an answer; no answer denies the call. */
function toDecision(answer: (typeof ANSWERS)[number] | undefined): ApprovalDecision {
  switch (answer) {
    case "yes":
      return { type: "approved" };
    case "always":
      return { type: "approved", scope: "tool" };
    case "no":
    case undefined:
      return { type: "denied", reason: "the user denied it at the terminal" };
  }
}
