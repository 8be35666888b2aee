/**
 * Stream functions for the Responses API of OpenAI and compatible servers.
 *
 * @module
 */

import type { StreamFn } from "../../../src/core/streams/stream.ts";
import { createServerStreamFn, type OpenAIServer } from "../server/server_stream_fn.ts";
import type { ResponsesDialect } from "./request.ts";

/** A server with the Responses API. */
export interface ResponsesServer extends OpenAIServer {
  /** Dialect of the server. Default: that of OpenAI. */
  readonly dialect?: ResponsesDialect;
  /** Whether the server is in a region with data residency, whose prices may differ. Default: `false`. */
  readonly isRegional?: boolean;
}

/** Creates the stream function of a server. */
export function createResponses(
  { dialect, isRegional, ...server }: ResponsesServer,
): StreamFn {
  return createServerStreamFn(server, {
    path: "/responses",
    async createBody(request, entry, sink) {
      const { createResponsesBody } = await import("./request.ts");
      return createResponsesBody(request, { dialect, entry }, sink);
    },
    async createReplyReader(call) {
      const { ResponsesReply } = await import("./response.ts");
      return new ResponsesReply(call, { isRegional });
    },
  });
}
