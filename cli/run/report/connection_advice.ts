/**
 * Advice about the connection to a provider.
 *
 * @module
 */

import type { Host } from "../../host/host.ts";
import { findProviderUrl, type ProviderUrlSettings } from "../model/provider_url.ts";

/** The settings that determine where requests of a provider go. */
export interface ConnectionSettings extends ProviderUrlSettings {
  /** Name of the provider. */
  readonly provider: string;
}

/** Names of the variables with a proxy by protocol, those that the runtime prefers first. */
const PROXY_VARIABLES: Readonly<Record<string, readonly string[]>> = {
  "http:": ["http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"],
  "https:": ["https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"],
};

/** Replaces the option in advice about the URL of a provider by the variable or the setting that the URL is from. */
export function nameUrlSource(text: string, settings: ConnectionSettings): string {
  const { source } = findProviderUrl(settings.provider, settings);
  return source === undefined ? text : text.replaceAll("--base-url", source);
}

/**
 * Returns what the user can check when a provider cannot be reached: the network, the source of the URL, and the proxy.
 * `undefined` for a server of this machine at its usual address.
 */
export function getConnectionAdvice(settings: ConnectionSettings): string | undefined {
  const { url: text = "", source } = findProviderUrl(settings.provider, settings);
  const url = URL.parse(text);
  const proxy = findProxyVariable(url, settings.env);
  const subjects = [
    ...(url && isLoopback(url) ? [] : ["the network"]),
    ...(source === undefined ? [] : [source]),
    ...(proxy === undefined ? [] : [`the proxy in ${proxy}`]),
  ];
  return subjects.length === 0 ? undefined : `Check ${joinWithAnd(subjects)}.`;
}

function findProxyVariable(url: URL | null, env: Host["env"]): string | undefined {
  return PROXY_VARIABLES[url?.protocol ?? "https:"]?.find((name) => env(name));
}

function isLoopback({ hostname }: URL): boolean {
  return /^(?:localhost|127(?:\.\d+){3}|\[::1\])$/.test(hostname);
}

function joinWithAnd(items: readonly string[]): string {
  const [last = "", ...others] = items.toReversed();
  return others.length === 0 ? last : `${others.toReversed().join(", ")} and ${last}`;
}
