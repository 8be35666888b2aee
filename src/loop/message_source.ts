/**
 * Where messages come from while a run goes on.
 *
 * @module
 */

import type { AgentMessage } from "../core/message.ts";

/** Messages that wait for the run: steering or follow-ups. */
export interface MessageSource {
  /** What {@linkcode take} would give now. */
  peek(): readonly AgentMessage[];
  /** Takes the next messages out; empty when none wait. */
  take(): readonly AgentMessage[];
  /** Tells `listener` whenever a message arrives; returns how to stop. */
  onArrival?(listener: () => void): () => void;
}

/** What a turn begins with: messages of the run's own, and a queue from which the next are taken. */
export interface TurnInput {
  /** Messages that are said whatever happens. */
  readonly messages: readonly AgentMessage[];
  /** Messages that stay where they are when the run is aborted before they are taken. */
  readonly queue?: MessageSource;
}
