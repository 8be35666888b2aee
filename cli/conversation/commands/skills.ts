/**
 * `/skills`: lists the skills that the model may read.
 *
 * @module
 */

import type { Line } from "../../render/line/line.ts";
import { toOneLine, toPlainText } from "../../render/plain_text.ts";
import { defineCommand } from "../command/conversation_command.ts";
import { toLine } from "../view/lines.ts";

/** `/skills`. */
export const skills = defineCommand({
  names: ["/skills"],
  summary: "Lists the skills that the model may read",
  worksDuringRuns: true,
  async run(_argument, { view, settings: { project } }) {
    if (project.skills.length === 0) {
      return await view.print([
        toLine("No skill; put one into .agents/skills/NAME/SKILL.md", "faint"),
      ]);
    }
    await view.print(project.skills.map(({ name, description }): Line => [
      { text: name, role: "name" },
      { text: `  ${toOneLine(toPlainText(description))}` },
    ]));
  },
});
