/**
 * The agents that have the tools of servers.
 *
 * @module
 */

import type { Agent } from "../../agent/agent.ts";
import { isAgent } from "../../agent/is_agent.ts";

/** The part of an agent that its tools need. */
export type AttachedAgent = Pick<Agent, "state" | "setTools">;

/** Updates the tools of an agent. */
type UpdateTools = () => void;

/**
 * The agents that have the tools of servers, and how their tools are updated. A server of a program often outlives many
 * agents, which are therefore held weakly. Of another object with the same methods, its program may keep no reference.
 */
export class AttachedAgents {
  readonly #updates = new WeakMap<AttachedAgent, Set<UpdateTools>>();
  readonly #agents = new Set<WeakRef<AttachedAgent>>();
  readonly #others = new Set<AttachedAgent>();
  readonly #collected = new FinalizationRegistry<WeakRef<AttachedAgent>>((reference) => {
    this.#agents.delete(reference);
  });

  /** Adds an update for an agent; returns a function that removes it. */
  add(agent: AttachedAgent, update: UpdateTools): () => void {
    const updates = this.#updates.get(agent) ?? this.#register(agent);
    updates.add(update);
    if (!isAgent(agent)) this.#others.add(agent);
    return () => {
      updates.delete(update);
      if (updates.size === 0) this.#others.delete(agent);
    };
  }

  #register(agent: AttachedAgent): Set<UpdateTools> {
    const updates = new Set<UpdateTools>();
    const reference = new WeakRef(agent);
    this.#updates.set(agent, updates);
    this.#agents.add(reference);
    this.#collected.register(agent, reference);
    return updates;
  }

  /** Returns the updates of the agents that still exist. */
  list(): readonly UpdateTools[] {
    return [...this.#agents].flatMap((reference) => {
      const agent = reference.deref();
      return agent ? [...this.#updates.get(agent) ?? []] : [];
    });
  }

  /** Removes all agents. */
  clear(): void {
    this.#agents.clear();
    this.#others.clear();
  }
}
