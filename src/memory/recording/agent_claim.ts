/**
 * The sessions that agents have been opened with: two conversations must not mix, since they may be those of two persons.
 *
 * @module
 */

import type { Agent } from "../../agent/agent.ts";
import { BadRequestError } from "../../core/errors/errors.ts";
import type { SessionRecording } from "./session_recording.ts";

interface ClaimState {
  /** Id of the session, if it is known. */
  id: string | undefined;
  isOpen: boolean;
  /** Id of the first message of the agent when the session was closed. */
  firstMessageId: string | undefined;
}

/** The last claim of each agent. */
const claims = new WeakMap<Agent, ClaimState>();

/** The claim of an agent for a session. */
export class AgentClaim {
  readonly #agent: Agent;
  readonly #previous: ClaimState | undefined;
  readonly #state: ClaimState;

  /**
   * Claims an agent for a session that is being opened.
   *
   * @throws {BadRequestError} If it is recorded in another session that is open, which would get messages of both.
   */
  constructor(agent: Agent, id: string | undefined) {
    const previous = claims.get(agent);
    if (previous?.isOpen && previous.id !== id) {
      const advice = "create an agent for each session, or close that one first";
      throw new BadRequestError(`The agent is recorded in ${describe(previous)}: ${advice}`);
    }
    this.#agent = agent;
    this.#previous = previous;
    this.#state = { id, isOpen: true, firstMessageId: undefined };
    claims.set(agent, this.#state);
  }

  /**
   * Checks that the agent does not have the conversation of another session, which a new one would get, too.
   *
   * @throws {BadRequestError} If it has.
   */
  checkConversation(): void {
    const first = this.#agent.state.messages[0]?.id;
    const previous = this.#previous;
    if (!previous || first === undefined || first !== previous.firstMessageId) return;
    if (previous.id === this.#state.id) return;
    const advice = "create an agent for each session, or call reset() before it gets a new one";
    throw new BadRequestError(`The agent has the conversation of ${describe(previous)}: ${advice}`);
  }

  /** Holds the claim until the recording stops. */
  hold(recording: SessionRecording): void {
    this.#state.id = recording.session.id;
    const stop = recording.stop.bind(recording);
    recording.stop = () => {
      // A later call finds another conversation.
      if (this.#state.isOpen) this.#state.firstMessageId = this.#agent.state.messages[0]?.id;
      this.#state.isOpen = false;
      return stop();
    };
  }

  /** Gives up the claim for a session that could not be opened. */
  release(): void {
    this.#state.isOpen = false;
    if (this.#previous && claims.get(this.#agent) === this.#state) {
      claims.set(this.#agent, this.#previous);
    }
  }
}

function describe({ id }: ClaimState): string {
  return id === undefined ? "another session" : `the session "${id}"`;
}
