/**
 * Stream function for Ollama; `createOllama()` loads it on the first request.
 *
 * @module
 */

import type { StreamFn } from "../../src/core/streams/stream.ts";
import { findModel } from "../catalog/catalog.ts";
import { BAD_REQUEST, type ErrorTable, UNAVAILABLE } from "../kit/errors/error_table.ts";
import { type AdapterOptions, resolveSettings } from "../kit/options/adapter_options.ts";
import { checkOptionNames } from "../kit/options/check_options.ts";
import { createStreamFn } from "../kit/provider.ts";
import { serializeJson } from "../kit/request/json_body.ts";
import { NdjsonParser } from "../kit/stream/ndjson.ts";
import { createOllamaBody } from "./request.ts";
import { OllamaReply } from "./response.ts";
import { toServerUrl } from "./server_url.ts";

/** Options for `createOllama()`. */
export interface OllamaOptions extends AdapterOptions {
  /**
   * Size of the context window in tokens, prompt and reply together (`num_ctx`). Default: the server's, which may be
   * as small as 4096; agents need far more. The server reloads the model when the value changes.
   */
  readonly contextWindow?: number | undefined;
}

/** Ollama's errors have no codes and, in the streams of older servers, no status. */
const ERRORS: ErrorTable = {
  decisivePatterns: [[/requires more system memory/i, BAD_REQUEST]],
  patterns: [
    [/error was encountered while running|runner .*(?:terminated|stopped|no longer)/i, UNAVAILABLE],
    [/server busy|unexpected EOF|connection refused/i, UNAVAILABLE],
    // A call that the model wrote wrongly, in the words of Ollama's parsers; the next attempt may be right.
    [
      /parsing tool call|failed to parse JSON|^(?:invalid character |unexpected end of JSON|XML syntax error)/i,
      UNAVAILABLE,
    ],
  ],
  advice: [[
    /context length/i,
    "start Ollama with a larger OLLAMA_CONTEXT_LENGTH, such as 65536, or pass contextWindow to its adapter",
  ]],
};

/** Creates the stream function that `createOllama()` loads. */
export function createOllamaStreamFn(options: OllamaOptions): StreamFn {
  const settings = resolveSettings(options, "http://localhost:11434");
  checkOptionNames(options, ["contextWindow"], "the Ollama adapter");
  const url = `${toServerUrl(settings.baseUrl)}/api/chat`;
  const { contextWindow } = options;
  return createStreamFn({
    settings,
    apiKey: options.apiKey,
    keyless: true,
    connectHint: "start Ollama with `ollama serve`",
    errors: ERRORS,
    createParser: () => new NdjsonParser(),
    createReplyReader: (call) => new OllamaReply(call),
    async prepare({ request, writer }, key) {
      // Most Ollama models are not in the catalog, so there is neither a warning nor a fallback entry.
      const entry = findModel(settings.catalog, request.model);
      return {
        url,
        headers: {
          "content-type": "application/json",
          ...(key && { authorization: `Bearer ${key}` }),
        },
        body: serializeJson(await createOllamaBody(request, { entry, contextWindow }, writer)),
      };
    },
  });
}
