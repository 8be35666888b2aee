/**
 * The agents that an application creates for the runs of sessions.
 *
 * @module
 */

import type { Agent } from "../../agent/agent.ts";
import { isAgent } from "../../agent/is_agent.ts";
import { describeValue } from "../../core/errors/describe_value.ts";
import type { UserMessage } from "../../core/messages/message.ts";
import type { ModelSpec } from "../../core/models/model.ts";
import { createDeferred } from "../../core/ports/deferred.ts";
import type { Clock } from "../../core/ports/ports.ts";
import { startTimer } from "../../core/ports/start_timer.ts";
import type { SessionHeader } from "../../core/sessions/session_entry.ts";
import type { RunInput } from "./agent_runner.ts";

/** An agent, and the parts of the application that belong to its run. Disposing of it follows the run. */
export interface ServedAgentParts extends AsyncDisposable {
  /** The agent. */
  readonly agent: Agent;
  /**
   * Returns the prompt to send for that of a client, before it is stored; a `BadRequestError` refuses it, and the client
   * gets its message. Default: the prompt as it is.
   */
  readonly preparePrompt?: (message: UserMessage) => UserMessage | Promise<UserMessage>;
}

/** An agent for a run. */
export type ServedAgent = Agent | ServedAgentParts;

/** The session for which an agent is created. */
export interface ServedSession extends SessionHeader {
  /** The model that was used last, and that is restored into the agent. */
  readonly model?: ModelSpec;
}

/** Creates the agent for a run of a session, which is restored into it. */
export type CreateAgent = (session: ServedSession) => ServedAgent | Promise<ServedAgent>;

/**
 * Returns the parts of an agent, with a disposal that does nothing if the application has none.
 *
 * @throws {TypeError} If the value has no agent, such as that of a function without `return`.
 */
export function toServedAgentParts(served: ServedAgent): ServedAgentParts {
  if (isAgent(served)) return { agent: served, [Symbol.asyncDispose]: () => Promise.resolve() };
  if (isAgent(served?.agent)) return served;
  throw new TypeError(
    `createAgent must return an agent, or { agent, [Symbol.asyncDispose] }, not ${
      describeValue(served)
    }`,
  );
}

/** Maximum time for the disposal of an agent, in milliseconds: the session cannot be used until it has ended. */
const DISPOSAL_MS = 10_000;

/** Disposes of an agent; rejects if that fails or takes too long. */
export async function disposeServed(served: AsyncDisposable, clock: Clock): Promise<void> {
  const expired = createDeferred<never>();
  const stopTimer = startTimer(clock, DISPOSAL_MS, () => {
    expired.reject(new Error(`The agent was not disposed of within ${DISPOSAL_MS} ms`));
  });
  try {
    await Promise.race([served[Symbol.asyncDispose](), expired.promise]);
  } finally {
    stopTimer();
  }
}

/** The prompt of a client. */
export type ClientPrompt = Extract<RunInput, { readonly type: "prompt" }>["message"];

/** Lets the application prepare a prompt, whose id and metadata stay: a repeated request is recognized by them. */
export async function preparePrompt(
  prompt: ClientPrompt,
  prepare: ServedAgentParts["preparePrompt"],
): Promise<ClientPrompt> {
  if (!prepare) return prompt;
  const { id, metadata } = prompt;
  return { ...await prepare(prompt), id, ...(metadata && { metadata }) };
}
