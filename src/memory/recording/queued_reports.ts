/**
 * The reports of sub-agents that are queued for the agent that started them.
 *
 * @module
 */

import type { Agent } from "../../agent/agent.ts";
import type { AgentEvent } from "../../core/events/event.ts";

/** Queues reports, and finds out when the recording of the agent has recorded them. */
export class QueuedReports {
  readonly #agent: Agent;
  /** Ids of the messages of the queues when they were recorded last. */
  #recorded: ReadonlySet<string> = new Set();
  readonly #waiting = new Map<string, () => void>();
  #unsubscribe: (() => void) | undefined;

  /** Creates the reports for an agent. */
  constructor(agent: Agent) {
    this.#agent = agent;
  }

  /** Watches the queues; must be called when the recording has subscribed, whose listener is then called first. */
  start(): void {
    this.#unsubscribe ??= this.#agent.subscribe((event) => this.#onEvent(event));
  }

  /** Ends the watch; what was queued and not recorded is no longer waited for. */
  stop(): void {
    this.#unsubscribe?.();
    for (const resolve of this.#waiting.values()) resolve();
    this.#waiting.clear();
  }

  /**
   * Queues a report: as a follow-up, for which a run continues, or else as a steering message, which the next run gets with
   * its prompt. Resolves when the queue is recorded; returns `undefined` if it is.
   */
  add(report: string): Promise<void> | undefined {
    const agent = this.#agent;
    const { id } = agent.state.isRunning ? agent.followUp(report) : agent.steer(report);
    // The event is delayed while listeners handle another one.
    if (this.#recorded.has(id)) return undefined;
    return new Promise((resolve) => this.#waiting.set(id, resolve));
  }

  #onEvent(event: AgentEvent): void {
    if (event.type !== "queue_changed") return;
    const { steering, followUp } = event.queued;
    this.#recorded = new Set([...steering, ...followUp].map(({ id }) => id));
    for (const id of this.#recorded) {
      this.#waiting.get(id)?.();
      this.#waiting.delete(id);
    }
  }
}
