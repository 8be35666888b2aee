/**
 * An HTTP endpoint for clients of AG-UI.
 *
 * @module
 */

import type { Agent } from "../../agent/agent.ts";
import type { AgentStream } from "../../agent/agent_stream.ts";
import { isAgent } from "../../agent/is_agent.ts";
import type { RunOptions } from "../../agent/run_options.ts";
import type { PendingApproval } from "../../core/approval/approval.ts";
import { checkFunction } from "../../core/checks/check_function.ts";
import { checkNames } from "../../core/checks/check_names.ts";
import { checkNumber } from "../../core/checks/check_number.ts";
import { checkObject } from "../../core/checks/check_object.ts";
import { describeValue } from "../../core/errors/describe_value.ts";
import { AgentError, BadRequestError } from "../../core/errors/errors.ts";
import { runSessions } from "../../core/events/run_session.ts";
import type { AgentMessage } from "../../core/messages/message.ts";
import { realSleep, type Sleep } from "../../core/ports/ports.ts";
import { KEEP_ALIVE_MS } from "../../core/streams/keep_alive.ts";
import { STREAM_HEADERS } from "../../core/streams/streamed_response.ts";
import type { AgUiEvent } from "./ag_ui_event.ts";
import { createClientTools, endForClient, replaceResults } from "./client_tools.ts";
import { encodeEvents } from "./encode_events.ts";
import { createInterrupts } from "./get_outcome.ts";
import { readBody } from "./read_body.ts";
import { type AgUiRunInput, parseRunInput } from "./run_input.ts";
import { mapEvents } from "./to_ag_ui.ts";

