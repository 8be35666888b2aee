/**
 * Forms in which Google accepts parts of earlier replies.
 *
 * @module
 */

import { isJsonObject } from "../../src/core/json/json.ts";
import { isUsualBase64 } from "../kit/request/base64_text.ts";
import {
  BOOLEAN_SHAPE,
  type MemberShapes,
  OBJECT_SHAPE,
  objectShape,
  optionalShape,
  type Shape,
  TEXT_SHAPE,
} from "../kit/request/item_shapes.ts";
import type { ReplayRules } from "../kit/request/replay_rules.ts";
import { GOOGLE_PART, type WirePart } from "./wire.ts";

const BASE64: Shape = (value) => typeof value === "string" && isUsualBase64(value);

/** Kinds of content that are sent back; calls of tools are not, since their results would be missing. */
const CONTENT: MemberShapes = {
  inlineData: objectShape({ mimeType: TEXT_SHAPE, data: BASE64 }),
  fileData: objectShape({ fileUri: TEXT_SHAPE, mimeType: optionalShape(TEXT_SHAPE) }),
  executableCode: objectShape({
    code: TEXT_SHAPE,
    language: optionalShape(TEXT_SHAPE),
    id: optionalShape(TEXT_SHAPE),
  }),
  codeExecutionResult: objectShape({
    outcome: TEXT_SHAPE,
    output: optionalShape(TEXT_SHAPE),
    id: optionalShape(TEXT_SHAPE),
  }),
  toolCall: objectShape({
    id: optionalShape(TEXT_SHAPE),
    toolType: optionalShape(TEXT_SHAPE),
    args: optionalShape(OBJECT_SHAPE),
  }),
  toolResponse: objectShape({
    id: optionalShape(TEXT_SHAPE),
    toolType: optionalShape(TEXT_SHAPE),
    response: optionalShape(OBJECT_SHAPE),
  }),
  audioTranscription: OBJECT_SHAPE,
};

/** Other members of a part. Google rejects a conversation with members that it does not know. */
const OTHERS: MemberShapes = {
  text: TEXT_SHAPE,
  thought: BOOLEAN_SHAPE,
  thoughtSignature: BASE64,
  videoMetadata: OBJECT_SHAPE,
  mediaResolution: OBJECT_SHAPE,
  partMetadata: OBJECT_SHAPE,
  mediaProcessing: OBJECT_SHAPE,
  speechMetadata: OBJECT_SHAPE,
};

const MEMBERS: MemberShapes = { ...CONTENT, ...OTHERS };

/** Whether a value has the form of a part that the reader stored. */
export function isReplayedPart(data: unknown): data is WirePart {
  if (!isJsonObject(data)) return false;
  const members = Object.entries(data).filter(([, value]) => value !== undefined);
  return members.some(([name]) => Object.hasOwn(CONTENT, name)) &&
    members.every(([name, value]) => Object.hasOwn(MEMBERS, name) && MEMBERS[name]?.(value));
}

/** Forms of items and signatures. Google decodes signatures, and rejects those that are no base64. */
export const GOOGLE_REPLAY: ReplayRules = {
  isItem: ({ typeName, data }) => typeName === GOOGLE_PART && isReplayedPart(data),
  isSignature: isUsualBase64,
};
