/**
 * Stream function for xAI; `createXai()` loads it on the first request.
 *
 * @module
 */

import type { StreamFn, StreamRequest } from "../../src/core/streams/stream.ts";
import { findModel } from "../catalog/catalog.ts";
import { type ErrorTable, FILTERED, QUOTA } from "../kit/errors/error_table.ts";
import { type AdapterOptions, resolveSettings } from "../kit/options/adapter_options.ts";
import { checkApi, checkOptionNames } from "../kit/options/check_options.ts";
import { WEB_URLS } from "../kit/request/adapt_content.ts";
import type { MediaAbility } from "../kit/request/content_abilities.ts";
import { resolveSessionId, type ServiceTierNames } from "../kit/request/model_limits.ts";
import { withCatalog } from "../kit/request/with_catalog.ts";
import { createChat } from "../openai/chat/chat.ts";
import { type ChatDialect, COMPATIBLE } from "../openai/chat/dialect.ts";
import type { ResponsesDialect } from "../openai/responses/request.ts";
import { createResponses } from "../openai/responses/responses.ts";

/** Options for `createXai()`. */
export interface XaiOptions extends AdapterOptions {
  /**
   * API to call. Default: that of the model's catalog entry, or `chat` without one. `responses` preserves reasoning
   * between turns.
   */
  readonly api?: "chat" | "responses" | undefined;
}

/** Images that xAI accepts. */
const IMAGES: MediaAbility = { types: /^image\/(?:png|jpeg)$/, urls: WEB_URLS };

/** Tiers of xAI, which applies the default one unless a request has another. */
const SERVICE_TIERS: ServiceTierNames = {
  auto: "default",
  default: "default",
  priority: "priority",
};

const DIALECT: ChatDialect = {
  ...COMPATIBLE,
  maxTokensField: "max_completion_tokens",
  unsupported: ["verbosity", "reasoningSummary"],
  serviceTiers: SERVICE_TIERS,
  // Models that reason reject it: "Model grok-4.6 does not support parameter stop".
  supportsStop: (modelId) => /non-reasoning|^grok-(?:2|3(?!-mini))/.test(modelId),
  getAbilities: (modelId) => ({ ...COMPATIBLE.getAbilities(modelId), image: IMAGES }),
};

/** Dialect of xAI's Responses API, which accepts documents as uploaded files. */
const RESPONSES_DIALECT: ResponsesDialect = {
  images: { ...IMAGES, files: true },
  documents: { types: /^$/, files: true },
  serviceTiers: SERVICE_TIERS,
  hasVerbosity: false,
  loadServerTools: async () => (await import("../openai/server/server_tools.ts")).XAI_TOOLS,
};

/** xAI answers filtered content and missing credits with status 403. */
const ERRORS: ErrorTable = {
  decisivePatterns: [
    [/violates usage guidelines/i, FILTERED],
    [/(?:doesn't have any|used all available) credits/i, QUOTA],
  ],
};

/** Creates the stream function that `createXai()` loads. */
export function createXaiStreamFn(options: XaiOptions): StreamFn {
  const settings = resolveSettings(options, "https://api.x.ai/v1");
  checkOptionNames(options, ["api"], "the xAI adapter");
  checkApi(options.api);
  const { api, apiKey } = options;
  const server = { settings, apiKey, errors: ERRORS };
  const apis = {
    chat: createChat({ ...server, dialect: DIALECT, headers: createConversationHeader }),
    responses: createResponses({ ...server, dialect: RESPONSES_DIALECT }),
  };
  return withCatalog(
    (request) => apis[api ?? findModel(settings.catalog, request.model)?.api ?? "chat"](request),
    settings.catalog,
  );
}

/** Creates the header that routes requests of a session to the same server, which has cached the prompt. */
function createConversationHeader(request: StreamRequest): Readonly<Record<string, string>> {
  const id = resolveSessionId(request);
  return id === undefined ? {} : { "x-grok-conv-id": id };
}
