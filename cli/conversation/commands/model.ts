/**
 * `/model`: shows or sets the model.
 *
 * @module
 */

import type { ModelSpec } from "../../../mod.ts";
import { getErrorMessage } from "../../../src/core/errors.ts";
import { modelSpec } from "../../../src/core/model.ts";
import { UsageError } from "../../host/cli_error.ts";
import { importLate } from "../../host/import_late.ts";
import { DEFAULT_MODELS } from "../../settings/run_options.ts";
import type { CommandContext } from "../command/command_context.ts";
import { defineCommand } from "../command/conversation_command.ts";
import { formatModel } from "../command/format_model.ts";
import { toLine } from "../view/lines.ts";

/** `/model`. */
export const model = defineCommand({
  names: ["/model", "/models"],
  argument: "[PROVIDER/MODEL[:LEVEL]|next]",
  summary: "Shows or sets the model of the next turn; next selects the next configured one",
  key: "F4",
  worksDuringRuns: true,
  async complete() {
    const { catalog } = await importLate<typeof import("../../../adapters/catalog/catalog.ts")>(
      "../../../adapters/catalog/catalog.ts",
      import.meta.url,
    );
    return Object.keys(catalog).map((text) => ({ text }));
  },
  async run(argument, context) {
    const { view, setup: { agent } } = context;
    const from = agent.state.model;
    if (argument !== "") agent.setModel(selectModel(argument, context));
    const to = agent.state.model;
    view.redraw();
    const isChanged = formatModel(from) !== formatModel(to);
    await view.print([
      toLine(`model ${formatModel(to)}${isChanged ? " from now on" : ""}`, "faint"),
    ]);
  },
});

function selectModel(argument: string, context: CommandContext): ModelSpec {
  if (argument === "next") return findNext(context);
  try {
    return modelSpec(argument);
  } catch (error) {
    throw new UsageError(getErrorMessage(error), "Write provider/model, as for -m.");
  }
}

/** Returns the model after the current one in the list of those that the user has configured. */
function findNext({ setup, settings }: CommandContext): ModelSpec {
  const { agent, model } = setup;
  const known = [
    model,
    ...settings.fallbackModels,
    ...DEFAULT_MODELS.map((name) => modelSpec(name)),
  ];
  const names = [...new Set(known.map(formatModel))];
  const index = names.indexOf(formatModel(agent.state.model));
  return modelSpec(names[(index + 1) % names.length] ?? formatModel(model));
}
