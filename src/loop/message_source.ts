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

/** A source of messages that are given once. */
export function oneBatch(messages: readonly AgentMessage[]): MessageSource {
  let waiting = messages;
  return {
    peek: () => waiting,
    take: () => {
      const taken = waiting;
      waiting = [];
      return taken;
    },
  };
}
