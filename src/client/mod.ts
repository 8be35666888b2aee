/**
 * Reads the events of a run from the response of a server, in a browser or another program.
 *
 * The server answers with `AgentStream.toResponse()`. {@linkcode readResponse} returns the same events as a stream, with
 * its text and its result; {@linkcode readTextDeltas} reads the text alone, and {@linkcode updateConversation} turns events
 * into a state that a page shows. The module has no part of the agent loop.
 *
 * @example
 * ```ts
 * import { Agent } from "@swink/agent";
 * import { readResponse, readTextDeltas } from "@swink/agent/client";
 * import { reply, scriptedStream } from "@swink/agent/testing";
 *
 * // On the server.
 * function handle(prompt: string): Response {
 *   const agent = new Agent({ model: "any/model", streamFn: scriptedStream([reply("Hello!")]) });
 *   return agent.promptStream(prompt).toResponse();
 * }
 *
 * // In the browser, with the response of `fetch()`.
 * const stream = readResponse(handle("Greet me"));
 * for await (const text of readTextDeltas(stream)) console.log(text); // "Hello!"
 * const { stopReason, usage } = await stream.result();
 * ```
 *
 * @module
 */

export {
  type Conversation,
  createConversation,
  type RunningCall,
  updateConversation,
} from "./conversation.ts";
export { followSession, type FollowSessionOptions, type SessionRequest } from "./follow_session.ts";
export { readTextDeltas, type TextSource } from "../agent/read_text_deltas.ts";
export { readResponse, type ResponseStream } from "./read_response.ts";
export type { SessionEvent } from "./session_event.ts";
