/**
 * The JSON Schemas of the messages of a program that drives a run.
 *
 * @module
 */

import type { JsonSchema } from "../../mod.ts";
import type { InputMessage } from "./input_message.ts";

const TEXT = { type: "string", minLength: 1 } as const;

const DECISION = {
  description: "approved, or denied with a reason for the model.",
  oneOf: [
    {
      type: "object",
      properties: {
        type: { const: "approved" },
        scope: {
          description: "once, every call of the tool, or every call that begins with prefix.",
          enum: ["once", "tool", "prefix"],
        },
        prefix: { type: "string" },
        arguments: { description: "Arguments to run instead.", type: "object" },
      },
      required: ["type"],
      additionalProperties: false,
    },
    {
      type: "object",
      properties: { type: { const: "denied" }, reason: { type: "string" } },
      required: ["type"],
      additionalProperties: false,
    },
  ],
} as const;

const IMAGE = {
  type: "object",
  properties: {
    mediaType: { type: "string", pattern: "^image/" },
    data: { type: "string", contentEncoding: "base64" },
  },
  required: ["mediaType", "data"],
  additionalProperties: false,
} as const;

const TEXT_ONLY = { properties: { text: TEXT }, required: ["text"] } as const;

/** The members of each type of message. */
const MEMBERS: Readonly<Record<InputMessage["type"], MemberSchema>> = {
  prompt: {
    properties: { text: TEXT, images: { type: "array", items: IMAGE } },
    required: ["text"],
  },
  steer: TEXT_ONLY,
  follow_up: TEXT_ONLY,
  interrupt: { properties: {}, required: [] },
  approval: {
    properties: { toolCallId: TEXT, decision: DECISION },
    required: ["toolCallId", "decision"],
  },
};

interface MemberSchema {
  readonly properties: Readonly<Record<string, object>>;
  readonly required: readonly string[];
}

/** The types of messages. */
export const INPUT_TYPES: readonly string[] = Object.keys(MEMBERS);

/** Returns the schema of the messages of a type; `undefined` for an unknown type. */
export function getMessageSchema(type: unknown): JsonSchema | undefined {
  if (!INPUT_TYPES.some((known) => known === type)) return undefined;
  const { properties, required } = MEMBERS[type as InputMessage["type"]];
  return {
    type: "object",
    properties: { type: { const: type }, ...properties },
    required: ["type", ...required],
    additionalProperties: false,
  };
}

/** Creates the schema of a line, in the dialect of 2020-12. */
export function createInputSchema(): JsonSchema {
  return {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    title: "Input of swink run --input-format stream-json",
    description: "One line of JSON per message.",
    oneOf: INPUT_TYPES.map(getMessageSchema),
  };
}
