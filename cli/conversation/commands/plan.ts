/**
 * `/plan`: turns plan mode on or off.
 *
 * @module
 */

import { UsageError } from "../../host/cli_error.ts";
import { PLAN_PATH } from "../../host/plan_path.ts";
import { defineCommand } from "../command/conversation_command.ts";
import { requirePlanMode } from "../command/plan_mode.ts";
import { toLine } from "../view/lines.ts";

/** `/plan`. */
export const plan = defineCommand({
  names: ["/plan"],
  argument: "[on|off]",
  summary: `Turns plan mode on or off: the model only reads, and writes a plan to ${PLAN_PATH}`,
  key: "Shift+Tab",
  worksDuringRuns: true,
  complete: () => [{ text: "on" }, { text: "off" }],
  async run(argument, { view, setup }) {
    const { agent } = setup;
    const planMode = requirePlanMode(setup);
    if (parseSwitch(argument, !planMode.isActive)) planMode.turnOn(agent);
    else planMode.turnOff(agent);
    view.redraw();
    await view.print([
      planMode.isActive
        ? toLine(`PLAN mode: the model changes nothing; /execute carries the plan out`, "plan")
        : toLine("EXECUTE mode: the model may change files, with your approval", "faint"),
    ]);
  },
});

function parseSwitch(argument: string, toggled: boolean): boolean {
  if (argument === "") return toggled;
  if (argument === "on" || argument === "off") return argument === "on";
  throw new UsageError(`/plan takes on or off, not ${JSON.stringify(argument)}`);
}
