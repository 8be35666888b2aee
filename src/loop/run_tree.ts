/**
 * The agents that run below one run of a host.
 *
 * @module
 */

/** Limits on the agents below a run. */
export interface TreeLimits {
  /** Maximum number of runs above an agent. */
  readonly maxDepth: number;
  /** Maximum number of agents that are started below the run of the host. */
  readonly maxAgents: number;
}

/** The limits of agents whose tool has none: beyond what is useful, so that a recursion ends. */
export const DEFAULT_LIMITS: TreeLimits = { maxDepth: 8, maxAgents: 1000 };

/** Counts the agents below one run of a host. */
export class RunTree {
  #started = 0;

  /** Returns the reason why no agent may be started below a run; `undefined` if one may. */
  findExcess(depth: number, { maxDepth, maxAgents }: TreeLimits): string | undefined {
    if (depth >= maxDepth) return `agents may be nested ${maxDepth} deep`;
    if (this.#started >= maxAgents) return `at most ${maxAgents} agents may be started`;
    return undefined;
  }

  /** Counts an agent that is started. */
  add(): void {
    this.#started++;
  }
}
