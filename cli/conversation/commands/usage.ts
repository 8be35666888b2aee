/**
 * `/usage`: shows tokens and cost by prompt.
 *
 * @module
 */

import { formatUsageTable } from "../../render/status/format_usage.ts";
import { defineCommand } from "../command/conversation_command.ts";
import { toLine } from "../view/lines.ts";

/** `/usage`. */
export const usage = defineCommand({
  names: ["/usage", "/cost"],
  summary: "Shows tokens, cost and time by prompt, and in sum",
  key: "F5",
  worksDuringRuns: true,
  async run(_argument, { view, host, record: { turns, earlierTurns } }) {
    const { display } = view;
    // A view that does not wrap lines would show a broken table.
    const columns = Math.min(view.columns, host.terminal.columns - 1);
    const lines = turns.length === 0
      ? [toLine("No prompt has been sent yet", "faint")]
      : formatUsageTable(turns, { columns, display, before: earlierTurns });
    await view.print(lines);
  },
});
