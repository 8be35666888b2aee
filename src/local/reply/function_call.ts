/**
 * Reads tool calls in the format of Qwen3-Coder: `<function=NAME>` with a tag for each parameter.
 *
 * @module
 */

import { isJsonObject, type JsonObject, type JsonSchema } from "../../core/json/json.ts";
import type { ToolSpec } from "../../core/streams/stream.ts";

/** A call that was read. */
export interface FunctionCall {
  readonly name: string;
  readonly arguments: JsonObject;
}

/** The text before a call, which its name follows. */
export const FUNCTION_OPEN = "<function=";
/** The text after a call. */
export const FUNCTION_CLOSE = "</function>";

const PARAMETER_OPEN = "<parameter=";
const PARAMETER_CLOSE = "</parameter>";
const NAME = /^\s*([^\s<>]+)\s*>/;

/** Whether a text ends within a parameter, whose value may contain the text after a call. */
export function isInParameter(text: string): boolean {
  return text.lastIndexOf(PARAMETER_OPEN) > text.lastIndexOf(PARAMETER_CLOSE);
}

/** Whether a text has a complete parameter at its end. */
export function hasParameter(text: string): boolean {
  return text.includes(PARAMETER_OPEN) && !isInParameter(text);
}

/** Returns the tool of a call, whose text begins with its name. */
export function findCalledTool(text: string, tools: readonly ToolSpec[]): ToolSpec | undefined {
  const name = NAME.exec(text)?.[1];
  return tools.find((tool) => tool.name === name);
}

/** Parses the text between `<function=` and `</function>`; `undefined` if it is no call of one of the tools. */
export function parseFunctionCall(
  text: string,
  tools: readonly ToolSpec[],
): FunctionCall | undefined {
  const tool = findCalledTool(text, tools);
  if (!tool) return undefined;
  const [, ...parts] = text.split(PARAMETER_OPEN);
  const parameters = isJsonObject(tool.parameters.properties) ? tool.parameters.properties : {};
  const members = parts.map((part): [string, unknown] | undefined => {
    const [start = "", name = ""] = NAME.exec(part) ?? [];
    if (name === "") return undefined;
    const end = part.lastIndexOf(PARAMETER_CLOSE);
    const value = part.slice(start.length, end < 0 ? undefined : end);
    return [name, toValue(removeLineBreaks(value), parameters[name])];
  });
  if (!members.every((member) => member !== undefined)) return undefined;
  return { name: tool.name, arguments: Object.fromEntries(members) };
}

/** Removes the line breaks after the tag before a value and before the one after it. */
function removeLineBreaks(value: string): string {
  return value.replace(/^\r?\n/, "").replace(/\r?\n$/, "");
}

/** Texts have no quotes; other values are JSON, or literals of Python. */
function toValue(text: string, schema: unknown): unknown {
  if (acceptsText(schema)) return text;
  const literal = LITERALS.get(text.trim());
  if (literal !== undefined) return literal;
  try {
    return JSON.parse(text);
  } catch {
    // The validation of the arguments reports it.
    return text;
  }
}

const LITERALS: ReadonlyMap<string, boolean | null> = new Map([
  ["True", true],
  ["False", false],
  ["None", null],
]);

/** Whether a text is a value of a schema. */
function acceptsText(schema: unknown): boolean {
  if (!isJsonObject(schema)) return false;
  const { type, enum: values, anyOf, oneOf }: JsonSchema = schema;
  if (type === "string" || Array.isArray(type) && type.includes("string")) return true;
  const list = (value: unknown) => Array.isArray(value) ? value : [];
  return list(values).some((value) => typeof value === "string") ||
    typeof schema.const === "string" ||
    [...list(anyOf), ...list(oneOf)].some(acceptsText);
}
