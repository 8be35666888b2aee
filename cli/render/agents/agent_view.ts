/**
 * A sub-agent as it is shown.
 *
 * @module
 */

import type { Cost, Usage } from "../../../mod.ts";

/** State of an agent. */
export type AgentStatus = "running" | "completed" | "failed" | "cancelled";

/** An agent with the agents that it has started. */
export interface AgentView {
  /** Number in the conversation, from 1, for `/agents N`. */
  readonly number: number;
  /** Name of the agent or of the tool that runs it. */
  readonly name: string;
  /** Its task in one line, or what it does at the moment, such as `bash deno test`. */
  readonly activity: string;
  /** Its state. */
  readonly status: AgentStatus;
  /** Number of turns so far. */
  readonly turns: number;
  /** Tokens so far. */
  readonly usage: Usage;
  /** Cost so far. */
  readonly cost: Cost;
  /** Start, in milliseconds since the epoch. */
  readonly startedAt: number;
  /** End, in milliseconds since the epoch; missing while the agent runs. */
  readonly endedAt?: number | undefined;
  /** The agents that it has started. */
  readonly children: readonly AgentView[];
}
