/**
 * `/agents`: shows the sub-agents.
 *
 * @module
 */

import { UsageError } from "../../host/cli_error.ts";
import type { AgentView } from "../../render/agents/agent_view.ts";
import type { Line } from "../../render/line/line.ts";
import { formatNumber } from "../../render/format_number.ts";
import { toOneLine, toPlainText } from "../../render/plain_text.ts";
import { pluralize } from "../../render/tool_line.ts";
import { defineCommand } from "../command/conversation_command.ts";
import { toLine, toLines } from "../view/lines.ts";

/** `/agents`. */
export const agents = defineCommand({
  names: ["/agents"],
  argument: "[N]",
  summary: "Lists the sub-agents, or shows the work of one",
  worksDuringRuns: true,
  async run(argument, { view, record }) {
    if (argument !== "") {
      const text = record.getAgentText(Number(argument));
      if (text === undefined) throw new UsageError(`There is no agent ${JSON.stringify(argument)}`);
      return await view.print(toLines(text.trim() === "" ? "No output yet" : text.trim()));
    }
    if (record.agents.length === 0) {
      return await view.print([toLine("No sub-agent was started", "faint")]);
    }
    await view.print(record.agents.flatMap((agent) => formatAgent(agent, 0)));
  },
});

function formatAgent(agent: AgentView, depth: number): Line[] {
  const { number, name, activity, status, turns, usage } = agent;
  const fields = [status, pluralize(turns, "turn"), `${formatNumber(usage.total)} tokens`];
  return [
    [
      { text: `${"  ".repeat(depth)}${number} ` },
      { text: toPlainText(name), role: "tool" },
      { text: ` ${toOneLine(toPlainText(activity))} · ${fields.join(" · ")}`, role: "faint" },
    ],
    ...agent.children.flatMap((child) => formatAgent(child, depth + 1)),
  ];
}
