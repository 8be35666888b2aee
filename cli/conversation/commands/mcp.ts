/**
 * `/mcp`: shows the MCP servers, and starts one again.
 *
 * @module
 */

import { didYouMean } from "../../command_line/suggestion.ts";
import { UsageError } from "../../host/cli_error.ts";
import type { Line } from "../../render/line/line.ts";
import { pluralize } from "../../render/tool_line.ts";
import type { McpServerStatus } from "../../../src/mcp/mod.ts";
import { defineCommand } from "../command/conversation_command.ts";
import { toLine, toLines } from "../view/lines.ts";

/** `/mcp`. */
export const mcp = defineCommand({
  names: ["/mcp"],
  argument: "[restart SERVER]",
  summary: "Shows the MCP servers and their tools, or starts a server again",
  worksDuringRuns: true,
  complete: ({ setup: { controls: { tools: { servers } } } }) =>
    servers?.servers.map(({ name }) => ({ text: `restart ${name}` })) ?? [],
  async run(argument, { view, setup: { controls } }) {
    const { servers: connection } = controls.tools;
    if (!connection) {
      return await view.print(toLines("No MCP server; swink mcp add configures one", "faint"));
    }
    const [, word = "", name = ""] = /^(\S*)\s*(.*)$/s.exec(argument) ?? [];
    if (word === "restart") {
      const names = connection.servers.map((server) => server.name);
      if (!names.includes(name)) {
        throw new UsageError(
          `There is no server ${JSON.stringify(name)}${didYouMean(name, names)}`,
        );
      }
      await connection.restart(name);
    } else if (word !== "") throw new UsageError(`/mcp takes restart SERVER, not ${word}`);
    await view.print(connection.servers.flatMap(formatServer));
  },
});

function formatServer({ name, state, tools }: McpServerStatus): Line[] {
  const reason = "reason" in state ? `: ${state.reason}` : "";
  return [
    [
      { text: name, role: "name" },
      { text: ` ${state.type}${reason}`, role: state.type === "ready" ? "success" : "warning" },
      { text: ` · ${pluralize(tools.length, "tool")}`, role: "faint" },
    ],
    ...tools.map((tool) => toLine(`  ${tool}`, "faint")),
  ];
}
