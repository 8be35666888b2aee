/**
 * The Responses API: OpenAI's, and those of servers after its model.
 *
 * @module
 */

import type { StreamFn } from "../../../src/core/stream.ts";
import { jsonBody } from "../../kit/request/json_body.ts";
import { ModelFinder } from "../../kit/request/model_finder.ts";
import { streamFnOf } from "../../kit/provider.ts";
import { SseParser } from "../../kit/stream/sse.ts";
import { namesFromWire, TOOL_NAME_RULE } from "../../kit/request/wire_names.ts";
import { bearer, type ChatServer } from "../chat/chat.ts";
import { responsesBody } from "./request.ts";
import { ResponsesReply } from "./response.ts";

/** A server that speaks the Responses API. */
export type ResponsesServer = Omit<ChatServer, "dialect">;

/** Makes the stream function of a server. */
export function createResponses(server: ResponsesServer): StreamFn {
  const { settings, apiKey, keyless, errors, headers, keyHeaders = bearer } = server;
  const url = server.url ?? (() => `${settings.baseUrl}/responses`);
  const models = new ModelFinder(settings.catalog);
  return streamFnOf({
    settings,
    apiKey,
    keyless,
    errors,
    parser: () => new SseParser(),
    reply: ({ request, writer, origin }) => {
      const names = request.context.tools.map(({ name }) => name);
      return new ResponsesReply(writer, { origin, toolName: namesFromWire(names, TOOL_NAME_RULE) });
    },
    prepare({ request, writer }, key) {
      const entry = models.find(request.model, writer);
      return {
        url: url(request.model.modelId),
        headers: {
          "content-type": "application/json",
          ...headers?.(request),
          ...(key && keyHeaders(key, request)),
        },
        body: jsonBody(responsesBody(request, entry, writer)),
      };
    },
  });
}
