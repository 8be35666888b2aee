/**
 * An HTTP endpoint for `useChat()` of the AI SDK.
 *
 * @module
 */

import type { Agent } from "../../agent/agent.ts";
import { isAgent } from "../../agent/is_agent.ts";
import type { ApprovalDecision } from "../../core/approval/approval.ts";
import { checkFunction } from "../../core/checks/check_function.ts";
import { checkNames } from "../../core/checks/check_names.ts";
import { checkNumber } from "../../core/checks/check_number.ts";
import { checkObject } from "../../core/checks/check_object.ts";
import { describeValue } from "../../core/errors/describe_value.ts";
import { AgentError, BadRequestError } from "../../core/errors/errors.ts";
import type { AgentEndEvent } from "../../core/events/event.ts";
import { extractText } from "../../core/messages/content.ts";
import { realSleep, type Sleep } from "../../core/ports/ports.ts";
import { KEEP_ALIVE_MS } from "../../core/streams/keep_alive.ts";
import { STREAM_HEADERS } from "../../core/streams/streamed_response.ts";
import { checkTools } from "../../core/tools/check_tool.ts";
import type { ClientTool } from "../web_client/client_input.ts";
import { createClientTools } from "../web_client/client_tools.ts";
import { encodeEvents } from "../web_client/encode_events.ts";
import { readBody } from "../web_client/read_body.ts";
import { startClientRun, untilFree } from "../web_client/start_client_run.ts";
import { parseChatRequest, type UiChatRequest } from "./chat_request.ts";
import { ChunkMapper, type ChunkMapperOptions } from "./chunk_mapper.ts";
import { mapChunks } from "./to_ui_message_stream.ts";
import type { UiMessageChunk } from "./ui_message.ts";

/** Options for {@linkcode uiMessageHandler}. */
export interface UiMessageHandlerOptions {
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
  /** Maximum size of a request in bytes. Default: 10 MB. */
  readonly maxBytes?: number | undefined;
  /**
   * Milliseconds without an event after which a comment is sent, so that proxies keep the connection; 0 for none.
   * Default: 8,000.
   */
  readonly keepAliveMs?: number | undefined;
  /** Returns the time in milliseconds since the epoch. Default: `Date.now`. */
  readonly now?: (() => number) | undefined;
  /** Waits before a comment is sent, and for the end of another run. Default: based on `setTimeout`. */
  readonly sleep?: Sleep | undefined;
}

const MAX_BYTES = 10_000_000;

/** Maximum time to receive a body: callers are authorized by its content, and others could hold connections. */
const BODY_MS = 60_000;

const OPTIONS = [
  "createAgent",
  "clientTools",
  "messageMetadata",
  "maxBytes",
  "keepAliveMs",
  "now",
  "sleep",
];

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
  checkObject(options, "Pass options, as { createAgent: () => agent }");
  checkNames(options, OPTIONS, "uiMessageHandler()");
  checkFunction("createAgent", options.createAgent);
  const { clientTools: tools = [], messageMetadata } = options;
  if (messageMetadata !== undefined) checkFunction("messageMetadata", messageMetadata);
  checkTools(createClientTools({ tools, messages: [], approvals: {} }));
  checkNumber("maxBytes", options.maxBytes);
  checkNumber("keepAliveMs", options.keepAliveMs);
  const { createAgent, maxBytes = MAX_BYTES, now = Date.now } = options;
  const { keepAliveMs = KEEP_ALIVE_MS, sleep = realSleep } = options;
  return async (request) => {
    // A page that was loaded again asks for a run that its connection has ended: there is none.
    if (request.method === "GET") return new Response(null, { status: 204 });
    if (request.method !== "POST") return reject(405, "Send a POST request");
    try {
      const text = await readBody(request, { maxBytes, timeoutMs: BODY_MS });
      const chat = parseChatRequest(text, now());
      const agent = await createAgent(chat, request);
      if (agent instanceof Response) return agent;
      if (!isAgent(agent)) {
        return reject(500, `createAgent must return an agent, not ${describeValue(agent)}`);
      }
      await untilFree(agent, sleep);
      const chunks = startRun(agent, chat, options);
      const body = encodeEvents(chunks, { keepAliveMs, sleep, end: "[DONE]" });
      return new Response(body, { headers: HEADERS });
    } catch (thrown) {
      if (!AgentError.is(thrown)) return reject(500, "The run could not be started");
      return reject(thrown.code === "already_running" ? 409 : 400, thrown.message);
    }
  };
}

const HEADERS = {
  "content-type": "text/event-stream; charset=utf-8",
  "x-vercel-ai-ui-message-stream": "v1",
  ...STREAM_HEADERS,
};

function reject(status: number, message: string): Response {
  return Response.json({ error: message }, { status });
}

/**
 * Starts the run of a request, and returns its chunks.
 *
 * @throws {BadRequestError} If the request does not fit the agent.
 */
function startRun(
  agent: Agent,
  chat: UiChatRequest,
  { clientTools = [], messageMetadata }: UiMessageHandlerOptions,
): ReadableStream<UiMessageChunk> {
  const { messages, continued } = chat;
  checkUnchanged(agent, chat);
  const approvals = selectApprovals(agent, chat);
  const options = {
    continued,
    approvals,
    knownIds: new Set(messages.flatMap(({ id }) => id === undefined ? [] : [id])),
    clientTools: clientTools.map(({ name }) => name),
    messageMetadata,
  };
  const input = { messages, approvals, tools: clientTools, context: [] };
  const stream = startClientRun(agent, input);
  return stream ? mapChunks(stream, options) : repeatRequests(agent, options);
}

/**
 * Checks that an agent does not answer the earlier text of a message that its user has changed since.
 *
 * @throws {BadRequestError} If the agent has another text.
 */
function checkUnchanged({ state }: Agent, { messages }: UiChatRequest): void {
  const last = messages.at(-1);
  if (last?.role !== "user") return;
  const own = state.messages.find(({ id }) => id === last.id);
  if (own?.role !== "user" || extractText(own.content) === extractText(last.content)) return;
  throw new BadRequestError(
    "The agent of this conversation keeps its messages: send a new one in place of a changed one",
  );
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

/** Returns the chunks of a run that waits for the same approvals as the one before it: the page may have lost them. */
function repeatRequests(
  { state }: Agent,
  options: ChunkMapperOptions,
): ReadableStream<UiMessageChunk> {
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
