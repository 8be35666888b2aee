/**
 * The model of a recording, and its server.
 *
 * @module
 */

import { defaultUrl, providerNames, urlVariable } from "../../../adapters/connect.ts";
import type { ModelSpec } from "../../../mod.ts";
import { isJsonObject, type JsonObject } from "../../../src/core/json/json.ts";
import type { ProviderSettings } from "../../config/provider_settings.ts";
import type { Host } from "../../host/host.ts";

/** Options for `findRecordedModel()`. */
export interface RecordedModelOptions {
  /** Settings of providers, by name. Default: none. */
  readonly providers?: Readonly<Record<string, ProviderSettings>> | undefined;
  /** Returns an environment variable. */
  readonly env: Host["env"];
}

/**
 * Finds the model of the first request of a recording: its provider is the one with the URL of the request, in the
 * configuration, the environment or the table of providers, or else that with its API.
 *
 * @param file Absolute path of the recording.
 * @returns The model; `undefined` if there is no request, or no provider has its URL or its API.
 */
export function findRecordedModel(
  file: string,
  options: RecordedModelOptions,
): ModelSpec | undefined {
  const request = findFirstRequest(file);
  const url = request?.url;
  const modelId = request && findModelId(request);
  if (typeof url !== "string" || modelId === undefined) return undefined;
  // A gateway can serve both APIs below one URL.
  const isMessages = /\/messages(\?|$)/.test(url);
  const provider = listServers(options).find(([name, server]) =>
    isBelow(url, server) && (name === "anthropic") === isMessages
  )?.[0];
  const found = provider ?? findApi(url);
  return found === undefined ? undefined : { provider: found, modelId, thinkingLevel: "off" };
}

/** The ends of the URLs of APIs that gateways and other servers offer, by the provider whose API it is. */
const API_PATHS: Readonly<Record<string, string>> = {
  anthropic: "/v1/messages",
  openai: "/chat/completions",
};

/** Returns the provider with the API of a URL. */
function findApi(url: string): string | undefined {
  return Object.keys(API_PATHS).find((provider) => url.endsWith(API_PATHS[provider] ?? ""));
}

/**
 * Returns the default URL of a provider, if a request of a recording was sent there, or else that of the server with its
 * API, such as a gateway. A replay uses it instead of other URLs, on which the format of the requests can depend.
 *
 * @param file Absolute path of the recording.
 * @param provider Name of the provider.
 */
export function findRecordedUrl(file: string, provider: string): string | undefined {
  const server = defaultUrl(provider);
  const urls = readLines(file).map((line) => parseRequest(line)?.url)
    .filter((url) => typeof url === "string");
  if (server !== undefined && urls.some((url) => isBelow(url, server))) return server;
  const url = urls.find((url) => findApi(url) === provider);
  return url?.slice(0, -(API_PATHS[provider]?.length ?? 0));
}

function findFirstRequest(file: string): JsonObject | undefined {
  return parseRequest(readLines(file)[1] ?? "");
}

function readLines(file: string): string[] {
  try {
    return Deno.readTextFileSync(file).split("\n");
  } catch {
    // The replay reports why the recording cannot be read.
    return [];
  }
}

/** Returns the request in a line of a recording; that of the recording itself has none. */
function parseRequest(line: string): JsonObject | undefined {
  try {
    const exchange = JSON.parse(line);
    const request = isJsonObject(exchange) ? exchange.request : undefined;
    return isJsonObject(request) ? request : undefined;
  } catch {
    // The replay will report the damaged recording.
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
