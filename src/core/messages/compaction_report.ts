/**
 * The report of a compaction.
 *
 * @module
 */

import type { Cost, Usage } from "../models/usage.ts";
import type { LlmMessage } from "./message.ts";

/** Result of a compaction, reported by the `context_compacted` event. */
export interface CompactionReport {
  /** Number of messages that the request omits. */
  readonly droppedCount: number;
  /** Estimated tokens of the messages before the compaction. */
  readonly tokensBefore: number;
  /** Estimated tokens of the messages after the compaction. */
  readonly tokensAfter: number;
  /** The omitted messages, without custom messages. */
  readonly droppedMessages?: readonly LlmMessage[] | undefined;
  /** The summary that replaces the omitted messages, if one was written. */
  readonly summary?: string | undefined;
  /** The reason why a requested summary was not written. */
  readonly problem?: string | undefined;
  /** Token counts of the summary's model call, included in the usage of the run. */
  readonly usage?: Usage | undefined;
  /** Cost of the summary's model call, included in the cost of the run. */
  readonly cost?: Cost | undefined;
}
