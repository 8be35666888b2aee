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
      return await view.print(
        agent.state.tools.map(({ name, description }): Line => [
          { text: name, role: "tool" },
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
