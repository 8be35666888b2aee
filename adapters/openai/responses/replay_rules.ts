/**
 * Forms in which the Responses API accepts parts of earlier replies.
 *
 * @module
 */

import type { JsonObject } from "../../../src/core/json/json.ts";
import {
  listShape,
  OBJECT_SHAPE,
  objectShape,
  optionalShape,
  patternShape,
  TEXT_SHAPE,
  TYPED_OBJECT_SHAPE,
  typedShape,
} from "../../kit/request/item_shapes.ts";
import type { ReplayRules } from "../../kit/request/replay_rules.ts";
import { isReasoningDetails } from "../chat/replay_rules.ts";
import { REASONING_DETAILS } from "../chat/wire.ts";
import { ITEM_PREFIX } from "./wire.ts";

const ID = { id: optionalShape(TEXT_SHAPE) };
/** States of items that have ended. The API rejects others, as in a reply that was cut off. */
const STATUS = optionalShape(patternShape(/^(?:completed|failed)$/));

/** Items that are sent back. Other items require an output that the adapter does not have. */
const isItem = typedShape({
  reasoning: {
    ...ID,
    summary: optionalShape(listShape(typedShape({ summary_text: { text: TEXT_SHAPE } }))),
    content: optionalShape(listShape(typedShape({ reasoning_text: { text: TEXT_SHAPE } }))),
    encrypted_content: optionalShape(TEXT_SHAPE),
  },
  compaction: { ...ID, encrypted_content: TEXT_SHAPE },
  web_search_call: { ...ID, status: STATUS, action: optionalShape(TYPED_OBJECT_SHAPE) },
  file_search_call: {
    ...ID,
    status: STATUS,
    queries: listShape(TEXT_SHAPE),
    results: optionalShape(listShape(OBJECT_SHAPE)),
  },
  code_interpreter_call: {
    ...ID,
    status: STATUS,
    code: optionalShape(TEXT_SHAPE),
    container_id: TEXT_SHAPE,
    outputs: optionalShape(listShape(TYPED_OBJECT_SHAPE)),
  },
  image_generation_call: { ...ID, status: STATUS, result: optionalShape(TEXT_SHAPE) },
  mcp_list_tools: {
    ...ID,
    server_label: TEXT_SHAPE,
    tools: listShape(
      objectShape({
        name: TEXT_SHAPE,
        input_schema: OBJECT_SHAPE,
        description: optionalShape(TEXT_SHAPE),
      }),
    ),
  },
  mcp_call: {
    ...ID,
    status: STATUS,
    name: TEXT_SHAPE,
    arguments: TEXT_SHAPE,
    server_label: TEXT_SHAPE,
    output: optionalShape(TEXT_SHAPE),
  },
});

/** Whether a value is an item that is sent back. */
export function isReplayedItem(typeName: string, data: unknown): data is JsonObject {
  return isItem(data) && typeName === ITEM_PREFIX + (data as { readonly type: string }).type;
}

/** Matches the phases of messages, which are the signatures of text. */
export const PHASE = /^(?:commentary|final_answer)$/;

/** Forms of items and signatures. */
export const RESPONSES_REPLAY: ReplayRules = {
  isItem: ({ typeName, data }) =>
    typeName === REASONING_DETAILS ? isReasoningDetails(data) : isReplayedItem(typeName, data),
  isSignature: (signature, { type }) => type !== "text" || PHASE.test(signature),
};
