/**
 * An HTTP endpoint for clients of AG-UI.
 *
 * @module
 */

import type { Agent } from "../../agent/agent.ts";
import type { PendingApproval } from "../../core/approval/approval.ts";
import {
  checkEndpointOptions,
  type ClientEndpointOptions,
  createEndpoint,
} from "../web_client/client_endpoint.ts";
import { startClientRun } from "../web_client/start_client_run.ts";
import type { AgUiEvent } from "./ag_ui_event.ts";
import { createRunStart } from "./event_mapper.ts";
import { createInterrupts } from "./get_outcome.ts";
import { type AgUiRunInput, parseRunInput } from "./run_input.ts";
import { mapRun } from "./to_ag_ui.ts";

/** Options for {@linkcode agUiHandler}. */
export interface AgUiHandlerOptions extends ClientEndpointOptions {
  /**
   * Returns the agent of a run: a new one, which gets the history of the client, or that of `input.threadId` with a
   * history of its own, to which the new messages of the client are added. May return a `Response`, such as one with the
   * status 401.
   */
  readonly createAgent: (
    input: AgUiRunInput,
    request: Request,
  ) => Agent | Response | Promise<Agent | Response>;
}

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
  checkEndpointOptions(options, "agUiHandler()");
  return createEndpoint(options, {
    parse: parseRunInput,
    start: (agent, input: AgUiRunInput) => startRun(agent, input, options),
  });
}

/**
 * Starts the run of an input, and returns its events.
 *
 * @throws {BadRequestError} If the input does not fit the agent.
 */
function startRun(
  agent: Agent,
  input: AgUiRunInput,
  { onError }: AgUiHandlerOptions,
): ReadableStream<AgUiEvent> {
  const stream = startClientRun(agent, input);
  if (!stream) return repeatInterrupts(agent.state.pendingApprovals, input);
  const { threadId, runId, clientMessages: messages, state, tools } = input;
  const clientTools = tools.map(({ name }) => name);
  return mapRun(stream, { threadId, runId, messages, state, onError }, clientTools);
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
      controller.enqueue(createRunStart(threadId, runId));
      controller.enqueue({ type: "RUN_FINISHED", threadId, runId, outcome, usage: [] });
      controller.close();
    },
  });
}
