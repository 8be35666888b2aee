/**
 * Connects agents to Mistral, whose chat completions API is a dialect of OpenAI's.
 *
 * {@linkcode createMistral} creates the stream function of an agent; its options set the address, headers, timeouts, the
 * model catalog and a rate limiter. Reasoning models return their thinking as part of the content, which the adapter
 * sends back. The key comes from `apiKey`, a string or a function called at every request, or from the agent's
 * `getApiKey`; only `connect()` reads `MISTRAL_API_KEY`.
 *
 * @example
 * ```ts
 * import { Agent } from "@swink/agent";
 * import { createMistral } from "@swink/agent/adapters/mistral";
 *
 * const streamFn = createMistral({ apiKey: () => "…", connectTimeoutMs: 30_000 });
 * const agent = new Agent({ model: "mistral/mistral-medium-latest", streamFn });
 * ```
 *
 * @module
 */

import type { StreamFn } from "../../src/core/stream.ts";
import { createChat } from "../openai/chat/chat.ts";
import { type ErrorTable, THROTTLED, UNKNOWN_MODEL } from "../kit/errors/error_table.ts";
import { type AdapterOptions, resolveSettings } from "../kit/options/adapter_options.ts";
import { MISTRAL_DIALECT } from "./request.ts";

export type { AdapterOptions } from "../kit/options/adapter_options.ts";

/** Options for {@linkcode createMistral}. */
export type MistralOptions = AdapterOptions;

const ERRORS: ErrorTable = {
  codes: { service_tier_capacity_exceeded: THROTTLED, invalid_model: UNKNOWN_MODEL },
};

/**
 * Creates a stream function for Mistral.
 *
 * @example
 * ```ts
 * import { Agent } from "@swink/agent";
 * import { createMistral } from "@swink/agent/adapters/mistral";
 *
 * const agent = new Agent({
 *   model: "mistral/mistral-medium-latest",
 *   streamFn: createMistral({ apiKey: "…" }),
 * });
 * ```
 */
export function createMistral(options: MistralOptions = {}): StreamFn {
  const settings = resolveSettings(options, "https://api.mistral.ai/v1");
  return createChat({ settings, apiKey: options.apiKey, dialect: MISTRAL_DIALECT, errors: ERRORS });
}
