/**
 * OpenAI, and every server after its model.
 *
 * @module
 */

import type { ModelSpec } from "../../src/core/model.ts";
import type { StreamFn } from "../../src/core/stream.ts";
import { findModel } from "../catalog/catalog.ts";
import {
  type AdapterOptions,
  type AdapterSettings,
  resolveSettings,
} from "../kit/options/adapter_options.ts";
import { createChat } from "./chat/chat.ts";
import { detectDialect } from "./chat/dialect.ts";
import { withStrictSchema } from "../kit/request/strict_schema.ts";
import { createResponses } from "./responses/responses.ts";

export type { AdapterOptions } from "../kit/options/adapter_options.ts";

/** Which of its APIs a provider is asked with. */
export type OpenAIApi = "chat" | "responses";

/** Options of {@linkcode createOpenAI}. */
export interface OpenAIOptions extends AdapterOptions {
  /**
   * Which API is used. Default: at OpenAI itself the one that suits the model best (`responses` for those that
   * reason), elsewhere `chat`.
   */
  readonly api?: OpenAIApi | undefined;
  /** Whether the server answers without a key, as those on one's own machine do. Default: `false`. */
  readonly keyless?: boolean | undefined;
}

const OPENAI_URL = "https://api.openai.com/v1";

/**
 * Makes a stream function for OpenAI, or with `baseUrl` for any server that speaks its API.
 *
 * @example
 * ```ts
 * import { createOpenAI } from "@swink/agent/adapters/openai";
 *
 * const openai = createOpenAI({ apiKey: "sk-…" });
 * const lmStudio = createOpenAI({ baseUrl: "http://localhost:1234/v1", keyless: true });
 * ```
 */
export function createOpenAI(options: OpenAIOptions = {}): StreamFn {
  const settings = resolveSettings(options, OPENAI_URL);
  const { api, apiKey, keyless } = options;
  const server = { settings, apiKey, keyless };
  const apis = {
    chat: createChat({ ...server, dialect: detectDialect(settings.baseUrl) }),
    responses: createResponses(server),
  };
  return withStrictSchema(
    (request) => apis[api ?? getDefaultApi(request.model, settings)](request),
    settings.catalog,
  );
}

/** OpenAI's models are at their best in the API that they were made for; other servers surely speak `chat`. */
function getDefaultApi(model: ModelSpec, { baseUrl, catalog }: AdapterSettings): OpenAIApi {
  if (baseUrl !== OPENAI_URL) return "chat";
  return findModel(catalog, model)?.api ?? "responses";
}
