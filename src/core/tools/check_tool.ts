/**
 * Checks the definitions of tools.
 *
 * @module
 */

import { RISK_CLASSES, type RiskClass } from "../approval/risk.ts";
import { checkMisspellings } from "../checks/check_names.ts";
import { createValueError } from "../checks/check_object.ts";
import { describeValue } from "../errors/describe_value.ts";
import { BadRequestError } from "../errors/errors.ts";
import { isJsonObject, type JsonObject } from "../json/json.ts";
import { isLibrarySchema } from "../json_schema/library_schema.ts";

/** The names that providers accept. */
const TOOL_NAME = /^[a-zA-Z0-9_-]{1,64}$/;

type PropertyCheck = readonly [expectation: string, isValid: (value: unknown) => boolean];

const isOptional = (...types: readonly string[]) => (value: unknown): boolean =>
  value === undefined || types.includes(typeof value);

const optionalFunction: PropertyCheck = ["a function", isOptional("function")];
const optionalBoolean: PropertyCheck = ["true or false", isOptional("boolean")];
const unchecked: PropertyCheck = ["", () => true];

/**
 * The properties of a tool, with what each of them must be. A tool may have any other properties, but none with almost
 * the name of one of these.
 */
const PROPERTIES: Readonly<Record<string, PropertyCheck>> = {
  name: unchecked,
  parameters: unchecked,
  execute: ["a function", (value) => typeof value === "function"],
  description: ["a text for the model", (value) => typeof value === "string"],
  validate: optionalFunction,
  concurrencyKey: optionalFunction,
  preview: optionalFunction,
  omitHunks: optionalFunction,
  traceAttributes: optionalFunction,
  readOnly: optionalBoolean,
  interruptible: optionalBoolean,
  sequential: optionalBoolean,
  requiresApproval: ["a boolean or a function", isOptional("boolean", "function")],
  risk: [
    `${RISK_CLASSES.join(", ")} or a function`,
    (value) => isOptional("function")(value) || RISK_CLASSES.includes(value as RiskClass),
  ],
  timeoutMs: [
    "a number above 0",
    (value) => value === undefined || (typeof value === "number" && value > 0),
  ],
  sideEffect: [
    "none, idempotent or once",
    (value) => value === undefined || ["none", "idempotent", "once"].includes(value as string),
  ],
};

/**
 * Checks a tool; of its schema only that it is a JSON Schema for objects.
 *
 * @throws {BadRequestError} If a property is missing, invalid or misspelled.
 */
export function checkTool(tool: unknown): void {
  if (!isJsonObject(tool)) throw createValueError("A tool must be an object", tool);
  const { name } = tool;
  if (typeof name !== "string" || name === "") {
    throw createValueError("The name of a tool must be a text", name);
  }
  checkMisspellings(tool, Object.keys(PROPERTIES), `the tool "${name}"`);
  const problem = findParametersProblem(tool) ?? findPropertyProblem(tool);
  if (problem) throw new BadRequestError(`Invalid tool "${name}": ${problem}`);
}

/**
 * Checks tools and that their names differ; returns a copy of the list.
 *
 * @throws {BadRequestError} If a tool is invalid, or two have the same name.
 */
export function checkTools<Tool extends { readonly name: string }>(
  tools: readonly Tool[],
): readonly Tool[] {
  if (!Array.isArray(tools)) throw createValueError("The tools must be a list", tools);
  const names = new Set<string>();
  for (const tool of tools) {
    checkTool(tool);
    if (names.has(tool.name)) {
      throw new BadRequestError(
        `Two tools have the name "${tool.name}": tool names must be unique`,
      );
    }
    names.add(tool.name);
  }
  return [...tools];
}

/**
 * Checks a name that an application chooses. Adapters encode other names, such as those of MCP servers.
 *
 * @throws {BadRequestError} If providers do not accept it.
 */
export function checkToolName(name: unknown): void {
  if (typeof name === "string" && TOOL_NAME.test(name)) return;
  const accepted = String(name ?? "").replaceAll(/[^a-zA-Z0-9_-]+/g, "_").replaceAll(
    /^_+|_+$/g,
    "",
  );
  const example = accepted.slice(0, 64) || "get_weather";
  throw new BadRequestError(
    `Invalid tool name ${
      describeValue(name)
    }: it must have 1 to 64 letters, digits, "_" or "-", as in "${example}"`,
  );
}

function findParametersProblem({ parameters }: JsonObject): string | undefined {
  if (!isJsonObject(parameters)) {
    return `parameters must be a JSON Schema such as { type: "object", properties: {} }, not ${
      describeValue(parameters)
    }`;
  }
  if (isLibrarySchema(parameters)) {
    return "parameters must be a JSON Schema; use defineTool() to pass the schema of a library";
  }
  if (Object.values(parameters).some(isLibrarySchema)) {
    return "parameters must be a schema of the complete object, such as z.object({ … })";
  }
  const { type } = parameters;
  if (type === "object") return undefined;
  if (type === undefined) {
    return isListOfProperties(parameters)
      ? 'parameters must be a schema of type "object", with its properties in "properties"'
      : undefined;
  }
  return `parameters must be a schema of type "object", not ${describeValue(type)}`;
}

/** Keywords whose value is a schema. */
const SCHEMA_KEYWORD =
  /^(additional|unevaluated|contains|content|else|if|items|not|propertyNames|then)/;

/** Whether a schema has only properties with a type, which the author meant as the properties of an object. */
function isListOfProperties(schema: JsonObject): boolean {
  const entries = Object.entries(schema);
  return entries.length > 0 &&
    entries.every(([name, value]) =>
      isJsonObject(value) && typeof value["type"] === "string" && !SCHEMA_KEYWORD.test(name)
    );
}

function findPropertyProblem(tool: JsonObject): string | undefined {
  for (const [name, [expectation, isValid]] of Object.entries(PROPERTIES)) {
    const { [name]: value } = tool;
    if (!isValid(value)) return `${name} must be ${expectation}, not ${describeValue(value)}`;
  }
}
