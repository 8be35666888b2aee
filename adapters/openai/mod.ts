/**
 * Connects agents to OpenAI and to compatible servers: OpenRouter, Groq, vLLM, llama.cpp, LM Studio and others.
 *
 * OpenAI's own models use the Responses API or chat completions, as the catalog states for each model; `api` selects one
 * of them. Compatible servers use chat completions: `baseUrl` sets their address, and `keyless` allows requests without a
 * key. The key comes from `apiKey`, a string or a function called at every request, or from the agent's `getApiKey`; only
 * `connect()` reads `OPENAI_API_KEY`.
 *
 * @example
 * ```ts
 * import { Agent } from "@swink/agent";
 * import { createOpenAI } from "@swink/agent/adapters/openai";
 *
 * const streamFn = createOpenAI({ baseUrl: "http://localhost:1234/v1", keyless: true });
 * const agent = new Agent({ model: "openai/local-model", streamFn });
 * ```
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

/** An API of OpenAI: chat completions or Responses. */
export type OpenAIApi = "chat" | "responses";

/** Options for {@linkcode createOpenAI}. */
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

/**
 * Creates a stream function for OpenAI, or with `baseUrl` for any compatible server.
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

function getDefaultApi(model: ModelSpec, { baseUrl, catalog }: AdapterSettings): OpenAIApi {
  if (baseUrl !== OPENAI_URL) return "chat";
  return findModel(catalog, model)?.api ?? "responses";
}
