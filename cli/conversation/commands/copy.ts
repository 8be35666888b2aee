/**
 * `#copy`: copies a text to the clipboard of the user's terminal.
 *
 * @module
 */

import type { AgentMessage } from "../../../mod.ts";
import { extractText } from "../../../src/core/messages/content.ts";
import { CliError, UsageError } from "../../host/cli_error.ts";
import { ExitCode } from "../../host/exit_code.ts";
import { getFinalText } from "../../render/final_text.ts";
import { pluralize } from "../../render/tool_line.ts";
import { defineCommand } from "../command/conversation_command.ts";
import { toLine } from "../view/lines.ts";

const CHOICES = [
  { text: "all", detail: "the conversation" },
  { text: "code", detail: "the last code block" },
] as const;

/** `#copy`. */
export const copy = defineCommand({
  names: ["#copy", "/copy"],
  argument: "[all|code]",
  summary: "Copies the last reply, the conversation or the last code block, also over ssh",
  worksDuringRuns: true,
  complete: () => CHOICES,
  async run(argument, { view, setup: { agent } }) {
    const text = selectText(argument, agent.state.messages);
    if (text === "") throw new CliError("There is nothing to copy", { exitCode: ExitCode.failed });
    if (!await view.copy(text)) {
      throw new CliError("This terminal cannot copy", {
        exitCode: ExitCode.failed,
        advice: "/export FILE writes the conversation to a file.",
      });
    }
    const lines = text.split("\n").length;
    await view.print([toLine(`Copied ${pluralize(lines, "line")}`, "faint")]);
  },
});

function selectText(argument: string, messages: readonly AgentMessage[]): string {
  switch (argument) {
    case "":
      return getFinalText(messages);
    case "all":
      return messages.flatMap(formatMessage).join("\n\n");
    case "code":
      return findLastCode(messages);
    default:
      throw new UsageError(
        `#copy takes all or code, not ${JSON.stringify(argument)}`,
        "Without an argument it copies the last reply.",
      );
  }
}

function formatMessage(message: AgentMessage): string[] {
  if (message.role !== "user" && message.role !== "assistant") return [];
  const text = extractText(message.content).trim();
  if (text === "") return [];
  return [message.role === "user" ? text.replace(/^/gm, "> ") : text];
}

/** Returns the content of the last fenced code block of a reply. */
function findLastCode(messages: readonly AgentMessage[]): string {
  for (const message of messages.toReversed()) {
    if (message.role !== "assistant") continue;
    const blocks = extractText(message.content).matchAll(
      /^ {0,3}(`{3,}|~{3,})[^\n]*\n([\s\S]*?)^ {0,3}\1[`~]*\s*$/gm,
    );
    const last = [...blocks].at(-1)?.[2];
    if (last !== undefined) return last.replace(/\n$/, "");
  }
  return "";
}
