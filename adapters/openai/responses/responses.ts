/**
 * Stream functions for the Responses API of OpenAI and compatible servers.
 *
 * @module
 */

import type { StreamFn } from "../../../src/core/stream.ts";
import { createServerStreamFn, type OpenAIServer } from "../server/server_stream_fn.ts";
import { createResponsesBody, OPENAI_RESPONSES, type ResponsesDialect } from "./request.ts";
import { ResponsesReply } from "./response.ts";

/** A server with the Responses API. */
export interface ResponsesServer extends OpenAIServer {
  /** Dialect of the server. Default: that of OpenAI. */
  readonly dialect?: ResponsesDialect;
}

/** Creates the stream function of a server. */
export function createResponses(
  { dialect = OPENAI_RESPONSES, ...server }: ResponsesServer,
): StreamFn {
  return createServerStreamFn(server, {
    path: "/responses",
    createBody: (request, entry, sink) => createResponsesBody(request, { dialect, entry }, sink),
    createReplyReader: (call) => new ResponsesReply(call),
  });
}
