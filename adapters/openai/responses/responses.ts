/**
 * Stream functions for the Responses API of OpenAI and compatible servers.
 *
 * @module
 */

import type { StreamFn } from "../../../src/core/stream.ts";
import { createServerStreamFn, type OpenAIServer } from "../server/server_stream_fn.ts";
import { createResponsesBody } from "./request.ts";
import { ResponsesReply } from "./response.ts";

/** Creates the stream function of a server. */
export function createResponses(server: OpenAIServer): StreamFn {
  return createServerStreamFn(server, {
    path: "/responses",
    createBody: createResponsesBody,
    createReplyReader: (call) => new ResponsesReply(call),
  });
}
