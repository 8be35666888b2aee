/**
 * Stream functions for the Responses API of OpenAI and compatible servers.
 *
 * @module
 */

import type { StreamFn } from "../../../src/core/stream.ts";
import { serializeJson } from "../../kit/request/json_body.ts";
import { ModelFinder } from "../../kit/request/model_finder.ts";
import { createStreamFn } from "../../kit/provider.ts";
import { SseParser } from "../../kit/stream/sse.ts";
import { type ChatServer, toBearerHeader } from "../chat/chat.ts";
import { createResponsesBody } from "./request.ts";
import { ResponsesReply } from "./response.ts";

/** A server with the Responses API. */
export type ResponsesServer = Omit<ChatServer, "dialect">;

/** Creates the stream function of a server. */
export function createResponses(server: ResponsesServer): StreamFn {
  const { settings, apiKey, keyless, errors, headers, keyHeaders = toBearerHeader } = server;
  const url = server.url ?? (() => `${settings.baseUrl}/responses`);
  const models = new ModelFinder(settings.catalog);
  return createStreamFn({
    settings,
    apiKey,
    keyless,
    errors,
    createParser: () => new SseParser(),
    createReplyReader: (call) => new ResponsesReply(call.writer, call),
    prepare({ request, writer }, key) {
      const entry = models.find(request.model, writer);
      return {
        url: url(request.model.modelId),
        headers: {
          "content-type": "application/json",
          ...headers?.(request),
          ...(key && keyHeaders(key, request)),
        },
        body: serializeJson(createResponsesBody(request, entry, writer)),
      };
    },
  });
}