/** Options for {@linkcode agUiHandler}. */
export interface AgUiHandlerOptions {
  /**
   * Returns the agent of a run: a new one, which gets the history of the client, or that of `input.threadId` with a
   * history of its own, to which the new messages of the client are added. May return a `Response`, such as one with the
   * status 401.
   */
  readonly createAgent: (
    input: AgUiRunInput,
    request: Request,
  ) => Agent | Response | Promise<Agent | Response>;
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

/** Maximum time that a request waits for the end of another run of its agent. */
const HANDOVER_MS = 1_000;

const OPTIONS = ["createAgent", "maxBytes", "keepAliveMs", "now", "sleep"];

/**
 * Creates a handler for `POST` requests of AG-UI clients, such as `HttpAgent` of `@ag-ui/client`, for any server that
 * takes a function from a `Request` to a `Response`.
 *
 * Tools of the client are offered to the model; a call ends the run, and the client sends its result with the next one. A
 * run that waits for approvals ends with interrupts; the next one needs the agent that waits. A closed connection aborts
 * the run. Clients are trusted as users: they write the history of an agent that has none, so that one whose tools need
 * protection keeps its own. Who may call is decided by `createAgent`, or before the handler.
 *
 * @throws {BadRequestError} If an option is invalid.
 *
 * @example
 * ```ts ignore
 * import { Agent } from "@swink/agent";
 * import { agUiHandler } from "@swink/agent/ag-ui";
 *
 * const handler = agUiHandler({
 *   createAgent: () => new Agent({ model: "anthropic/claude-sonnet-5-5" }),
 * });
 * Deno.serve({ hostname: "127.0.0.1" }, handler);
 * ```
 */
export function agUiHandler(options: AgUiHandlerOptions): (request: Request) => Promise<Response> {
  checkObject(options, "Pass options, as { createAgent: () => agent }");
  checkNames(options, OPTIONS, "agUiHandler()");
  checkFunction("createAgent", options.createAgent);
  checkNumber("maxBytes", options.maxBytes);
  checkNumber("keepAliveMs", options.keepAliveMs);
  const { createAgent, maxBytes = MAX_BYTES, now = Date.now } = options;
  const { keepAliveMs = KEEP_ALIVE_MS, sleep = realSleep } = options;
  return async (request) => {
    if (request.method !== "POST") return reject(405, "Send a POST request");
    try {
      const input = parseRunInput(await readBody(request, { maxBytes, timeoutMs: BODY_MS }), now());
      const agent = await createAgent(input, request);
      if (agent instanceof Response) return agent;
      if (!isAgent(agent)) {
        return reject(500, `createAgent must return an agent, not ${describeValue(agent)}`);
      }
      await untilFree(agent, sleep);
      const events = startRun(agent, input);
      return new Response(encodeEvents(events, { keepAliveMs, sleep }), { headers: HEADERS });
    } catch (thrown) {
      if (!AgentError.is(thrown)) return reject(500, "The run could not be started");
      return reject(thrown.code === "already_running" ? 409 : 400, thrown.message);
    }
  };
}

/** Waits for the end of a run whose client has left it for this one: the close of its connection may arrive later. */
async function untilFree(agent: Agent, sleep: Sleep): Promise<void> {
  if (!agent.state.isRunning) return;
  const wait = new AbortController();
  await Promise.race([agent.waitForIdle(), sleep(HANDOVER_MS, wait.signal)]);
  wait.abort();
}

function reject(status: number, message: string): Response {
  return Response.json({ error: message }, { status });
}

/**
 * Starts the run of an input, and returns its events.
 *
 * @throws {BadRequestError} If the input does not fit the agent.
 */
function startRun(agent: Agent, input: AgUiRunInput): ReadableStream<AgUiEvent> {
  const { approvals, tools } = input;
  const { pendingApprovals, isRunning } = agent.state;
  const options = { tools: createClientTools(input), policies: [endForClient(tools)] };
  const hasAnswers = Object.keys(approvals).length > 0;
  if (pendingApprovals.length > 0) {
    if (hasAnswers) return mapRun(resumeRun(agent, input, options), input);
    const hasMessages = selectNew(agent, input).length > 0;
    if (!hasMessages && !isRunning) return repeatInterrupts(pendingApprovals, input);
  }
  return mapRun(promptOrContinue(agent, input, options), input);
}

/**
 * Returns the events of a run that waits for the same approvals as the one before it: a page that was loaded again has
 * lost them.
 */
function repeatInterrupts(
  pendingApprovals: readonly PendingApproval[],
  { threadId, runId }: AgUiRunInput,
): ReadableStream<AgUiEvent> {
  const outcome = createInterrupts(pendingApprovals);
  return new ReadableStream({
    start(controller) {
      controller.enqueue({ type: "RUN_STARTED", threadId, runId, protocolVersion: "1.0" });
      controller.enqueue({ type: "RUN_FINISHED", threadId, runId, outcome, usage: [] });
      controller.close();
    },
  });
}

/** Runs an agent with the new messages, or continues with its history. */
function promptOrContinue(
  agent: Agent,
  input: AgUiRunInput,
  options: Pick<RunOptions, "tools" | "policies">,
): AgentStream {
  const { approvals } = input;
  const hasAnswers = Object.keys(approvals).length > 0;
  if (hasAnswers && !haveEnded(agent, Object.keys(approvals))) {
    throw new BadRequestError(NOT_WAITING);
  }
  const prompt = adoptHistory(agent, input);
  if (prompt.length > 0) return agent.promptStream(addContext(prompt, input), options);
  if (hasAnswers && agent.state.messages.at(-1)?.role === "assistant") {
    throw new BadRequestError(NOT_WAITING);
  }
  return agent.continueStream(options);
}

const NOT_WAITING = "resume: the agent of this thread waits for no approval";

/**
 * Whether calls have ended. A client whose run was aborted or has failed after its answers sends them again: to it, the
 * calls wait until a run succeeds.
 */
function haveEnded({ state: { messages } }: Agent, toolCallIds: readonly string[]): boolean {
  const ended = new Set(
    messages.flatMap((message) => message.role === "tool_result" ? [message.toolCallId] : []),
  );
  return toolCallIds.every((id) => ended.has(id));
}

/** Continues a run with the answers to its approvals. What the user has written with them follows the calls. */
function resumeRun(
  agent: Agent,
  input: AgUiRunInput,
  options: Pick<RunOptions, "tools" | "policies">,
): AgentStream {
  const isBusy = agent.state.isRunning;
  adoptResults(agent, input);
  const prompt = addContext(selectNew(agent, input), input);
  const stream = agent.continueStream({ ...options, approvals: input.approvals });
  // An input that is refused starts no run, and is sent again.
  if (!isBusy && agent.state.isRunning && prompt.length > 0) steerAfterCalls(agent, prompt);
  return stream;
}

/** Adds messages to the run when its calls have ended, or to the next one: steering cancels those that have not. */
function steerAfterCalls(agent: Agent, prompt: readonly AgentMessage[]): void {
  const unsubscribe = agent.subscribe(({ type }) => {
    if (type !== "turn_end" && type !== "agent_end") return;
    unsubscribe();
    agent.steer(prompt);
  });
}

/** Brings the history of the agent up to date, and returns the messages that are new. */
function adoptHistory(agent: Agent, { messages }: AgUiRunInput): readonly AgentMessage[] {
  const { messages: own } = agent.state;
  // A session keeps the history from its first message on.
  if (own.length === 0 && !runSessions.has(agent.state)) {
    const last = messages.findLastIndex(({ role }) => role !== "user");
    if (last >= 0) agent.setMessages(messages.slice(0, last + 1));
    return messages.slice(last + 1);
  }
  adoptResults(agent, { messages });
  return selectNew(agent, { messages });
}

/** Adds the results of the client to the history. Calls that wait for an approval still wait. */
function adoptResults(agent: Agent, { messages }: Pick<AgUiRunInput, "messages">): void {
  const { messages: own, pendingApprovals, decidedCalls, interruptedCalls } = agent.state;
  const updated = replaceResults(agent.state, messages);
  if (updated.every((message, index) => message === own[index])) return;
  agent.setMessages(updated, { pendingApprovals, decidedCalls, interruptedCalls });
}

/** Returns the last messages of the user that an agent has neither in its history nor in its queues. */
function selectNew(
  { state: { messages: history }, queued: { steering, followUp } }: Agent,
  { messages }: Pick<AgUiRunInput, "messages">,
): readonly AgentMessage[] {
  const queued = [...steering, ...followUp].map(({ message }) => message);
  const ids = new Set([...history, ...queued].map(({ id }) => id));
  const last = messages.findLastIndex(({ role }) => role !== "user");
  return messages.slice(last + 1).filter(({ id }) => !ids.has(id));
}

/** Adds what the user sees to the last message. */
function addContext(
  prompt: readonly AgentMessage[],
  { context }: AgUiRunInput,
): readonly AgentMessage[] {
  const last = prompt.at(-1);
  if (context.length === 0 || last?.role !== "user") return prompt;
  const text = context.map(({ description, value }) => `${description}: ${value}`).join("\n");
  return [...prompt.slice(0, -1), { ...last, content: [...last.content, { type: "text", text }] }];
}

function mapRun(stream: AgentStream, input: AgUiRunInput): ReadableStream<AgUiEvent> {
  const { threadId, runId, clientMessages: messages, state } = input;
  const clientTools = input.tools.map(({ name }) => name);
  return mapEvents(stream, { threadId, runId, messages, state }, clientTools);
}

const HEADERS = { "content-type": "text/event-stream; charset=utf-8", ...STREAM_HEADERS };
