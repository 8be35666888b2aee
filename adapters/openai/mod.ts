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

import { lazyStreamFn } from "../../src/core/streams/lazy_stream_fn.ts";
import type { StreamFn } from "../../src/core/streams/stream.ts";
import { withCatalog } from "../kit/request/with_catalog.ts";
import type { OpenAIOptions } from "./openai_stream_fn.ts";

export type { AdapterOptions } from "../kit/options/adapter_options.ts";
export type { OpenAIApi } from "./openai_stream_fn.ts";
export type { OpenAIOptions };

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
  const streamFn = lazyStreamFn(async () => {
    const { createOpenAIStreamFn } = await import("./openai_stream_fn.ts");
    return createOpenAIStreamFn(options);
  });
  // Callers without types may pass `null`, which the loaded function refuses.
  return withCatalog(streamFn, options?.catalog);
}
