/**
 * The shapes of a proxy's events.
 *
 * @module
 */

import {
  amount,
  anything,
  count,
  fields,
  flag,
  number,
  type Shape,
  table,
  text,
  word,
} from "./shape.ts";

/** Tokens or money; what is not told counts as nothing. */
const AMOUNTS = fields({}, {
  input: amount,
  output: amount,
  cacheRead: amount,
  cacheWrite: amount,
  total: amount,
  extra: table(amount),
});

const ERROR = fields({ code: text, message: text }, {
  retryable: flag,
  status: number,
  retryAfterMs: number,
  provider: text,
  requestId: text,
});

const BLOCK_START = fields({ contentIndex: count });
const BLOCK_DELTA = fields({ contentIndex: count, delta: text });
const BLOCK_END = fields({ contentIndex: count }, { signature: text, redacted: flag });

/** The events by type. */
export const EVENT_SHAPES: Readonly<Record<string, Shape>> = {
  start: anything,
  text_start: BLOCK_START,
  text_delta: BLOCK_DELTA,
  text_end: BLOCK_END,
  thinking_start: BLOCK_START,
  thinking_delta: BLOCK_DELTA,
  thinking_end: BLOCK_END,
  tool_call_start: fields({ contentIndex: count, id: text, name: text }),
  tool_call_delta: BLOCK_DELTA,
  tool_call_end: BLOCK_END,
  extension: fields({ contentIndex: count, typeName: text }),
  warning: fields({ code: text, message: text }),
  done: fields({ stopReason: word("stop", "length", "tool_use"), usage: AMOUNTS }, {
    cost: AMOUNTS,
  }),
  error: fields({ error: ERROR }, { usage: AMOUNTS }),
};
