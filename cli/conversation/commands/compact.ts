/**
 * `/compact`: replaces the middle of the conversation by a summary.
 *
 * @module
 */

import type { CompactionReport } from "../../../src/memory/mod.ts";
import { unknownCost } from "../../../src/core/models/usage.ts";
import { importLate } from "../../host/import_late.ts";
import { formatNumber } from "../../render/format_number.ts";
import type { Line } from "../../render/line/line.ts";
import { pluralize } from "../../render/tool_line.ts";
import type { CommandContext } from "../command/command_context.ts";
import { defineCommand } from "../command/conversation_command.ts";
import { toLine, toMessage } from "../view/lines.ts";

/** Fraction of the used tokens that is kept, if the last messages allow it. */
const KEPT_FRACTION = 0.25;

/** `/compact`. */
export const compact = defineCommand({
  names: ["/compact"],
  argument: "[INSTRUCTIONS]",
  summary: "Replaces earlier messages by a summary, in requests and not in the session",
  run(argument, { view, runs, record, host, setup: { agent, controls: { transform } } }) {
    runs.startTask("compacting", async (signal) => {
      const { compact, contextGauge } = await importLate<
        typeof import("../../../src/memory/mod.ts")
      >(
        "../../../src/memory/mod.ts",
        import.meta.url,
      );
      const instructions = argument === "" ? undefined : argument;
      // A user who asks for a summary expects one even if the context window has space left.
      const tokens = contextGauge(agent, { transform }).used * KEPT_FRACTION;
      const startedAt = host.now();
      const report = await compact(agent, transform, { signal, instructions, tokens });
      if (report?.usage) {
        const outcome = { usage: report.usage, cost: report.cost ?? unknownCost() };
        record.addPrompt({ label: "/compact", outcome, durationMs: host.now() - startedAt });
      }
      if (!report) return await view.print([toLine("There is nothing to omit yet", "faint")]);
      await view.print(formatReport(report, view));
    });
  },
});

/** Formats the outcome of a compaction; without a summary, messages are omitted only if they do not fit any longer. */
function formatReport(
  { droppedCount, tokensBefore, tokensAfter, summary, problem }: CompactionReport,
  view: CommandContext["view"],
): Line[] {
  if (droppedCount === 0) return toMessage("warning", `Nothing was omitted: ${problem}`, view);
  const messages = pluralize(droppedCount, "message");
  const change = `${formatNumber(tokensBefore)} to ${formatNumber(tokensAfter)} tokens`;
  const outcome = summary === undefined
    ? `Requests omit ${messages}`
    : `A summary replaces ${messages}`;
  const text = `${outcome}: ${change}`;
  return problem === undefined
    ? [toLine(text, "faint")]
    : toMessage("warning", `${text}. ${problem}`, view);
}
