/**
 * The shapes of a proxy's events.
 *
 * @module
 */

import {
  anyValue,
  boolean,
  nonNegativeInteger,
  nonNegativeNumber,
  number,
  objectWith,
  oneOf,
  record,
  string,
  type Validator,
} from "./validators.ts";

/** Tokens or money; what is not told counts as nothing. */
const USAGE_OR_COST = objectWith({}, {
  input: nonNegativeNumber,
  output: nonNegativeNumber,
  cacheRead: nonNegativeNumber,
  cacheWrite: nonNegativeNumber,
  total: nonNegativeNumber,
  extra: record(nonNegativeNumber),
});

const ERROR = objectWith({ code: string, message: string }, {
  retryable: boolean,
  status: number,
  retryAfterMs: number,
  provider: string,
  requestId: string,
});

const BLOCK_START = objectWith({ contentIndex: nonNegativeInteger });
const BLOCK_DELTA = objectWith({ contentIndex: nonNegativeInteger, delta: string });
const BLOCK_END = objectWith({ contentIndex: nonNegativeInteger }, {
  signature: string,
  redacted: boolean,
});

/** The events by type. */
export const EVENT_VALIDATORS: Readonly<Record<string, Validator>> = {
  start: anyValue,
  text_start: BLOCK_START,
  text_delta: BLOCK_DELTA,
  text_end: BLOCK_END,
  thinking_start: BLOCK_START,
  thinking_delta: BLOCK_DELTA,
  thinking_end: BLOCK_END,
  tool_call_start: objectWith({ contentIndex: nonNegativeInteger, id: string, name: string }),
  tool_call_delta: BLOCK_DELTA,
  tool_call_end: BLOCK_END,
  extension: objectWith({ contentIndex: nonNegativeInteger, typeName: string }),
  warning: objectWith({ code: string, message: string }),
  done: objectWith({ stopReason: oneOf("stop", "length", "tool_use"), usage: USAGE_OR_COST }, {
    cost: USAGE_OR_COST,
  }),
  error: objectWith({ error: ERROR }, { usage: USAGE_OR_COST }),
};
