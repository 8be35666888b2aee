/**
 * Checks the definitions of tools.
 *
 * @module
 */

import { describeValue } from "./describe_value.ts";
import { BadRequestError } from "./errors.ts";
import { isJsonObject, type JsonObject } from "./json.ts";
import { isLibrarySchema } from "./json_schema/library_schema.ts";

/** The names that providers accept. */
const TOOL_NAME = /^[a-zA-Z0-9_-]{1,64}$/;

const SIDE_EFFECTS: readonly unknown[] = [undefined, "none", "idempotent", "once"];

/**
 * Checks a tool; of its schema only that it is a JSON Schema for objects.
 *
 * @throws {BadRequestError} If a property is missing or invalid.
 */
export function checkTool(tool: unknown): void {
  if (!isJsonObject(tool)) {
    throw new BadRequestError(`A tool must be an object, not ${describeValue(tool)}`);
  }
  const { name } = tool;
  if (typeof name !== "string" || name === "") {
    throw new BadRequestError(`The name of a tool must be a text, not ${describeValue(name)}`);
  }
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
  if (!Array.isArray(tools)) {
    throw new BadRequestError(`The tools must be a list, not ${describeValue(tools)}`);
  }
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

function findParametersProblem({ parameters, inputSchema }: JsonObject): string | undefined {
  if (parameters === undefined && inputSchema !== undefined) {
    return "its schema must be called parameters, not inputSchema";
  }
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
  const { execute, description, requiresApproval, timeoutMs, sideEffect } = tool;
  if (typeof execute !== "function") {
    return `execute must be a function, not ${describeValue(execute)}`;
  }
  if (typeof description !== "string") {
    return `description must be a text for the model, not ${describeValue(description)}`;
  }
  for (const name of ["validate", "concurrencyKey", "preview"]) {
    const { [name]: value } = tool;
    if (value !== undefined && typeof value !== "function") {
      return `${name} must be a function, not ${describeValue(value)}`;
    }
  }
  if (!["undefined", "boolean", "function"].includes(typeof requiresApproval)) {
    return `requiresApproval must be true, false or a function, not ${
      describeValue(requiresApproval)
    }`;
  }
  if (timeoutMs !== undefined && !(typeof timeoutMs === "number" && timeoutMs > 0)) {
    return `timeoutMs must be a number above 0, not ${describeValue(timeoutMs)}`;
  }
  if (!SIDE_EFFECTS.includes(sideEffect)) {
    return `sideEffect must be "none", "idempotent" or "once", not ${describeValue(sideEffect)}`;
  }
}
