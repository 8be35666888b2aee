/**
 * An HTTP endpoint for clients of AG-UI.
 *
 * @module
 */

import type { Agent } from "../../agent/agent.ts";
import type { AgentStream } from "../../agent/agent_stream.ts";
import { isAgent } from "../../agent/is_agent.ts";
import type { PendingApproval } from "../../core/approval/approval.ts";
import { checkFunction } from "../../core/checks/check_function.ts";
import { checkNames } from "../../core/checks/check_names.ts";
import { checkNumber } from "../../core/checks/check_number.ts";
import { checkObject } from "../../core/checks/check_object.ts";
import { describeValue } from "../../core/errors/describe_value.ts";
import { AgentError } from "../../core/errors/errors.ts";
import { realSleep, type Sleep } from "../../core/ports/ports.ts";
import { KEEP_ALIVE_MS } from "../../core/streams/keep_alive.ts";
import { STREAM_HEADERS } from "../../core/streams/streamed_response.ts";
import { encodeEvents } from "../web_client/encode_events.ts";
import { readBody } from "../web_client/read_body.ts";
import { startClientRun, untilFree } from "../web_client/start_client_run.ts";
import type { AgUiEvent } from "./ag_ui_event.ts";
import { createInterrupts } from "./get_outcome.ts";
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

function reject(status: number, message: string): Response {
  return Response.json({ error: message }, { status });
}

/**
 * Starts the run of an input, and returns its events.
 *
 * @throws {BadRequestError} If the input does not fit the agent.
 */
function startRun(agent: Agent, input: AgUiRunInput): ReadableStream<AgUiEvent> {
  const stream = startClientRun(agent, input);
  return stream ? mapRun(stream, input) : repeatInterrupts(agent.state.pendingApprovals, input);
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

function mapRun(stream: AgentStream, input: AgUiRunInput): ReadableStream<AgUiEvent> {
  const { threadId, runId, clientMessages: messages, state } = input;
  const clientTools = input.tools.map(({ name }) => name);
  return mapEvents(stream, { threadId, runId, messages, state }, clientTools);
}

const HEADERS = { "content-type": "text/event-stream; charset=utf-8", ...STREAM_HEADERS };
