/**
 * The model of a recording.
 *
 * @module
 */

import type { ModelSpec } from "../../mod.ts";
import { defaultUrl, providerNames, urlVariable } from "../../adapters/connect.ts";
import { isJsonObject, type JsonObject } from "../../src/core/json.ts";
import type { ProviderSettings } from "../config/provider_settings.ts";
import type { Host } from "../host/host.ts";

/** Options for `findRecordedModel()`. */
export interface RecordedModelOptions {
  /** Settings of providers, by name. Default: none. */
  readonly providers?: Readonly<Record<string, ProviderSettings>> | undefined;
  /** Returns an environment variable. */
  readonly env: Host["env"];
}

/**
 * Finds the model of the first request of a recording: its provider is the one with the URL of the request, in the
 * configuration, the environment or the table of providers.
 *
 * @param file Absolute path of the recording.
 * @returns The model; `undefined` if there is no request, or no provider has its URL.
 */
export function findRecordedModel(
  file: string,
  options: RecordedModelOptions,
): ModelSpec | undefined {
  const request = findFirstRequest(Deno.readTextFileSync(file));
  const url = request?.url;
  const modelId = request && findModelId(request);
  if (typeof url !== "string" || modelId === undefined) return undefined;
  // A gateway can serve both APIs below one URL.
  const isMessages = /\/messages(\?|$)/.test(url);
  const provider = listServers(options).find(([name, server]) =>
    isBelow(url, server) && (name === "anthropic") === isMessages
  )?.[0];
  return provider === undefined ? undefined : { provider, modelId, thinkingLevel: "off" };
}

/** Returns the request in the first line after that of the recording itself. */
function findFirstRequest(recording: string): JsonObject | undefined {
  const [, line = ""] = recording.split("\n", 2);
  try {
    const exchange = JSON.parse(line);
    const request = isJsonObject(exchange) ? exchange.request : undefined;
    return isJsonObject(request) ? request : undefined;
  } catch {
    // The replay reports what is wrong with the recording.
    return undefined;
  }
}

/** Returns the name of the model: part of the body, or of the URL of Google. */
function findModelId({ url, body }: JsonObject): string | undefined {
  const json = isJsonObject(body) ? body.json : undefined;
  const model = isJsonObject(json) ? json.model : undefined;
  if (typeof model === "string" && model !== "") return model;
  return /\/models\/([^/:?]+):/.exec(String(url))?.[1];
}

/** Lists the providers with their URLs, those that the user has set first. */
function listServers(
  { providers = {}, env }: RecordedModelOptions,
): (readonly [provider: string, url: string])[] {
  const names = providerNames();
  const configured = Object.entries(providers).map(([name, { baseUrl }]) =>
    [name, baseUrl] as const
  );
  const inEnvironment = names.map((name) => {
    const variable = urlVariable(name);
    return [name, variable === undefined ? undefined : env(variable)] as const;
  });
  const defaults = names.map((name) => [name, defaultUrl(name)] as const);
  return [...inEnvironment, ...configured, ...defaults].flatMap(([name, url]) =>
    url ? [[name, url] as const] : []
  );
}

function isBelow(url: string, server: string): boolean {
  return url.startsWith(`${server.replace(/\/+$/, "")}/`);
}
