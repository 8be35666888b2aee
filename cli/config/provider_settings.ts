/**
 * The settings of providers in the configuration.
 *
 * @module
 */

import type { ConfigSetting } from "./config_value.ts";

/** The settings of a provider. */
export interface ProviderSettings {
  /** Base URL of the API. */
  readonly baseUrl?: string;
  /** Command whose output is the key. */
  readonly keyCommand?: string;
}

/** Returns the settings of all providers that have some, by name. */
export function getProviderSettings(
  settings: ReadonlyMap<string, ConfigSetting>,
): Readonly<Record<string, ProviderSettings>> {
  const providers = new Map<string, ProviderSettings>();
  for (const { key, value } of settings.values()) {
    const [table, name = "", setting] = key.split(".");
    if (table !== "providers" || typeof value !== "string") continue;
    const property = setting === "base_url" ? { baseUrl: value } : { keyCommand: value };
    providers.set(name, { ...providers.get(name), ...property });
  }
  return Object.fromEntries(providers);
}
