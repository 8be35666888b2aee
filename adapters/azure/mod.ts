/**
 * Azure OpenAI, and the other models of Microsoft Foundry.
 *
 * @module
 */

import type { StreamFn, StreamRequest } from "../../src/core/stream.ts";
import { createChat, toBearerHeader } from "../openai/chat/chat.ts";
import { type ChatDialect, COMPATIBLE } from "../openai/chat/dialect.ts";
import { createResponses } from "../openai/responses/responses.ts";
import { AccessTokenCache, type GetToken } from "../kit/http/access_token.ts";
import { type ErrorTable, FILTERED, UNKNOWN_MODEL } from "../kit/errors/error_table.ts";
import {
  type AdapterOptions,
  type ApiKey,
  resolveSettings,
} from "../kit/options/adapter_options.ts";
import { createUrlBuilder, isDatedVersion } from "./url.ts";

export type { AccessToken, GetToken } from "../kit/http/access_token.ts";
export type { AdapterOptions } from "../kit/options/adapter_options.ts";

/** Options of {@linkcode createAzure}. The model's name is that of the deployment. */
export interface AzureOptions extends AdapterOptions {
  /** Where the resource is: `https://my-resource.openai.azure.com`. It has no default. */
  readonly baseUrl?: string | undefined;
  /** Which API is used. Default: `chat`. */
  readonly api?: "chat" | "responses" | undefined;
  /** The version of the API, such as `2024-10-21`. Default: `v1`, the one that has no dates. */
  readonly apiVersion?: string | undefined;
  /**
   * Gives tokens of Entra ID for the scope `https://cognitiveservices.azure.com/.default`, instead of a key. One that
   * says when it expires is kept until shortly before.
   */
  readonly getToken?: GetToken | undefined;
}

const ERRORS: ErrorTable = {
  codes: { DeploymentNotFound: UNKNOWN_MODEL, ContentFilterBlocked: FILTERED },
};

/**
 * Makes a stream function for deployments on Azure.
 *
 * A deployment that is not named after its model is made known by an entry of its own in the `catalog`.
 *
 * @example
 * ```ts
 * import { Agent } from "@swink/agent";
 * import { createAzure } from "@swink/agent/adapters/azure";
 *
 * const agent = new Agent({
 *   model: "azure/gpt-5-mini",
 *   streamFn: createAzure({ baseUrl: "https://my-resource.openai.azure.com", apiKey: "…" }),
 * });
 * ```
 */
export function createAzure(options: AzureOptions = {}): StreamFn {
  const { api = "chat", apiVersion, keyHint = "give createAzure an apiKey or a getToken" } =
    options;
  const { settings, apiKey } = resolveCredentials({ ...options, keyHint });
  const url = createUrlBuilder(settings.baseUrl, { api, apiVersion });
  const keyHeaders = createKeyHeaders(options);
  const server = { settings, apiKey, url, keyHeaders, errors: ERRORS };
  return api === "responses"
    ? createResponses(server)
    : createChat({ ...server, dialect: createDialect(apiVersion) });
}

function resolveCredentials(options: AzureOptions): {
  settings: ReturnType<typeof resolveSettings>;
  apiKey: ApiKey | undefined;
} {
  const settings = resolveSettings(options, "");
  const { getToken, apiKey } = options;
  if (!getToken) return { settings, apiKey };
  const tokens = new AccessTokenCache(getToken, settings.clock);
  return {
    settings: { ...settings, fetch: tokens.wrapFetch(settings.fetch) },
    apiKey: () => tokens.get(),
  };
}

/** A request's own key is a key, also where tokens are used. */
function createKeyHeaders(
  { getToken }: AzureOptions,
): (key: string, request: StreamRequest) => Readonly<Record<string, string>> {
  return (key, { options }) =>
    getToken && !options.apiKey ? toBearerHeader(key) : { "api-key": key };
}

/** Dated versions refuse fields that came after them. */
function createDialect(apiVersion: string | undefined): ChatDialect {
  return {
    ...COMPATIBLE,
    maxTokensField: "max_completion_tokens",
    hasCacheKey: !isDatedVersion(apiVersion),
  };
}
