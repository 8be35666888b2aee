/**
 * The queues of a session, from which runs that overlap take messages and to which they add others.
 *
 * @module
 */

import type { Agent } from "../../agent/agent.ts";
import type { QueuedMessage, QueuedMessages } from "../../core/events/event.ts";
import { repairHistory } from "../../core/messages/history.ts";
import type { AgentMessage } from "../../core/messages/message.ts";
import { findQueued, QUEUE_ENTRIES } from "../../core/sessions/queued_messages.ts";
import type { Session } from "../../core/sessions/session.ts";

/** How a run has changed the queues of its session. */
export interface QueueChange {
  /** The messages that it has added. */
  readonly added: QueuedMessages;
  /** Ids of those that it has delivered or removed. */
  readonly removed: ReadonlySet<string>;
}

/** Finds the changes of the queues between the saves of a run. */
export class SessionQueue {
  readonly #agent: Agent;
  /** The ids in the session of the messages that the agent has taken from it, by those in the agent. */
  readonly #takenIds = new Map<string, string>();
  /** The ids of the messages that the session had when it was opened or saved by this run. */
  #storedIds: ReadonlySet<string> = new Set();

  /** Queues the messages of the session in the agent, apart from those that it cannot have. */
  constructor(agent: Agent, queued: QueuedMessages) {
    this.#agent = agent;
    const take = (messages: readonly QueuedMessage[], queue: (message: AgentMessage) => string) => {
      for (const { id, message } of messages) {
        if (isUsable(message)) this.#takenIds.set(queue(message), id);
      }
    };
    take(queued.steering, (message) => agent.steer(message).id);
    take(queued.followUp, (message) => agent.followUp(message).id);
    this.#storedIds = listIds(queued);
  }

  /** Returns the change since the last call; `undefined` if the queues are empty and were it before. */
  takeChange(): QueueChange | undefined {
    const { steering, followUp } = this.#agent.queued;
    const queued = {
      steering: steering.map(this.#toStored),
      followUp: followUp.map(this.#toStored),
    };
    const stored = this.#storedIds;
    const ids = listIds(queued);
    this.#storedIds = ids;
    if (ids.size + stored.size === 0) return undefined;
    const isAdded = ({ id }: QueuedMessage) => !stored.has(id);
    return {
      added: {
        steering: queued.steering.filter(isAdded),
        followUp: queued.followUp.filter(isAdded),
      },
      removed: new Set([...stored].filter((id) => !ids.has(id))),
    };
  }

  readonly #toStored = ({ id, message }: QueuedMessage): QueuedMessage => ({
    id: this.#takenIds.get(id) ?? id,
    message,
  });
}

/** Applies the change of a run to the queues of its session, which other runs may have changed too. */
function applyQueueChange(
  { steering, followUp }: QueuedMessages,
  { added, removed }: QueueChange,
): QueuedMessages {
  const ids = listIds({ steering, followUp });
  const isLeft = ({ id }: QueuedMessage) => !removed.has(id);
  const isNew = ({ id }: QueuedMessage) => !ids.has(id);
  return {
    steering: [...steering.filter(isLeft), ...added.steering.filter(isNew)],
    followUp: [...followUp.filter(isLeft), ...added.followUp.filter(isNew)],
  };
}

/** Whether stored queues have a change already. */
export function hasQueueChange(queued: QueuedMessages, { added, removed }: QueueChange): boolean {
  const ids = listIds(queued);
  return [...listIds(added)].every((id) => ids.has(id)) && [...removed].every((id) => !ids.has(id));
}

/** Appends a change to the queues that a session has now. */
export async function appendQueueChange(session: Session, change: QueueChange): Promise<void> {
  const entries = await session.path({ types: QUEUE_ENTRIES });
  const queued = applyQueueChange(findQueued(entries), change);
  session.append({ type: "queue_changed", queued });
}

function isUsable(message: AgentMessage): boolean {
  return repairHistory([message]).messages.length > 0;
}

function listIds({ steering, followUp }: QueuedMessages): ReadonlySet<string> {
  return new Set([...steering, ...followUp].map(({ id }) => id));
}
