/**
 * `/expand`: shows the complete result of a tool call.
 *
 * @module
 */

import { CliError, UsageError } from "../../host/cli_error.ts";
import { ExitCode } from "../../host/exit_code.ts";
import { formatCall } from "../../render/tool_line.ts";
import type { CallView } from "../../render/tools/call_view.ts";
import type { CommandContext, ConversationRecord } from "../command/command_context.ts";
import { defineCommand } from "../command/conversation_command.ts";
import { toLine } from "../view/lines.ts";

/** `/expand`. */
export const expand = defineCommand({
  names: ["/expand"],
  argument: "[N|previous|next]",
  summary: "Shows the complete result of the selected tool call, or of call N",
  key: "F2, Shift+Left, Shift+Right",
  worksDuringRuns: true,
  async run(argument, context) {
    const { record } = context;
    if (argument === "previous" || argument === "next") {
      return await select(argument === "next" ? 1 : -1, context);
    }
    const number = argument === "" ? record.selectedCall : parseNumber(argument);
    const call = findCall(record, number);
    record.selectedCall = call.number;
    await context.printCall(call);
  },
});

/** Selects the next or the previous call, and shows its line. */
async function select(step: number, { view, record }: CommandContext): Promise<void> {
  const ended = record.calls.filter(({ end }) => end);
  const selected = ended.findIndex(({ number }) => number === record.selectedCall);
  const index = selected < 0 ? ended.length - 1 : Math.min(Math.max(selected + step, 0), ended.length - 1);
  const call = ended[index];
  if (!call) throw createNoCallError();
  record.selectedCall = call.number;
  view.redraw();
  const summary = `${call.number} ${call.name} ${formatCall(call.name, call.arguments)}`;
  await view.print([toLine(`${summary} · F2 shows it`, "selected")]);
}

function findCall({ calls }: ConversationRecord, number: number | undefined): CallView {
  const ended = calls.filter(({ end }) => end);
  const call = number === undefined
    ? ended.at(-1)
    : ended.find((candidate) => candidate.number === number);
  if (call) return call;
  const last = ended.at(-1);
  if (!last) throw createNoCallError();
  throw new UsageError(
    `There is no tool call ${number}`,
    `Write a number from ${ended[0]?.number ?? 1} to ${last.number}.`,
  );
}

function createNoCallError(): CliError {
  return new CliError("No tool call has ended yet", { exitCode: ExitCode.failed });
}

function parseNumber(argument: string): number {
  if (/^\d+$/.test(argument)) return Number(argument);
  throw new UsageError(`/expand takes a number, not ${JSON.stringify(argument)}`);
}
