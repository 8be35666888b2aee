/**
 * `/tools`: lists the tools, and sets whether their results are shown completely.
 *
 * @module
 */

import { UsageError } from "../../host/cli_error.ts";
import type { Line } from "../../render/line/line.ts";
import { toOneLine, toPlainText } from "../../render/plain_text.ts";
import { defineCommand } from "../command/conversation_command.ts";
import { cutLine } from "../command/cut_line.ts";
import { toLine } from "../view/lines.ts";

/** Columns of the names; a longer one, such as that of a tool of a server, moves its description. */
const MAX_NAME_COLUMNS = 24;

/** `/tools`. */
export const tools = defineCommand({
  names: ["/tools"],
  argument: "[expanded|collapsed]",
  summary: "Lists the tools, or sets whether results are shown completely or in one line",
  worksDuringRuns: true,
  complete: () => [
    { text: "expanded", detail: "shows results completely" },
    { text: "collapsed", detail: "shows results in one line" },
  ],
  async run(argument, { view, output, setup: { agent } }) {
    if (argument === "") {
      const { tools } = agent.state;
      const longest = Math.max(0, ...tools.map(({ name }) => name.length));
      const width = Math.min(MAX_NAME_COLUMNS, longest);
      return await view.print(
        tools.map(({ name, description }): Line => [
          { text: name.padEnd(width), role: "tool" },
          { text: `  ${toOneLine(toPlainText(description))}`, role: "faint" },
        ]).map((line) => cutLine(line, view)),
      );
    }
    if (argument !== "expanded" && argument !== "collapsed") {
      throw new UsageError(`/tools takes expanded or collapsed, not ${JSON.stringify(argument)}`);
    }
    output.expandsTools = argument === "expanded";
    const text = output.expandsTools
      ? "Later results are shown completely"
      : "Later results are shown in one line; /expand N shows one completely";
    await view.print([toLine(text, "faint")]);
  },
});
