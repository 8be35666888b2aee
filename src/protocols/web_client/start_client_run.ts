/**
 * Starts the run that a client asks for.
 *
 * @module
 */

import type { Agent } from "../../agent/agent.ts";
import type { AgentStream } from "../../agent/agent_stream.ts";
import type { RunOptions } from "../../agent/run_options.ts";
import { AlreadyRunningError, BadRequestError } from "../../core/errors/errors.ts";
import type { AgentMessage } from "../../core/messages/message.ts";
import type { Sleep } from "../../core/ports/ports.ts";
import { addContext, adoptHistory, adoptResults, selectNew } from "./adopt_history.ts";
import { checkUnchanged } from "./check_unchanged.ts";
import type { ClientInput } from "./client_input.ts";
import { createClientTools, endForClient } from "./client_tools.ts";

/** Maximum time that a request waits for the end of another run of its agent. */
const HANDOVER_MS = 1_000;

/** Waits for the end of a run whose client has left it for this one: the close of its connection may arrive later. */
export async function untilFree(agent: Agent, sleep: Sleep): Promise<void> {
  if (!agent.state.isRunning) return;
  const wait = new AbortController();
  await Promise.race([agent.waitForIdle(), sleep(HANDOVER_MS, wait.signal)]);
  wait.abort();
}

const BUSY = "Another run of this conversation is active: wait for its end";

/**
 * Starts the run of an input. Returns `undefined` if the agent waits for approvals, and the input has neither an answer
 * nor a new message.
 *
 * @throws {AlreadyRunningError} If the agent runs.
 * @throws {BadRequestError} If the input does not fit the agent.
 */
export function startClientRun(agent: Agent, input: ClientInput): AgentStream | undefined {
  if (agent.state.isRunning) throw new AlreadyRunningError(BUSY);
  checkUnchanged(agent, input);
  const { approvals, tools } = input;
  const { pendingApprovals } = agent.state;
  const options = { tools: createClientTools(input), policies: [endForClient(tools)] };
  const hasAnswers = Object.keys(approvals).length > 0;
  if (pendingApprovals.length > 0) {
    if (hasAnswers) return resumeRun(agent, input, options);
    if (selectNew(agent, input).length === 0) return undefined;
  }
  return promptOrContinue(agent, input, options);
}

/** Runs an agent with the new messages, or continues with its history. */
function promptOrContinue(
  agent: Agent,
  input: ClientInput,
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

const NOT_WAITING = "The agent of this conversation waits for no approval";

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
  input: ClientInput,
  options: Pick<RunOptions, "tools" | "policies">,
): AgentStream {
  adoptResults(agent, input);
  const prompt = addContext(selectNew(agent, input), input);
  const stream = agent.continueStream({ ...options, approvals: input.approvals });
  // An input that is refused starts no run, and is sent again.
  if (agent.state.isRunning && prompt.length > 0) steerAfterCalls(agent, prompt);
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
