/**
 * The URL to which requests of a provider go.
 *
 * @module
 */

import { defaultUrl, urlVariable } from "../../../adapters/connect.ts";
import type { ModelSpec } from "../../../mod.ts";
import type { ProviderSettings } from "../../config/provider_settings.ts";
import type { Host } from "../../host/host.ts";
import type { SessionServer } from "../../sessions/session_server.ts";

/** The settings that determine the URL of a provider. */
export interface ProviderUrlSettings extends Pick<Host, "env"> {
  /** Value of `--base-url`, if it is for this provider. Default: none. */
  readonly baseUrl?: string | undefined;
  /** Settings of providers, by name. Default: none. */
  readonly providers?: Readonly<Record<string, ProviderSettings>> | undefined;
}

/** The URL of a provider. */
export interface ProviderUrl {
  /** The URL; `undefined` if it is not known before the first request. */
  readonly url: string | undefined;
  /** The option, the variable or the setting that it is from; `undefined` if it is the usual one. */
  readonly source: string | undefined;
}

/** Finds the URL of a provider: that of the option, of its variable or of the configuration, or the usual one. */
export function findProviderUrl(
  provider: string,
  { baseUrl, providers = {}, env }: ProviderUrlSettings,
): ProviderUrl {
  const variable = urlVariable(provider);
  const candidates = [
    { url: baseUrl, source: "--base-url" },
    { url: variable && env(variable), source: variable },
    { url: providers[provider]?.baseUrl, source: "base_url in the configuration" },
  ];
  return candidates.find(({ url }) => url) ?? { url: defaultUrl(provider), source: undefined };
}

/** Returns the server that an option names, unless a recording answers instead. */
export function findServer(
  { baseUrl, replay }: Pick<ProviderUrlSettings, "baseUrl"> & { readonly replay?: string },
  model: ModelSpec | undefined,
): SessionServer | undefined {
  if (!model || baseUrl === undefined || replay !== undefined) return undefined;
  return { provider: model.provider, baseUrl };
}
