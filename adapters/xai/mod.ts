/**
 * Connects agents to xAI's Grok models, through chat completions or the Responses API.
 *
 * The catalog states the API of each model; `api` selects one of them. Requests with a `sessionId` reach the same server,
 * which has cached the prompt. The key comes from `apiKey`, a string or a function called at every request, or from the
 * agent's `getApiKey`; only `connect()` reads `XAI_API_KEY`.
 *
 * @example
 * ```ts
 * import { Agent } from "@swink/agent";
 * import { createXai } from "@swink/agent/adapters/xai";
 *
 * const streamFn = createXai({ apiKey: "xai-…", api: "responses" });
 * const agent = new Agent({ model: "xai/grok-4.7:high", streamFn, streamOptions: { sessionId: "42" } });
 * ```
 *
 * @module
 */

import { lazyStreamFn } from "../../src/core/streams/lazy_stream_fn.ts";
import type { StreamFn } from "../../src/core/streams/stream.ts";
import { withCatalog } from "../kit/request/with_catalog.ts";
import type { XaiOptions } from "./xai_stream_fn.ts";

export type { AdapterOptions } from "../kit/options/adapter_options.ts";
export type { XaiOptions };

/**
 * Creates a stream function for xAI.
 *
 * @example
 * ```ts
 * import { Agent } from "@swink/agent";
 * import { createXai } from "@swink/agent/adapters/xai";
 *
 * const agent = new Agent({ model: "xai/grok-4.7:high", streamFn: createXai({ apiKey: "xai-…" }) });
 * ```
 */
export function createXai(options: XaiOptions = {}): StreamFn {
  const streamFn = lazyStreamFn(async () => {
    const { createXaiStreamFn } = await import("./xai_stream_fn.ts");
    return createXaiStreamFn(options);
  });
  // Callers without types may pass `null`, which the loaded function refuses.
  return withCatalog(streamFn, options?.catalog);
}
