/**
 * Stream function for OpenAI and compatible servers; `createOpenAI()` loads it on the first request.
 *
 * @module
 */

import type { ModelSpec } from "../../src/core/models/model.ts";
import type { StreamFn } from "../../src/core/streams/stream.ts";
import { findModel } from "../catalog/catalog.ts";
import {
  type AdapterOptions,
  type AdapterSettings,
  resolveSettings,
} from "../kit/options/adapter_options.ts";
import { checkApi, checkOptionNames } from "../kit/options/check_options.ts";
import { withCatalog } from "../kit/request/with_catalog.ts";
import { createChat } from "./chat/chat.ts";
import { detectDialect, isOpenAIUrl, isRegionalUrl } from "./chat/dialect.ts";
import { createResponses } from "./responses/responses.ts";

/** An API of OpenAI: chat completions or Responses. */
export type OpenAIApi = "chat" | "responses";

/** Options for `createOpenAI()`. */
export interface OpenAIOptions extends AdapterOptions {
  /**
   * API to call. Default: at OpenAI that of the model's catalog entry, or `responses` without one; at other servers
   * `chat`.
   */
  readonly api?: OpenAIApi | undefined;
  /** Whether requests are sent without a key when there is none, as for a local server. Default: `false`. */
  readonly keyless?: boolean | undefined;
}

const OPENAI_URL = "https://api.openai.com/v1";

/** Creates the stream function that `createOpenAI()` loads. */
export function createOpenAIStreamFn(options: OpenAIOptions): StreamFn {
  const settings = resolveSettings(options, OPENAI_URL);
  checkOptionNames(options, ["api", "keyless"], "the OpenAI adapter");
  checkApi(options.api);
  const { api, apiKey, keyless } = options;
  const server = { settings, apiKey, keyless };
  const apis = {
    chat: createChat({ ...server, dialect: detectDialect(settings.baseUrl) }),
    responses: createResponses({ ...server, isRegional: isRegionalUrl(settings.baseUrl) }),
  };
  return withCatalog(
    (request) => apis[api ?? getDefaultApi(request.model, settings)](request),
    settings.catalog,
  );
}

function getDefaultApi(model: ModelSpec, { baseUrl, catalog }: AdapterSettings): OpenAIApi {
  if (!isOpenAIUrl(baseUrl)) return "chat";
  return findModel(catalog, model)?.api ?? "responses";
}
