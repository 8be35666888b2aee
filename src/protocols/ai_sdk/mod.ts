/**
 * Runs for `useChat()` and the other front ends of the AI SDK.
 *
 * @example
 * ```ts
 * import { Agent } from "@swink/agent";
 * import { uiMessageHandler } from "@swink/agent/ai-sdk";
 *
 * const createAgent = () => new Agent({ model: "anthropic/claude-sonnet-5-5" });
 * const options = { hostname: "127.0.0.1", port: 0, onListen() {} };
 * const server = Deno.serve(options, uiMessageHandler({ createAgent }));
 *
 * await server.shutdown();
 * ```
 *
 * @module
 */

export type { ClientEndpointOptions } from "../web_client/client_endpoint.ts";
export type { ClientTool } from "../web_client/client_input.ts";
export type { UiChatRequest } from "./chat_request.ts";
export type { ContinuedMessage } from "./chunk_mapper.ts";
export { toUiMessages } from "./to_ui_messages.ts";
export { toUiMessageStream, type UiMessageStreamOptions } from "./to_ui_message_stream.ts";
export type {
  UiFilePart,
  UiFinishReason,
  UiJson,
  UiMessage,
  UiMessageChunk,
  UiPart,
  UiProviderMetadata,
  UiTextPart,
  UiToolPart,
} from "./ui_message.ts";
export { uiMessageHandler, type UiMessageHandlerOptions } from "./ui_message_handler.ts";
