/**
 * Stream functions for the chat completions API of OpenAI and compatible servers.
 *
 * @module
 */

import type { StreamFn, StreamRequest } from "../../../src/core/stream.ts";
import type { ErrorTable } from "../../kit/errors/error_table.ts";
import { serializeJson } from "../../kit/request/json_body.ts";
import { ModelFinder } from "../../kit/request/model_finder.ts";
import type { AdapterSettings, ApiKey } from "../../kit/options/adapter_options.ts";
import { createStreamFn } from "../../kit/provider.ts";
import { SseParser } from "../../kit/stream/sse.ts";
import { createChatBody } from "./request.ts";
import { ChatReply } from "./response.ts";
import type { ChatDialect } from "./dialect.ts";

/** A server with the chat completions API. */
export interface ChatServer {
  /** Settings of the adapter. */
  readonly settings: AdapterSettings;
  /** API key of the adapter. */
  readonly apiKey?: ApiKey | undefined;
  /** Whether requests are sent without a key when there is none. Default: `false`. */
  readonly keyless?: boolean | undefined;
  /** Dialect of the server. */
  readonly dialect: ChatDialect;
  /** Error codes and messages of the server. */
  readonly errors?: ErrorTable | undefined;
  /** Returns the URL for a model. Default: `/chat/completions` under the `baseUrl`. */
  readonly url?: (modelId: string) => string;
  /** Returns the headers that carry the key of a request. Default: a bearer token. */
  readonly keyHeaders?: (key: string, request: StreamRequest) => Readonly<Record<string, string>>;
  /** Returns further headers of a request. */
  readonly headers?: (request: StreamRequest) => Readonly<Record<string, string>>;
}

/** Creates the stream function of a server. */
export function createChat(server: ChatServer): StreamFn {
  const { settings, apiKey, keyless, dialect, errors, headers, keyHeaders = toBearerHeader } =
    server;
  const url = server.url ?? (() => `${settings.baseUrl}/chat/completions`);
  const models = new ModelFinder(settings.catalog);
  return createStreamFn({
    settings,
    apiKey,
    keyless,
    errors,
    createParser: () => new SseParser(),
    createReplyReader: (call) => new ChatReply(call.writer, call),
    prepare({ request, writer }, key) {
      const entry = models.find(request.model, writer);
      return {
        url: url(request.model.modelId),
        headers: {
          "content-type": "application/json",
          ...headers?.(request),
          ...(key && keyHeaders(key, request)),
        },
        body: serializeJson(createChatBody(request, { dialect, entry }, writer)),
      };
    },
  });
}

/** Returns the header of a bearer token. */
export function toBearerHeader(key: string): Readonly<Record<string, string>> {
  return { authorization: `Bearer ${key}` };
}
