/**
 * Advice about the connection to a provider.
 *
 * @module
 */

import { defaultUrl, urlVariable } from "../../../adapters/connect.ts";
import type { Host } from "../../host/host.ts";

/** The settings that determine where requests of a provider go. */
export interface ConnectionSettings extends Pick<Host, "env"> {
  /** Name of the provider. */
  readonly provider: string;
  /** Value of `--base-url`. */
  readonly baseUrl: string | undefined;
}

const OPTION = "--base-url";

/** Names of the variables with a proxy by protocol, those that the runtime prefers first. */
const PROXY_VARIABLES: Readonly<Record<string, readonly string[]>> = {
  "http:": ["http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"],
  "https:": ["https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"],
};

/** Replaces the option in advice about the URL of a provider by the variable that the URL is from. */
export function nameUrlSource(text: string, settings: ConnectionSettings): string {
  const source = findUrlSource(settings);
  return source === undefined ? text : text.replaceAll(OPTION, source);
}

/**
 * Returns what the user can check when a provider cannot be reached: the network, the source of the URL, and the proxy.
 * `undefined` for a server of this machine at its usual address.
 */
export function getConnectionAdvice(settings: ConnectionSettings): string | undefined {
  const url = URL.parse(findUrl(settings) ?? "");
  const source = findUrlSource(settings);
  const proxy = findProxyVariable(url, settings.env);
  const subjects = [
    ...(url && isLoopback(url) ? [] : ["the network"]),
    ...(source === undefined ? [] : [source]),
    ...(proxy === undefined ? [] : [`the proxy in ${proxy}`]),
  ];
  return subjects.length === 0 ? undefined : `Check ${joinWithAnd(subjects)}.`;
}

/** Returns the option or the variable with the URL of the provider; `undefined` if the URL is the usual one. */
function findUrlSource({ provider, baseUrl, env }: ConnectionSettings): string | undefined {
  if (baseUrl !== undefined) return OPTION;
  const variable = urlVariable(provider);
  return variable !== undefined && env(variable) ? variable : undefined;
}

function findUrl({ provider, baseUrl, env }: ConnectionSettings): string | undefined {
  return baseUrl ?? (env(urlVariable(provider) ?? "") || defaultUrl(provider));
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
