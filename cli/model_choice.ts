/**
 * Which model a run asks: the one that was named, or the one for which there is a key.
 *
 * @module
 */

import { type ModelSpec, modelSpec } from "../mod.ts";
import { ConfigurationError } from "./cli_error.ts";

/** A provider that the environment can choose. */
interface ProviderDefault {
  /** The variable that chooses it. */
  readonly variable: string;
  /** The model that is asked then. */
  readonly model: string;
}

/** In this order. */
const PROVIDER_DEFAULTS: readonly ProviderDefault[] = [
  { variable: "ANTHROPIC_API_KEY", model: "anthropic/claude-sonnet-5-5" },
  { variable: "OPENAI_API_KEY", model: "openai/gpt-6.2-sol" },
];

/** What a choice of a model depends on. */
export interface ModelSelection {
  /** The model that was named. */
  readonly model?: ModelSpec;
  /** The address that was given. */
  readonly baseUrl?: string;
}

/**
 * Chooses the model: the named one, that of `SWINK_MODEL`, or the default one of the first provider with a key.
 *
 * @throws {ConfigurationError} When nothing says which; the advice lists the ways.
 */
export function chooseModel(
  { model, baseUrl }: ModelSelection,
  env: (name: string) => string | undefined,
): ModelSpec {
  if (model) return model;
  const named = env("SWINK_MODEL");
  if (named) return parseEnvironmentModel(named);
  if (baseUrl !== undefined) {
    throw new ConfigurationError(
      "--base-url says where to ask, but not which model",
      `Name it as provider/model: -m openai/MODEL --base-url ${baseUrl}`,
    );
  }
  const found = PROVIDER_DEFAULTS.find(({ variable }) => env(variable));
  if (found) return modelSpec(found.model);
  throw new ConfigurationError("There is no model to ask", MODEL_ADVICE);
}

function parseEnvironmentModel(name: string): ModelSpec {
  try {
    return modelSpec(name);
  } catch (error) {
    throw new ConfigurationError(`SWINK_MODEL: ${error instanceof Error ? error.message : error}`);
  }
}

const MODEL_ADVICE = `Any of these gives it one:
  a key        export ANTHROPIC_API_KEY=…   (or OPENAI_API_KEY=…)
  by name      swink run -m openai/gpt-6.2-sol "PROMPT"   (or SWINK_MODEL=…)
  Ollama       swink run -m ollama/MODEL "PROMPT"
  a server     swink run -m openai/MODEL --base-url http://127.0.0.1:8000/v1 "PROMPT"
To watch a run without any: swink demo`;
