/**
 * `/diff`: shows the last file change, and sets the layout of changes.
 *
 * @module
 */

import { CliError, UsageError } from "../../host/cli_error.ts";
import { ExitCode } from "../../host/exit_code.ts";
import { defineCommand } from "../command/conversation_command.ts";
import { toLine } from "../view/lines.ts";

/** `/diff`. */
export const diff = defineCommand({
  names: ["/diff"],
  argument: "[wide|unified]",
  summary: "Shows the last file change; wide shows this and later ones side by side",
  worksDuringRuns: true,
  complete: () => [
    { text: "wide", detail: "before and after side by side" },
    { text: "unified", detail: "removed lines above added ones" },
  ],
  async run(argument, { view, output, record, printCall }) {
    switch (argument) {
      case "":
        break;
      case "wide":
        output.diffLayout = "side_by_side";
        break;
      case "unified":
        output.diffLayout = "unified";
        break;
      default:
        throw new UsageError(`/diff takes wide or unified, not ${JSON.stringify(argument)}`);
    }
    const call = record.calls.findLast(({ changes, end }) => changes && end && !end.isError);
    if (call) return await printCall(call);
    if (argument !== "") {
      const layout = argument === "wide" ? "side by side" : "as unified diffs";
      return await view.print([toLine(`Later changes are shown ${layout}`, "faint")]);
    }
    throw new CliError(
      "No file was changed since the conversation was started, resumed or rewound",
      { exitCode: ExitCode.failed },
    );
  },
});
