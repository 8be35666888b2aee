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

import type { StreamFn } from "../../src/core/stream.ts";
import { serializeJson } from "../kit/request/json_body.ts";
import { ModelFinder } from "../kit/request/model_finder.ts";
import { type AdapterOptions, resolveSettings } from "../kit/options/adapter_options.ts";
import { createStreamFn } from "../kit/provider.ts";
import { SseParser } from "../kit/stream/sse.ts";
import { FALLBACK_CLAUDE } from "./fallback_entry.ts";
import { createAnthropicRequest } from "./request.ts";
import { AnthropicReply } from "./response.ts";

export type { AdapterOptions } from "../kit/options/adapter_options.ts";

/** Options for {@linkcode createAnthropic}. */
export type AnthropicOptions = AdapterOptions;

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
  const settings = resolveSettings(options, "https://api.anthropic.com");
  const url = `${settings.baseUrl.replace(/\/v1$/, "")}/v1/messages`;
  const models = new ModelFinder(settings.catalog);
  return createStreamFn({
    settings,
    apiKey: options.apiKey,
    createParser: () => new SseParser(),
    createReplyReader: (call) => new AnthropicReply(call),
    prepare({ request, writer }, key) {
      const entry = models.find(request.model, writer) ?? FALLBACK_CLAUDE;
      const { body, betas } = createAnthropicRequest(request, entry, writer);
      const headers = {
        "content-type": "application/json",
        "anthropic-version": "2023-06-01",
        ...(key && { "x-api-key": key }),
        ...(betas.length > 0 && { "anthropic-beta": betas.join(",") }),
      };
      return { url, headers, body: serializeJson(body) };
    },
  });
}
