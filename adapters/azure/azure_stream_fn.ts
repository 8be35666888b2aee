/**
 * Stream function for Azure OpenAI; `createAzure()` loads it on the first request.
 *
 * @module
 */

import type { ModelSpec } from "../../src/core/models/model.ts";
import type { StreamFn, StreamRequest } from "../../src/core/streams/stream.ts";
import { findModel } from "../catalog/catalog.ts";
import { type ErrorTable, FILTERED, UNKNOWN_MODEL } from "../kit/errors/error_table.ts";
import { AccessTokenCache, type GetToken } from "../kit/http/access_token.ts";
import {
  type AdapterOptions,
  type AdapterSettings,
  type ApiKey,
  resolveSettings,
} from "../kit/options/adapter_options.ts";
import { checkAdapterOptions, checkApi, checkOptionNames } from "../kit/options/check_options.ts";
import { withCatalog } from "../kit/request/with_catalog.ts";
import { createChat } from "../openai/chat/chat.ts";
import { type ChatDialect, COMPATIBLE, MAX_DESCRIPTION } from "../openai/chat/dialect.ts";
import { createResponses } from "../openai/responses/responses.ts";
import { toBearerHeader } from "../openai/server/server_stream_fn.ts";
import { createUrlBuilder, hasResponses, isDatedVersion } from "./url.ts";

/** Options for `createAzure()`. The model id is the name of the deployment. */
export interface AzureOptions extends AdapterOptions {
  /** URL of the resource, such as `https://my-resource.openai.azure.com`, or the target URI of a deployment. Required. */
  readonly baseUrl?: string | undefined;
  /**
   * API to call. Default: that of the model after which the deployment is named, if the API version and the URL have it;
   * otherwise that of a target URI, else `chat`.
   */
  readonly api?: "chat" | "responses" | undefined;
  /** API version, such as `2024-10-21`. Default: `v1`. */
  readonly apiVersion?: string | undefined;
  /**
   * Returns an Entra ID token for the scope `https://cognitiveservices.azure.com/.default`, instead of a key. A token
   * with an expiry is cached until shortly before it expires.
   */
  readonly getToken?: GetToken | undefined;
}

const ERRORS: ErrorTable = {
  codes: { DeploymentNotFound: UNKNOWN_MODEL, ContentFilterBlocked: FILTERED },
};

/** Creates the stream function that `createAzure()` loads. */
export function createAzureStreamFn(options: AzureOptions): StreamFn {
  checkAdapterOptions(options);
  checkOptionNames(options, ["api", "apiVersion", "getToken"], "the Azure adapter");
  const { api, keyHint = "pass apiKey or getToken to createAzure()" } = options;
  checkApi(api);
  const { apiKey, ...credentials } = resolveCredentials({ ...options, keyHint });
  const { apiVersion, settings } = splitApiVersion(credentials.settings, options);
  const keyHeaders = createKeyHeaders(options);
  const server = { settings, apiKey, keyHeaders, errors: ERRORS };
  const createUrl = (api: "chat" | "responses") =>
    createUrlBuilder(settings.baseUrl, { api, apiVersion });
  const apis = {
    chat: createChat({ ...server, url: createUrl("chat"), dialect: createDialect(apiVersion) }),
    responses: createResponses({ ...server, url: createUrl("responses") }),
  };
  const canUseResponses = hasResponses(settings.baseUrl, apiVersion);
  const defaultApi = /\/responses$/.test(settings.baseUrl) ? "responses" : "chat";
  return withCatalog((request) => {
    const preferred = canUseResponses ? getModelApi(request.model, settings) : undefined;
    return apis[api ?? preferred ?? defaultApi](request);
  }, settings.catalog);
}

/**
 * Matches deployments named after a model whose tools need the Responses API: "Function tools with reasoning_effort are not
 * supported for gpt-5.6-sol in /v1/chat/completions", also without an effort, since these models think by default.
 */
const RESPONSES_MODELS = /gpt-?(?:5[.-]?[4-9]|[6-9])|codex/i;

/** Returns the API of a deployment's model, by its catalog entry or its name. */
function getModelApi(
  model: ModelSpec,
  { catalog }: AdapterSettings,
): "chat" | "responses" | undefined {
  const entry = findModel(catalog, model);
  if (entry) return entry.api;
  return RESPONSES_MODELS.test(model.modelId) ? "responses" : undefined;
}

/** Takes the API version out of the query of the `baseUrl`, which has one if it was copied from the portal. */
function splitApiVersion(
  settings: AdapterSettings,
  { apiVersion }: AzureOptions,
): { readonly apiVersion: string | undefined; readonly settings: AdapterSettings } {
  const parameters = new URLSearchParams(settings.query);
  const copied = parameters.get("api-version") ?? undefined;
  if (copied === undefined) return { apiVersion, settings };
  parameters.delete("api-version");
  return { apiVersion: apiVersion ?? copied, settings: { ...settings, query: `${parameters}` } };
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

/** Creates the function that sends tokens of `getToken` as bearer tokens, and keys as `api-key`. */
function createKeyHeaders(
  { getToken }: AzureOptions,
): (key: string, request: StreamRequest) => Readonly<Record<string, string>> {
  return (key, { options }) =>
    getToken && !options.apiKey ? toBearerHeader(key) : { "api-key": key };
}

/** Matches deployments named after a model of OpenAI. Those of other vendors, which a name may hide, reject the key. */
const OPENAI_MODELS = /gpt(?!-oss)|codex|^o\d/i;

/** Creates the dialect of an API version. Dated versions reject newer fields. */
function createDialect(apiVersion: string | undefined): ChatDialect {
  return {
    ...COMPATIBLE,
    maxTokensField: "max_completion_tokens",
    maxDescription: MAX_DESCRIPTION,
    hasCacheKey: !isDatedVersion(apiVersion),
    acceptsCacheKey: (deployment) => OPENAI_MODELS.test(deployment),
    unsupported: isDatedVersion(apiVersion)
      ? COMPATIBLE.unsupported
      : ["serviceTier", "reasoningSummary"],
    // The result of a content filter may follow the finish reason.
    sendsDone: true,
  };
}
