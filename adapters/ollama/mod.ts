/**
 * Ollama: models on one's own machine.
 *
 * @module
 */

import type { StreamFn } from "../../src/core/stream.ts";
import { findModel } from "../catalog/catalog.ts";
import { type ErrorTable, UNAVAILABLE } from "../kit/errors/error_table.ts";
import { serializeJson } from "../kit/request/json_body.ts";
import { NdjsonParser } from "../kit/stream/ndjson.ts";
import { type AdapterOptions, resolveSettings } from "../kit/options/adapter_options.ts";
import { createStreamFn } from "../kit/provider.ts";
import { createOllamaBody } from "./request.ts";
import { OllamaReply } from "./response.ts";

export type { AdapterOptions } from "../kit/options/adapter_options.ts";

/** Options of {@linkcode createOllama}. */
export interface OllamaOptions extends AdapterOptions {
  /**
   * Tokens of prompt and reply that the server keeps room for (`num_ctx`). Default: the server's own, which may be as
   * small as 4096; agents need far more. Changing it makes the server load the model anew.
   */
  readonly contextWindow?: number | undefined;
}

/** Errors have no codes, and within the streams of older servers no status either. */
const ERRORS: ErrorTable = {
  patterns: [
    [/error was encountered while running|runner .*(?:terminated|stopped|no longer)/i, UNAVAILABLE],
    [/server busy|unexpected EOF|connection refused/i, UNAVAILABLE],
  ],
};

/**
 * Makes a stream function for Ollama's own API, on this machine or another, or at ollama.com with a key.
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
  const settings = resolveSettings(options, "http://localhost:11434");
  const url = `${toServerUrl(settings.baseUrl)}/api/chat`;
  const { contextWindow } = options;
  return createStreamFn({
    settings,
    apiKey: options.apiKey,
    keyless: true,
    errors: ERRORS,
    createParser: () => new NdjsonParser(),
    createReplyReader: ({ writer, origin, decodeToolName }) =>
      new OllamaReply(writer, { toolName: decodeToolName, origin }),
    prepare({ request, writer }, key) {
      // A model that the catalog does not know is the usual case here, and nothing is guessed about it.
      const entry = findModel(settings.catalog, request.model);
      return {
        url,
        headers: {
          "content-type": "application/json",
          ...(key && { authorization: `Bearer ${key}` }),
        },
        body: serializeJson(createOllamaBody(request, { entry, contextWindow }, writer)),
      };
    },
  });
}

/** The server's URL, also of an address as `OLLAMA_HOST` has it: without scheme or port, or for all interfaces. */
function toServerUrl(address: string): string {
  const url = /^https?:\/\//i.test(address) ? address : `http://${withPort(address)}`;
  return url.replace("//0.0.0.0", "//127.0.0.1").replace(/\/(?:api|v1)$/, "");
}

function withPort(address: string): string {
  const [host = "", ...path] = address.split("/");
  return [/:\d+$/.test(host) ? host : `${host}:11434`, ...path].join("/");
}
