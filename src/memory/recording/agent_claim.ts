/**
 * The sessions that agents have been opened with: two conversations must not mix, since they may be those of two persons.
 *
 * @module
 */

import type { Agent } from "../../agent/agent.ts";
import { BadRequestError } from "../../core/errors/errors.ts";

/** The conversation of a session that was closed. */
interface ClosedConversation {
  /** Id of the session. */
  readonly id: string;
  /** Id of the first message of the agent when the session was closed. */
  readonly firstMessageId: string | undefined;
}

/** The sessions of an agent. */
interface AgentSessions {
  /** Those that are open, or being opened. */
  readonly claims: Set<AgentClaim>;
  /** The conversation of the one that was closed last. Default: none was. */
  closed: ClosedConversation | undefined;
}

const sessions = new WeakMap<Agent, AgentSessions>();

/**
 * Claims an agent for a session that is being opened; the id is missing if the session is new.
 *
 * @throws {BadRequestError} If it is recorded in another session that is open, which would get messages of both.
 */
export function claimAgent(agent: Agent, id: string | undefined): AgentClaim {
  for (const claim of sessions.get(agent)?.claims ?? []) {
    if (id !== undefined && claim.id === id) continue;
    const advice = "create an agent for each session, or close what openSession() returned first";
    throw new BadRequestError(`The agent is recorded in ${describe(claim)}: ${advice}`);
  }
  return new AgentClaim(agent, id);
}

/** The claim of an agent for a session: from the time before it is opened until its recording has stopped. */
export class AgentClaim {
  readonly #agent: Agent;
  readonly #sessions: AgentSessions;
  #id: string | undefined;

  /** Claims an agent, whether or not it is recorded in other sessions. */
  constructor(agent: Agent, id: string | undefined) {
    this.#agent = agent;
    this.#id = id;
    this.#sessions = sessions.get(agent) ?? { claims: new Set(), closed: undefined };
    this.#sessions.claims.add(this);
    sessions.set(agent, this.#sessions);
  }

  /** Id of the session, if it is known. */
  get id(): string | undefined {
    return this.#id;
  }

  /**
   * Checks that the agent does not have the conversation of another session, which a new one would get, too.
   *
   * @throws {BadRequestError} If it has.
   */
  checkConversation(): void {
    const first = this.#agent.state.messages[0]?.id;
    const { closed } = this.#sessions;
    if (!closed || first === undefined || first !== closed.firstMessageId) return;
    if (closed.id === this.#id) return;
    const advice = "create an agent for each session, or call reset() before it gets a new one";
    throw new BadRequestError(`The agent has the conversation of ${describe(closed)}: ${advice}`);
  }

  /** Sets the id of a session that was new. */
  setId(id: string): void {
    this.#id = id;
  }

  /** Ends the claim, since the recording has stopped. A later call finds another conversation. */
  end(): void {
    if (!this.#sessions.claims.delete(this) || this.#id === undefined) return;
    const firstMessageId = this.#agent.state.messages[0]?.id;
    this.#sessions.closed = { id: this.#id, firstMessageId };
  }

  /** Gives up the claim for a session that could not be opened. */
  release(): void {
    this.#sessions.claims.delete(this);
  }
}

function describe({ id }: Pick<AgentClaim, "id">): string {
  return id === undefined ? "another session" : `the session "${id}"`;
}
