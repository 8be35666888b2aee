/**
 * `/model`: shows or sets the model.
 *
 * @module
 */

import type { ModelSpec } from "../../../mod.ts";
import { getErrorMessage } from "../../../src/core/errors/errors.ts";
import { modelSpec } from "../../../src/core/models/model.ts";
import { didYouMean } from "../../command_line/suggestion.ts";
import { UsageError } from "../../host/cli_error.ts";
import { importLate } from "../../host/import_late.ts";
import { formatModel } from "../../render/format_model.ts";
import { DEFAULT_MODELS } from "../../settings/run_options.ts";
import type { CommandContext } from "../command/command_context.ts";
import { defineCommand } from "../command/conversation_command.ts";
import { toLine, toMessage } from "../view/lines.ts";

/** `/model`. */
export const model = defineCommand({
  names: ["/model", "/models"],
  argument: "[PROVIDER/MODEL[:LEVEL]|next]",
  summary: "Shows or sets the model of the next turn; next selects the next configured one",
  key: "F4",
  worksDuringRuns: true,
  async complete() {
    const { catalog } = await loadCatalog();
    return Object.keys(catalog).map((text) => ({ text }));
  },
  async run(argument, context) {
    const { view, sessions, setup: { agent } } = context;
    const from = agent.state.model;
    if (argument !== "") {
      const selected = await selectModel(argument, context);
      sessions.checkModel(selected);
      agent.setModel(selected);
    }
    const to = agent.state.model;
    view.redraw();
    const isChanged = formatModel(from) !== formatModel(to);
    await view.print([
      toLine(`model ${formatModel(to)}${isChanged ? " from now on" : ""}`, "faint"),
    ]);
    const warning = isChanged ? await findModelProblem(to, context) : undefined;
    if (warning !== undefined) await view.print(toMessage("warning", warning, view));
  },
});

async function selectModel(argument: string, context: CommandContext): Promise<ModelSpec> {
  if (argument === "next") return await findNext(context);
  const model = parseModel(argument);
  const { providerNames } = await loadConnections();
  const names = [...providerNames(), ...Object.keys(context.settings.providers ?? {})];
  const { provider } = model;
  const current = context.setup.agent.state.model.provider;
  if (provider === current || names.includes(provider)) return model;
  throw new UsageError(
    `Unknown provider ${JSON.stringify(provider)}${didYouMean(provider, names)}`,
    `Providers: ${names.join(", ")}.`,
  );
}

function parseModel(text: string): ModelSpec {
  try {
    return modelSpec(text);
  } catch (error) {
    throw new UsageError(getErrorMessage(error));
  }
}

/** Providers that can be used without their key: on this machine, with other credentials, or open to all. */
const OPTIONAL_KEYS: ReadonlySet<string> = new Set(["bedrock", "ollama", "proxy"]);

/** Returns what prevents the next prompt, or is probably a typing error; `undefined` if nothing does. */
async function findModelProblem(
  { provider, modelId }: ModelSpec,
  { setup: { controls } }: CommandContext,
): Promise<string | undefined> {
  const { keyVariables } = await loadConnections();
  const [variable] = keyVariables(provider);
  const needsKey = variable !== undefined && !OPTIONAL_KEYS.has(provider);
  if (needsKey && !await controls.hasKey(provider)) {
    return `There is no key for ${provider}: set ${variable}, or enter #key ${provider}`;
  }
  const { catalog } = await loadCatalog();
  const name = `${provider}/${modelId}`;
  const names = Object.keys(catalog);
  const suggestion = didYouMean(name, names.filter((known) => known.startsWith(`${provider}/`)));
  return names.includes(name) || suggestion === ""
    ? undefined
    : `${name} is not in the catalog${suggestion}`;
}

function loadConnections(): Promise<typeof import("../../../adapters/connect.ts")> {
  return importLate("../../../adapters/connect.ts", import.meta.url);
}

function loadCatalog(): Promise<typeof import("../../../adapters/catalog/catalog.ts")> {
  return importLate("../../../adapters/catalog/catalog.ts", import.meta.url);
}

/** Returns the model after the current one in the list of those that the user has configured and can use. */
async function findNext({ setup, settings }: CommandContext): Promise<ModelSpec> {
  const { agent, model, controls } = setup;
  const defaults = DEFAULT_MODELS.map((name) => modelSpec(name));
  const hasKeys = await Promise.all(defaults.map(({ provider }) => controls.hasKey(provider)));
  const known = [
    model,
    ...settings.fallbackModels,
    ...defaults.filter((_, index) => hasKeys[index]),
  ];
  const names = [...new Set(known.map(formatModel))];
  const index = names.indexOf(formatModel(agent.state.model));
  return modelSpec(names[(index + 1) % names.length] ?? formatModel(model));
}
