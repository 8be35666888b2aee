/**
 * Selection of the model: that of the options, or the default of a provider with a key.
 *
 * @module
 */

import type { ModelSpec } from "../../../mod.ts";
import { modelSpec } from "../../../src/core/models/model.ts";
import type { ProviderSettings } from "../../config/provider_settings.ts";
import { ConfigurationError } from "../../host/cli_error.ts";
import type { Host } from "../../host/host.ts";
import { importLate } from "../../host/import_late.ts";
import { DEFAULT_MODELS } from "../../settings/run_options.ts";

/** The default model of a provider. */
interface ProviderDefault {
  /** Variable that holds the key. */
  readonly variable: string;
  /** Model that is used when the variable is set. */
  readonly model: string;
}

/** Default models in order of preference; the first one whose provider has a key is used. */
const PROVIDER_DEFAULTS: readonly ProviderDefault[] = [
  { variable: "ANTHROPIC_API_KEY", model: DEFAULT_MODELS[0] },
  { variable: "OPENAI_API_KEY", model: DEFAULT_MODELS[1] },
];

/** Options for `chooseModel()`. */
export interface ModelSelection {
  /** Model of the command line or the configuration. */
  readonly model?: ModelSpec;
  /** Value of `--base-url`. */
  readonly baseUrl?: string;
  /** Absolute path of the recording that answers the requests, if one does. */
  readonly replay?: string;
  /** Settings of providers, by name. */
  readonly providers?: Readonly<Record<string, ProviderSettings>>;
}

/**
 * Chooses the model: that of the options, the one that was recorded, or the default of the first provider with a
 * key in an environment variable, else with a key command or a saved key.
 *
 * @throws {ConfigurationError} If no model is configured; the advice lists the ways to configure one.
 */
export async function chooseModel(
  selection: ModelSelection,
  host: Pick<Host, "env">,
): Promise<ModelSpec> {
  const model = await findModel(selection, host);
  if (model) return model;
  const { unavailable } = await findKeys(host);
  throw createNoModelError(unavailable);
}

/**
 * Creates the error for a user without a model; the advice lists the ways to configure one.
 *
 * @param unavailable Providers whose keys are in a keyring that is not available. Default: none.
 */
export function createNoModelError(unavailable: readonly string[] = []): ConfigurationError {
  const reason = unavailable.length === 0
    ? ""
    : `: the key for ${unavailable.join(" and ")} is in a keyring that is not available here`;
  return new ConfigurationError(`No model is configured${reason}`, MODEL_ADVICE);
}

/**
 * Finds the model that `chooseModel()` returns; `undefined` if none is configured.
 *
 * @throws {ConfigurationError} If there is a base URL without a model.
 */
export async function findModel(
  { model, baseUrl, replay, providers }: ModelSelection,
  host: Pick<Host, "env">,
): Promise<ModelSpec | undefined> {
  if (model) return model;
  if (baseUrl !== undefined) {
    throw new ConfigurationError(
      "--base-url requires a model",
      // Without the URL, which may have a password.
      "Add -m provider/model: -m openai/MODEL --base-url URL",
    );
  }
  if (replay !== undefined) {
    const { findRecordedModel } = await importLate<typeof import("./recorded_model.ts")>(
      "./recorded_model.ts",
      import.meta.url,
    );
    const recorded = findRecordedModel(replay, { providers, env: host.env });
    if (recorded) return recorded;
  }
  const providerDefault = PROVIDER_DEFAULTS.find(({ variable }) => host.env(variable)) ??
    await findOtherDefault(providers, host);
  return providerDefault && modelSpec(providerDefault.model);
}

/** Finds the default model of a provider with a key command, or whose key the user has saved. */
async function findOtherDefault(
  providers: ModelSelection["providers"],
  host: Pick<Host, "env">,
): Promise<ProviderDefault | undefined> {
  const { saved } = await findKeys(host);
  return PROVIDER_DEFAULTS.find(({ model }) => {
    const { provider } = modelSpec(model);
    return providers?.[provider]?.keyCommand !== undefined || saved.includes(provider);
  });
}

/** Returns the providers whose keys the user has saved, and those whose keys are in a keyring that is not available. */
async function findKeys(
  host: Pick<Host, "env">,
): Promise<{ readonly saved: readonly string[]; readonly unavailable: readonly string[] }> {
  const { openCredentials } = await importLate<typeof import("../../credentials/find_key.ts")>(
    "../../credentials/find_key.ts",
    import.meta.url,
  );
  const credentials = openCredentials(host);
  return {
    saved: credentials?.list().map(({ provider }) => provider) ?? [],
    unavailable: credentials?.listUnavailable() ?? [],
  };
}

const MODEL_ADVICE = `Ways to configure one:
  key     swink login anthropic
          export ANTHROPIC_API_KEY=…
          export OPENAI_API_KEY=…
  name    swink run -m openai/gpt-6.2-sol "PROMPT"
          export SWINK_MODEL=openai/gpt-6.2-sol
  Ollama  swink run -m ollama/MODEL "PROMPT"
  server  swink run -m openai/MODEL --base-url URL "PROMPT"
  device  swink models local pull qwen3-4b
          swink run -m local/qwen3-4b "PROMPT"
To see a run without a model: swink demo`;
