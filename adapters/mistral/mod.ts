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

import { lazyStreamFn } from "../../src/core/streams/lazy_stream_fn.ts";
import type { StreamFn } from "../../src/core/streams/stream.ts";
import { withCatalog } from "../kit/request/with_catalog.ts";
import type { MistralOptions } from "./mistral_stream_fn.ts";

export type { AdapterOptions } from "../kit/options/adapter_options.ts";
export type { MistralOptions };

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
  const streamFn = lazyStreamFn(async () => {
    const { createMistralStreamFn } = await import("./mistral_stream_fn.ts");
    return createMistralStreamFn(options);
  });
  // Callers without types may pass `null`, which the loaded function refuses.
  return withCatalog(streamFn, options?.catalog);
}
