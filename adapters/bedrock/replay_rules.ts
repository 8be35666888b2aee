/**
 * Forms in which Bedrock accepts parts of earlier replies.
 *
 * @module
 */

import { isJsonObject, type JsonObject } from "../../src/core/json/json.ts";
import { isUsualBase64 } from "../kit/request/base64_text.ts";
import {
  listShape,
  OBJECT_SHAPE,
  objectShape,
  optionalShape,
  patternShape,
  type Shape,
  TEXT_SHAPE,
} from "../kit/request/item_shapes.ts";
import type { ReplayRules } from "../kit/request/replay_rules.ts";
import { EXTENSION_PREFIX } from "./wire.ts";

const ID = patternShape(/^[A-Za-z0-9_.:-]+$/);
const BASE64: Shape = (value) => typeof value === "string" && isUsualBase64(value);

/** Content of results, each with one of these members. */
const RESULT_CONTENT: Readonly<Record<string, Shape>> = {
  text: TEXT_SHAPE,
  json: (value) => value !== undefined && value !== null,
  image: objectShape({ format: TEXT_SHAPE, source: OBJECT_SHAPE }),
  document: objectShape({ name: TEXT_SHAPE, source: OBJECT_SHAPE }),
  video: objectShape({ format: TEXT_SHAPE, source: OBJECT_SHAPE }),
  searchResult: OBJECT_SHAPE,
};

const isResultContent: Shape = (value) => hasOneMember(value, RESULT_CONTENT);

/** Items by the kind in their type. */
const ITEMS: Readonly<Record<string, Readonly<Record<string, Shape>>>> = {
  [`${EXTENSION_PREFIX}tool_use`]: {
    toolUse: objectShape({
      toolUseId: ID,
      name: TEXT_SHAPE,
      input: OBJECT_SHAPE,
      type: optionalShape(TEXT_SHAPE),
    }),
  },
  [`${EXTENSION_PREFIX}tool_result`]: {
    toolResult: objectShape({
      toolUseId: ID,
      content: listShape(isResultContent),
      status: optionalShape(patternShape(/^(?:success|error)$/)),
      type: optionalShape(TEXT_SHAPE),
    }),
  },
  [`${EXTENSION_PREFIX}image`]: {
    image: objectShape({ format: TEXT_SHAPE, source: objectShape({ bytes: BASE64 }) }),
  },
};

/** Whether a value is an object with exactly one member, which has a known name and its shape. */
function hasOneMember(value: unknown, members: Readonly<Record<string, Shape>>): boolean {
  const [entry, ...others] = isJsonObject(value) ? Object.entries(value) : [];
  if (!entry || others.length > 0) return false;
  const [name, member] = entry;
  return Object.hasOwn(members, name) && (members[name]?.(member) ?? false);
}

/** Whether a value has the form of an item that the reader stored; the API rejects a conversation with others. */
export function isReplayedItem(typeName: string, data: unknown): data is JsonObject {
  const members = Object.hasOwn(ITEMS, typeName) ? ITEMS[typeName] : undefined;
  return members !== undefined && hasOneMember(data, members);
}

/** Forms of items and signatures: redacted thinking is base64, and that of readable thinking is opaque. */
export const BEDROCK_REPLAY: ReplayRules = {
  isItem: ({ typeName, data }) => isReplayedItem(typeName, data),
  isSignature: (signature, block) => {
    if (block.type !== "thinking") return false;
    return !block.redacted || isUsualBase64(signature);
  },
};
