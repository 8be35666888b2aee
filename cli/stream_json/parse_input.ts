/**
 * Parses lines of input.
 *
 * @module
 */

import { ajvValidator, type CompiledSchema } from "../../src/core/schema.ts";
import type { InputMessage } from "./input_message.ts";
import { getMessageSchema, INPUT_TYPES } from "./input_schema.ts";

/** A line as a message, or the reason why it is none, as a sentence without a full stop. */
export type ParsedInput =
  | { readonly type: "message"; readonly message: InputMessage }
  | { readonly type: "invalid"; readonly reason: string };

const compiled = new Map<unknown, CompiledSchema>();

/** Parses a line. */
export async function parseInput(line: Uint8Array): Promise<ParsedInput> {
  const value = parseJson(line);
  if (typeof value !== "object" || value === null) {
    return invalid('the line is no JSON object, such as {"type":"prompt","text":"Hello"}');
  }
  const { type } = value as { readonly type?: unknown };
  const schema = getMessageSchema(type);
  if (!schema) {
    return invalid(`type must be one of ${INPUT_TYPES.join(", ")}, not ${JSON.stringify(type)}`);
  }
  const validate = compiled.get(type) ?? await ajvValidator(schema);
  compiled.set(type, validate);
  const [error] = validate(value);
  if (error) {
    const place = error.path.slice(1).replaceAll("/", ".");
    return invalid(`${place === "" ? String(type) : place} ${error.message}`);
  }
  return { type: "message", message: value as InputMessage };
}

function parseJson(line: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(line));
  } catch {
    return undefined;
  }
}

function invalid(reason: string): ParsedInput {
  return { type: "invalid", reason };
}
