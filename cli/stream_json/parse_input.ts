/**
 * Parses lines of input.
 *
 * @module
 */

import type { ApprovalDecision } from "../../mod.ts";
import { findLostDigits, findParsedProblem } from "../../src/core/json/parsed_problem.ts";
import { ajvValidator, type CompiledSchema } from "../../src/core/schemas/schema.ts";
import type { InputMessage } from "./input_message.ts";
import { getMessageSchema, INPUT_TYPES } from "./input_schema.ts";

/** A line as a message, or the reason why it is none, as a sentence without a full stop. */
export type ParsedInput =
  | { readonly type: "message"; readonly message: InputMessage }
  | { readonly type: "invalid"; readonly reason: string };

const compiled = new Map<unknown, CompiledSchema>();

/** Parses a line. */
export async function parseInput(line: Uint8Array): Promise<ParsedInput> {
  const text = decode(line);
  const value = parseJson(text);
  if (typeof value !== "object" || value === null) {
    return createInvalid('the line is no JSON object, such as {"type":"prompt","text":"Hello"}');
  }
  const { type } = value as { readonly type?: unknown };
  const schema = getMessageSchema(type);
  if (!schema) {
    return createInvalid(
      `type must be one of ${INPUT_TYPES.join(", ")}, not ${JSON.stringify(type)}`,
    );
  }
  const validate = compiled.get(type) ?? await ajvValidator(schema);
  compiled.set(type, validate);
  const [error] = validate(value);
  if (error) {
    const place = error.path.slice(1).replaceAll("/", ".");
    return createInvalid(`${place === "" ? String(type) : place} ${error.message}`);
  }
  const message = value as InputMessage;
  const problem = findProblem(message, text);
  return problem === undefined ? { type: "message", message } : createInvalid(problem);
}

/** Returns why a message of the right form cannot be used. */
function findProblem(message: InputMessage, text: string): string | undefined {
  switch (message.type) {
    case "approval":
      return findDecisionProblem(message.decision, text);
    case "prompt": {
      const invalid = message.images?.findIndex(({ data }) => !isBase64(data)) ?? -1;
      return invalid < 0 ? undefined : `images.${invalid}.data must be the bytes in Base64`;
    }
    default:
      return undefined;
  }
}

/** Whether a text is Base64. A provider rejects any other one, also in every later request of the session. */
function isBase64(data: string): boolean {
  const bytes = data.replace(/={1,2}$/, "");
  return bytes !== "" && data.length % 4 === 0 && !/[^A-Za-z0-9+/]/.test(bytes);
}

/** Returns why a call must not run with the arguments of a decision: they would be others than those that were written. */
function findDecisionProblem(decision: ApprovalDecision, text: string): string | undefined {
  const value = findParsedProblem(decision);
  if (value !== undefined) return `decision.arguments are ${value}`;
  const digits = findLostDigits(text);
  return digits && `decision.arguments: ${digits}`;
}

/** Returns the text of a line; an empty one if it is not UTF-8. */
function decode(line: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(line);
  } catch {
    return "";
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function createInvalid(reason: string): ParsedInput {
  return { type: "invalid", reason };
}
