/**
 * Forms in which chat completions accept parts of earlier replies.
 *
 * @module
 */

import type { JsonObject } from "../../../src/core/json/json.ts";
import {
  listShape,
  NUMBER_SHAPE,
  objectShape,
  optionalShape,
  TEXT_SHAPE,
} from "../../kit/request/item_shapes.ts";
import type { ReplayRules } from "../../kit/request/replay_rules.ts";
import { REASONING_DETAILS } from "./wire.ts";

const isList = listShape(
  objectShape({
    type: TEXT_SHAPE,
    id: optionalShape(TEXT_SHAPE),
    format: optionalShape(TEXT_SHAPE),
    index: optionalShape(NUMBER_SHAPE),
    text: optionalShape(TEXT_SHAPE),
    summary: optionalShape(TEXT_SHAPE),
    data: optionalShape(TEXT_SHAPE),
    signature: optionalShape(TEXT_SHAPE),
  }),
);

/** Whether a value is a list of reasoning details; servers reject others. */
export function isReasoningDetails(data: unknown): data is readonly JsonObject[] {
  return Array.isArray(data) && data.length > 0 && isList(data);
}

/** Type of the reasoning of the Responses API, which the same model may have sent; chat completions do not need it. */
const RESPONSES_REASONING = "openai.reasoning";

/** Forms of items. Signatures of text belong to the Responses API, and are not sent. */
export const CHAT_REPLAY: ReplayRules = {
  isItem: ({ typeName, data }) =>
    typeName === REASONING_DETAILS ? isReasoningDetails(data) : typeName === RESPONSES_REASONING,
};
