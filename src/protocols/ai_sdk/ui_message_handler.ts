/**
 * An HTTP endpoint for `useChat()` of the AI SDK.
 *
 * @module
 */

import type { Agent } from "../../agent/agent.ts";
import type { ApprovalDecision } from "../../core/approval/approval.ts";
import { checkFunction } from "../../core/checks/check_function.ts";
import { BadRequestError } from "../../core/errors/errors.ts";
import type { AgentEndEvent } from "../../core/events/event.ts";
import { checkTools } from "../../core/tools/check_tool.ts";
import {
  checkEndpointOptions,
  type ClientEndpointOptions,
  createEndpoint,
} from "../web_client/client_endpoint.ts";
import type { ClientTool } from "../web_client/client_input.ts";
import { createClientTools } from "../web_client/client_tools.ts";
import { startClientRun } from "../web_client/start_client_run.ts";
import { parseChatRequest, type UiChatRequest } from "./chat_request.ts";
import { ChunkMapper, type ChunkMapperOptions } from "./chunk_mapper.ts";
import { mapChunks } from "./to_ui_message_stream.ts";
import type { UiMessageChunk } from "./ui_message.ts";

/** Options for {@linkcode uiMessageHandler}. */
export interface UiMessageHandlerOptions extends ClientEndpointOptions {
  /**
   * Returns the agent of a run: a new one, which gets the history of the page, or that of `chat.id` with a history of its
   * own, to which the new messages of the page are added. May return a `Response`, such as one with the status 401.
   */
  readonly createAgent: (
    chat: UiChatRequest,
    request: Request,
  ) => Agent | Response | Promise<Agent | Response>;
  /** Tools that the page runs in `onToolCall`. They need names that no tool of the agent has. Default: none. */
  readonly clientTools?: readonly ClientTool[] | undefined;
  /** Returns the metadata of the message when the run has ended and not failed, such as its usage; must be JSON. Default: none. */
  readonly messageMetadata?: ((end: AgentEndEvent) => unknown) | undefined;
}

/**
 * Creates a handler for the requests of `useChat()`, of the AI SDK 7, for any server that takes a function from a
 * `Request` to a `Response`.
 *
 * A closed connection, such as that of `stop()`, aborts the run. A run that waits for approvals ends with requests for
 * them; the page answers with `addToolApprovalResponse()`, and the next request needs the agent that waits. Pages are
 * trusted as users: they write the history of an agent that has none, so that one whose tools need protection keeps its
 * own. Who may call is decided by `createAgent`, or before the handler.
 *
 * @throws {BadRequestError} If an option is invalid.
 *
 * @example
 * ```ts ignore
 * import { Agent } from "@swink/agent";
 * import { uiMessageHandler } from "@swink/agent/ai-sdk";
 *
 * const handler = uiMessageHandler({
 *   createAgent: () => new Agent({ model: "anthropic/claude-sonnet-5-5" }),
 * });
 * Deno.serve({ hostname: "127.0.0.1" }, handler);
 * ```
 */
export function uiMessageHandler(
  options: UiMessageHandlerOptions,
): (request: Request) => Promise<Response> {
  checkEndpointOptions(options, "uiMessageHandler()", ["clientTools", "messageMetadata"]);
  const { clientTools: tools = [], messageMetadata } = options;
  if (messageMetadata !== undefined) checkFunction("messageMetadata", messageMetadata);
  checkTools(createClientTools({ tools, messages: [], approvals: {} }));
  const handle = createEndpoint(options, {
    parse: parseChatRequest,
    start: (agent, chat: UiChatRequest) => startRun(agent, chat, options),
    headers: { "x-vercel-ai-ui-message-stream": "v1" },
    end: "[DONE]",
    // The page shows the body as the message of its error.
    refuse: (status, text) => new Response(text, { status }),
  });
  return async (request) => {
    // A page that was loaded again asks for a run that its connection has ended: there is none.
    if (request.method === "GET") return new Response(null, { status: 204 });
    return await handle(request);
  };
}

/**
 * Starts the run of a request, and returns its chunks.
 *
 * @throws {BadRequestError} If the request does not fit the agent.
 */
function startRun(
  agent: Agent,
  chat: UiChatRequest,
  { clientTools = [], messageMetadata, onError }: UiMessageHandlerOptions,
): ReadableStream<UiMessageChunk> {
  const { messages, continued } = chat;
  const approvals = selectApprovals(agent, chat);
  const options = {
    continued,
    approvals,
    knownIds: new Set(messages.flatMap(({ id }) => id === undefined ? [] : [id])),
    clientTools: clientTools.map(({ name }) => name),
    messageMetadata,
    onError,
  };
  const input = { messages, approvals, tools: clientTools };
  const stream = startClientRun(agent, input);
  return stream ? mapChunks(stream, options) : repeatRequests(agent, options);
}

/**
 * Returns the answers to the approvals that the agent waits for. A page that sends a message leaves those that it does not
 * answer: they are refused.
 */
function selectApprovals(
  { state: { pendingApprovals } }: Agent,
  { approvals, messages }: UiChatRequest,
): Readonly<Record<string, ApprovalDecision>> {
  if (pendingApprovals.length === 0) return approvals;
  const isLeft = messages.at(-1)?.role === "user";
  const hasAnswer = pendingApprovals.some(({ toolCallId }) => Object.hasOwn(approvals, toolCallId));
  if (!hasAnswer) {
    // A page that has missed a part of the conversation would send the same answers again and again.
    if (isLeft || Object.keys(approvals).length === 0) return {};
    throw new BadRequestError(OTHER_APPROVALS);
  }
  return Object.fromEntries(
    pendingApprovals.flatMap(({ toolCallId }) => {
      const answer = Object.hasOwn(approvals, toolCallId) ? approvals[toolCallId] : undefined;
      const decision = answer ?? (isLeft ? UNANSWERED : undefined);
      return decision ? [[toolCallId, decision] as const] : [];
    }),
  );
}

const OTHER_APPROVALS =
  "The agent of this conversation waits for other approvals: load the conversation again";

const UNANSWERED: ApprovalDecision = { type: "denied", reason: "The user has not answered" };

/**
 * Returns the chunks of a run that waits for the same approvals as the one before it: the page may have lost them.
 *
 * @throws {BadRequestError} If the page does not have the calls.
 */
function repeatRequests(
  { state }: Agent,
  options: ChunkMapperOptions,
): ReadableStream<UiMessageChunk> {
  const known = options.continued?.toolCallIds ?? [];
  if (!state.pendingApprovals.every(({ toolCallId }) => known.includes(toolCallId))) {
    throw new BadRequestError(OTHER_APPROVALS);
  }
  const mapper = new ChunkMapper(options);
  return new ReadableStream({
    start(controller) {
      for (const chunk of mapper.start()) controller.enqueue(chunk);
      for (const chunk of mapper.askFor(state)) controller.enqueue(chunk);
      controller.enqueue({ type: "finish", finishReason: "tool-calls" });
      controller.close();
    },
  });
}
