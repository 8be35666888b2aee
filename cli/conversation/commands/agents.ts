/**
 * `/agents`: shows the sub-agents.
 *
 * @module
 */

import { UsageError } from "../../host/cli_error.ts";
import { formatAgents } from "../../render/agents/format_agents.ts";
import { defineCommand } from "../command/conversation_command.ts";
import { toLine, toLines } from "../view/lines.ts";

/** `/agents`. */
export const agents = defineCommand({
  names: ["/agents"],
  argument: "[N]",
  summary: "Lists the sub-agents, or shows the work of one",
  worksDuringRuns: true,
  async run(argument, { view, host, record }) {
    if (argument !== "") {
      const text = record.getAgentText(Number(argument));
      if (text === undefined) throw new UsageError(`There is no agent ${JSON.stringify(argument)}`);
      return await view.print(toLines(text.trim() === "" ? "No output yet" : text.trim()));
    }
    if (record.agents.length === 0) {
      return await view.print([toLine("No sub-agent was started", "faint")]);
    }
    const { columns, display } = view;
    await view.print(formatAgents(record.agents, { columns, display, now: host.now() }));
  },
});
