/**
 * `/edit-plan`: opens the plan in the user's editor.
 *
 * @module
 */

import { CliError } from "../../host/cli_error.ts";
import { ExitCode } from "../../host/exit_code.ts";
import { importLate } from "../../host/import_late.ts";
import { EDITED_PLAN_PATH } from "../../host/plan_path.ts";
import { pluralize } from "../../render/tool_line.ts";
import { defineCommand } from "../command/conversation_command.ts";
import { openPlanFile } from "../command/plan_mode.ts";
import { toLine, toMessage } from "../view/lines.ts";

/** `/edit-plan`. */
export const editPlan = defineCommand({
  names: ["/edit-plan"],
  summary: "Opens the plan in EDITOR, VISUAL or vi",
  async run(_argument, { view, settings, editor }) {
    const file = await openPlanFile(settings.cwd);
    const before = await file.read();
    if (before.type !== "text") {
      throw new CliError(before.type === "missing" ? "There is no plan yet" : before.reason, {
        exitCode: ExitCode.failed,
        advice: "In plan mode, which /plan turns on, the model writes one.",
      });
    }
    const text = await editor.editText(before.text, ".md");
    // An editor that was closed without saving may have removed the text.
    if (text.trim() === "") {
      return await view.print([toLine("The text was empty, so the plan is unchanged", "faint")]);
    }
    const current = await file.read();
    if (current.type !== "text" || current.text !== before.text) {
      await openPlanFile(settings.cwd, EDITED_PLAN_PATH).then((copy) => copy.write(`${text}\n`));
      throw new CliError("The plan was changed while it was edited, so it was not replaced", {
        exitCode: ExitCode.failed,
        advice: `Your text is in ${EDITED_PLAN_PATH}.`,
      });
    }
    await file.write(`${text}\n`);
    const { readPlan } = await importLate<typeof import("../../../src/tools/plan/mod.ts")>(
      "../../../src/tools/plan/mod.ts",
      import.meta.url,
    );
    const read = await readPlan(file);
    if (read.type === "refused") {
      return await view.print(toMessage("warning", read.reason, view));
    }
    const steps = pluralize(read.review.plan.steps.length, "step");
    await view.print([toLine(`The plan has ${steps}; /execute carries it out`, "faint")]);
  },
});
