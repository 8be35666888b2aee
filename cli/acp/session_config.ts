/**
 * The settings of a session that an editor shows: mode, model and effort.
 *
 * @module
 */

import { catalog } from "../../adapters/catalog/catalog.ts";
import type { ModelSpec } from "../../mod.ts";
import { modelSpec, THINKING_LEVELS } from "../../src/core/models/model.ts";
import type { AcpConfigOption, AcpSession } from "../../src/protocols/acp/mod.ts";
import type { SessionControl } from "../conversation/command/command_context.ts";
import { openCredentials } from "../credentials/find_key.ts";
import type { Host } from "../host/host.ts";
import type { AgentSetup } from "../run/agent/setup_agent.ts";
import { hasKeyVariable } from "../run/model/provider_options.ts";
import type { ProjectRunSettings } from "../run/settings/settings.ts";
import { toRequestError } from "./editor_error.ts";
import type { SessionModes } from "./session_modes.ts";

/** Options for {@linkcode SessionConfig}. */
export interface SessionConfigOptions {
  /** The agent. */
  readonly setup: Pick<AgentSetup, "agent" | "model">;
  /** The modes. */
  readonly modes: SessionModes;
  /** The session, which may not continue with some models. */
  readonly sessions: Pick<SessionControl, "checkModel">;
  /** The settings of the session. */
  readonly settings: Pick<ProjectRunSettings, "fallbackModels" | "providers">;
  /** Reads the environment variables with keys. */
  readonly host: Pick<Host, "env">;
}

/** The settings of a session. */
export class SessionConfig implements NonNullable<AcpSession["config"]> {
  readonly #options: SessionConfigOptions;
  readonly #models: readonly string[];

  constructor(options: SessionConfigOptions) {
    this.#options = options;
    this.#models = listModels(options);
  }

  readonly options = (): AcpConfigOption[] => {
    const { setup: { agent }, modes } = this.#options;
    const { model } = agent.state;
    const name = formatName(model);
    return [
      {
        type: "select",
        id: "mode",
        name: "Mode",
        category: "mode",
        currentValue: modes.current(),
        options: modes.available.map(({ id, name, description }) => ({
          value: id,
          name,
          ...(description !== undefined && { description }),
        })),
      },
      {
        type: "select",
        id: "model",
        name: "Model",
        category: "model",
        currentValue: name,
        options: [...new Set([name, ...this.#models])].map((value) => ({ value, name: value })),
      },
      {
        type: "select",
        id: "effort",
        name: "Effort",
        category: "thought_level",
        currentValue: model.thinkingLevel,
        options: THINKING_LEVELS.map((level) => ({ value: level, name: LEVEL_NAMES[level] })),
      },
    ];
  };

  readonly select = (id: string, value: string): void => {
    const { setup: { agent }, sessions, modes } = this.#options;
    switch (id) {
      case "mode":
        return modes.select(value);
      case "model": {
        const { thinkingLevel } = agent.state.model;
        const model = { ...modelSpec(value), thinkingLevel };
        try {
          sessions.checkModel(model);
        } catch (error) {
          throw toRequestError(error);
        }
        return agent.setModel(model);
      }
      case "effort": {
        const level = THINKING_LEVELS.find((level) => level === value);
        if (level !== undefined) agent.setThinkingLevel(level);
      }
    }
  };
}

const LEVEL_NAMES: Readonly<Record<(typeof THINKING_LEVELS)[number], string>> = {
  off: "Off",
  minimal: "Minimal",
  low: "Low",
  medium: "Medium",
  high: "High",
  extra_high: "Extra high",
};

function formatName({ provider, modelId }: ModelSpec): string {
  return `${provider}/${modelId}`;
}

/** Returns the models that the user has configured, and the known ones of the providers that have a key. */
function listModels({ setup, settings, host }: SessionConfigOptions): string[] {
  const { fallbackModels, providers = {} } = settings;
  const saved = openCredentials(host)?.list().map(({ provider }) => provider) ?? [];
  const hasKey = (provider: string) =>
    saved.includes(provider) || providers[provider]?.keyCommand !== undefined ||
    hasKeyVariable(provider, host);
  const known = Object.keys(catalog).filter((name) => hasKey(modelSpec(name).provider));
  return [...new Set([setup.model, ...fallbackModels].map(formatName).concat(known))];
}
