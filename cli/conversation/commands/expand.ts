/**
 * `/expand`: shows the complete result of a tool call.
 *
 * @module
 */

import { CliError, UsageError } from "../../host/cli_error.ts";
import { ExitCode } from "../../host/exit_code.ts";
import type { CallView } from "../../render/tools/call_view.ts";
import type { ConversationRecord } from "../command/command_context.ts";
import { defineCommand } from "../command/conversation_command.ts";

/** `/expand`. */
export const expand = defineCommand({
  names: ["/expand"],
  argument: "[N]",
  summary: "Shows the complete result of tool call N, or of the selected one, or of the last one",
  key: "F2",
  worksDuringRuns: true,
  async run(argument, { record, printCall }) {
    const number = argument === "" ? record.selectedCall : parseNumber(argument);
    await printCall(findCall(record, number));
  },
});

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
