/**
 * Connects agents to Claude models through Anthropic's Messages API.
 *
 * {@linkcode createAnthropic} makes the stream function of an agent; its options set the address, headers, timeouts,
 * the model catalog and a rate limiter. The API key comes from `apiKey`, a string or a function called at every
 * request, or from the agent's `getApiKey`; only `connect()` of `@swink/agent/adapters` reads `ANTHROPIC_API_KEY`.
 *
 * @example
 * ```ts
 * import { Agent } from "@swink/agent";
 * import { createAnthropic } from "@swink/agent/adapters/anthropic";
 *
 * const agent = new Agent({
 *   model: "anthropic/claude-sonnet-5-5:medium", // thinks with medium effort
 *   streamFn: createAnthropic({ apiKey: () => "sk-ant-…", connectTimeoutMs: 30_000 }),
 * });
 * ```
 *
 * @module
 */

import { lazyStreamFn } from "../../src/core/streams/lazy_stream_fn.ts";
import type { StreamFn } from "../../src/core/streams/stream.ts";
import { withCatalog } from "../kit/request/with_catalog.ts";
import type { AnthropicOptions } from "./anthropic_stream_fn.ts";

export type { AdapterOptions } from "../kit/options/adapter_options.ts";
export type { AnthropicOptions };

/**
 * Creates a stream function for Anthropic's Messages API.
 *
 * @example
 * ```ts
 * import { Agent } from "@swink/agent";
 * import { createAnthropic } from "@swink/agent/adapters/anthropic";
 *
 * const agent = new Agent({
 *   model: "anthropic/claude-sonnet-5-5",
 *   streamFn: createAnthropic({ apiKey: "sk-ant-…" }),
 * });
 * ```
 */
export function createAnthropic(options: AnthropicOptions = {}): StreamFn {
  const streamFn = lazyStreamFn(async () => {
    const { createAnthropicStreamFn } = await import("./anthropic_stream_fn.ts");
    return createAnthropicStreamFn(options);
  });
  // Callers without types may pass `null`, which the loaded function refuses.
  return withCatalog(streamFn, options?.catalog);
}
