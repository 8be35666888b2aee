/**
 * Connects agents to Google's Gemini models through the Gemini API or Vertex AI.
 *
 * {@linkcode createGoogle} makes the stream function of an agent; for Vertex AI set `baseUrl` to the publisher's URL
 * in your project. The key comes from `apiKey` (a string, or a function called at every request) or from the agent's
 * `getApiKey`, and with `getToken` an access token of Google Cloud replaces it; only `connect()` of
 * `@swink/agent/adapters` reads `GEMINI_API_KEY` or `GOOGLE_API_KEY`.
 *
 * `createGemini` and `GeminiOptions` are aliases of {@linkcode createGoogle} and {@linkcode GoogleOptions}.
 *
 * @example
 * ```ts
 * import { Agent } from "@swink/agent";
 * import { createGoogle } from "@swink/agent/adapters/google";
 *
 * const vertex = "https://aiplatform.googleapis.com/v1/projects/my-project/locations/global";
 * const agent = new Agent({
 *   model: "google/gemini-3.8-flash:low", // thinks with low effort
 *   streamFn: createGoogle({
 *     baseUrl: `${vertex}/publishers/google`,
 *     getToken: () => ({ token: "ya29.…", expiresOnTimestamp: Date.now() + 3_600_000 }),
 *   }),
 * });
 * ```
 *
 * @module
 */

import { lazyStreamFn } from "../../src/core/streams/lazy_stream_fn.ts";
import type { StreamFn } from "../../src/core/streams/stream.ts";
import { withCatalog } from "../kit/request/with_catalog.ts";
import type { GoogleOptions } from "./google_stream_fn.ts";

export type { AccessToken, GetToken } from "../kit/http/access_token.ts";
export type { AdapterOptions } from "../kit/options/adapter_options.ts";
export { createGoogle as createGemini, type GoogleOptions, type GoogleOptions as GeminiOptions };

/**
 * Creates a stream function for Google's models.
 *
 * @example
 * ```ts
 * import { Agent } from "@swink/agent";
 * import { createGoogle } from "@swink/agent/adapters/google";
 *
 * const agent = new Agent({
 *   model: "google/gemini-3.8-flash:low",
 *   streamFn: createGoogle({ apiKey: "AIza…" }),
 * });
 * ```
 */
export function createGoogle(options: GoogleOptions = {}): StreamFn {
  const streamFn = lazyStreamFn(async () => {
    const { createGoogleStreamFn } = await import("./google_stream_fn.ts");
    return createGoogleStreamFn(options);
  });
  // Callers without types may pass `null`, which the loaded function refuses.
  return withCatalog(streamFn, options?.catalog);
}
