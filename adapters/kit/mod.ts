/**
 * The parts that adapters are built from.
 *
 * @module
 */

export {
  type BlockEndOptions,
  BlockWriter,
  type FinishedReply,
} from "../../src/core/block_writer.ts";
export {
  type AccumulatedReply,
  type ArgumentsState,
  type FinishedCall,
  ReplyAccumulator,
} from "../../src/core/accumulate.ts";
export type {
  BlockDeltaEvent,
  BlockEndEvent,
  BlockStartEvent,
  ExtensionEvent,
  StreamDoneEvent,
  StreamErrorEvent,
  StreamStartEvent,
  StreamWarningEvent,
  ToolCallStartEvent,
} from "../../src/core/stream.ts";
