/**
 * Connects agents to models that Ollama runs, on the same machine, on another server or at ollama.com.
 *
 * {@linkcode createOllama} makes the stream function of an agent; set `contextWindow`, because Ollama's default is too
 * small for most agents, and `baseUrl` for a server other than `http://localhost:11434`. A local server needs no key;
 * for ollama.com pass `apiKey`. Only `connect()` of `@swink/agent/adapters` reads `OLLAMA_HOST` and `OLLAMA_API_KEY`.
 *
 * @example
 * ```ts
 * import { Agent } from "@swink/agent";
 * import { createOllama } from "@swink/agent/adapters/ollama";
 *
 * const agent = new Agent({
 *   model: "ollama/gpt-oss:20b",
 *   streamFn: createOllama({ baseUrl: "http://models.local:11434", contextWindow: 65_536 }),
 * });
 * ```
 *
 * @module
 */

import { lazyStreamFn } from "../../src/core/streams/lazy_stream_fn.ts";
import type { StreamFn } from "../../src/core/streams/stream.ts";
import { withCatalog } from "../kit/request/with_catalog.ts";
import type { OllamaOptions } from "./ollama_stream_fn.ts";

export type { AdapterOptions } from "../kit/options/adapter_options.ts";
export type { OllamaOptions };

/**
 * Creates a stream function for Ollama's own API.
 *
 * @example
 * ```ts
 * import { Agent } from "@swink/agent";
 * import { createOllama } from "@swink/agent/adapters/ollama";
 *
 * const agent = new Agent({
 *   model: "ollama/qwen3:8b",
 *   streamFn: createOllama({ contextWindow: 32_768 }),
 * });
 * ```
 */
export function createOllama(options: OllamaOptions = {}): StreamFn {
  const streamFn = lazyStreamFn(async () => {
    const { createOllamaStreamFn } = await import("./ollama_stream_fn.ts");
    return createOllamaStreamFn(options);
  });
  // Callers without types may pass `null`, which the loaded function refuses.
  return withCatalog(streamFn, options?.catalog);
}
