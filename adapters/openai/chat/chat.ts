/**
 * Stream functions for the chat completions API of OpenAI and compatible servers.
 *
 * @module
 */

import type { StreamFn } from "../../../src/core/streams/stream.ts";
import { createServerStreamFn, type OpenAIServer } from "../server/server_stream_fn.ts";
import { adaptBody, findProgram, findServer } from "./compatible_servers.ts";
import type { ChatDialect } from "./dialect.ts";
import { createChatBody } from "./request.ts";

/** A server with the chat completions API. */
export interface ChatServer extends OpenAIServer {
  /** Dialect of the server. */
  readonly dialect: ChatDialect;
}

/** Creates the stream function of a server. */
export function createChat({ dialect, ...server }: ChatServer): StreamFn {
  const known = findServer(server.settings.baseUrl);
  return createServerStreamFn({ connectHint: known?.connectHint, ...server }, {
    path: "/chat/completions",
    async createBody(request, entry, sink) {
      const body = await createChatBody(request, { dialect, entry }, sink);
      const program = known ?? findProgram(request.model.provider);
      return program ? adaptBody(body, program, sink) : body;
    },
    async createReplyReader(call) {
      const { ChatReply } = await import("./response.ts");
      return new ChatReply(call, dialect);
    },
  });
}
