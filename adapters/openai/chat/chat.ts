/**
 * Chat completions: OpenAI's, and those of every server after its model.
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

/** A server that speaks chat completions. */
export interface ChatServer {
  /** The adapter's settings. */
  readonly settings: AdapterSettings;
  /** The adapter's key. */
  readonly apiKey?: ApiKey | undefined;
  /** Whether it answers without a key. Default: `false`. */
  readonly keyless?: boolean | undefined;
  /** How it speaks. */
  readonly dialect: ChatDialect;
  /** Its own error codes. */
  readonly errors?: ErrorTable | undefined;
  /** Where a model is asked. Default: `/chat/completions` under the `baseUrl`. */
  readonly url?: (modelId: string) => string;
  /** How the key of a request is sent. Default: as a bearer token. */
  readonly keyHeaders?: (key: string, request: StreamRequest) => Readonly<Record<string, string>>;
  /** Headers of a request besides the key's. */
  readonly headers?: (request: StreamRequest) => Readonly<Record<string, string>>;
}

/** Makes the stream function of a server. */
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

/** A key as a bearer token. */
export function toBearerHeader(key: string): Readonly<Record<string, string>> {
  return { authorization: `Bearer ${key}` };
}
