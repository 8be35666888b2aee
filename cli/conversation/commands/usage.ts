/**
 * `/usage`: shows tokens and cost by prompt.
 *
 * @module
 */

import type { Line } from "../../render/line/line.ts";
import { formatCost, formatDuration } from "../../render/usage_line.ts";
import { formatNumber } from "../../render/format_number.ts";
import { toOneLine, toPlainText } from "../../render/plain_text.ts";
import { truncateToWidth } from "../../render/text_width.ts";
import type { TurnUsage } from "../../render/status/turn_usage.ts";
import { defineCommand } from "../command/conversation_command.ts";
import { toLine } from "../view/lines.ts";

/** Maximum columns of the text of a prompt. */
const LABEL_COLUMNS = 30;

/** `/usage`. */
export const usage = defineCommand({
  names: ["/usage", "/cost"],
  summary: "Shows tokens, cost and time by prompt, and in sum",
  key: "F5",
  worksDuringRuns: true,
  async run(_argument, { view, record: { turns, total } }) {
    if (turns.length === 0) return await view.print([toLine("No prompt has been sent yet", "faint")]);
    await view.print([...turns, total].map(formatTurn));
  },
});

function formatTurn({ label, usage, cost, durationMs }: TurnUsage): Line {
  const { input, output, cacheRead, cacheWrite } = usage;
  const name = truncateToWidth(toOneLine(toPlainText(label)), LABEL_COLUMNS);
  const fields = [
    `${formatNumber(input + cacheRead + cacheWrite)} in`,
    `${formatNumber(output)} out`,
    formatCost(cost),
    formatDuration(durationMs),
  ];
  return [{ text: name.padEnd(LABEL_COLUMNS + 2) }, { text: fields.join(" · "), role: "faint" }];
}
