/**
 * Names of tool parameters that Claude models reject, at Anthropic, at Bedrock and behind gateways: "Property keys should
 * match pattern '^[a-zA-Z0-9_.-]{1,64}$'". One such name in the tools of an MCP server, such as `$top` or `filter[id]`,
 * fails every request. The API checks only the names at the root of a schema.
 *
 * @module
 */

import { isJsonObject, type JsonObject, type JsonSchema } from "../../../src/core/json/json.ts";
import type { ToolSpec } from "../../../src/core/streams/stream.ts";
import { inlineDefinitions } from "./inline_definitions.ts";
import { toToolSchema } from "./tool_schema.ts";
import { type NameRule, toWireName } from "./wire_names.ts";

const PROPERTY_NAME_RULE: NameRule = { forbidden: /[^A-Za-z0-9_.-]/g, maxLength: 64 };

/** A parameter's name, and the one that requests have in its place. */
export interface RenamedProperty {
  /** Name in the tool's own schema. */
  readonly name: string;
  /** Name that the API accepts. */
  readonly wireName: string;
}

/** Returns the schema of a tool's parameters, with names that the API accepts. */
export function toClaudeSchema(parameters: JsonSchema): JsonSchema {
  const completed = toToolSchema(parameters);
  const renames = findRenamedProperties(parameters);
  if (renames.length === 0) return completed;
  // A reference to a renamed parameter would refer to nothing.
  const hasReferences = JSON.stringify(completed).includes('"#/properties/');
  const schema = hasReferences ? inlineDefinitions(completed) : completed;
  const wireNames = new Map(renames.map(({ name, wireName }) => [name, wireName]));
  const rename = (name: string) => wireNames.get(name) ?? name;
  const renameAll = (names: unknown) => Array.isArray(names) ? names.map(rename) : [];
  const { properties, required, dependentRequired } = schema;
  const renamed = Object.entries(Object(properties)).map(([name, property]) =>
    wireNames.has(name) ? [rename(name), describeName(name, property)] : [name, property]
  );
  return {
    ...schema,
    properties: Object.fromEntries(renamed),
    ...(Array.isArray(required) && { required: renameAll(required) }),
    ...(isJsonObject(dependentRequired) && {
      dependentRequired: Object.fromEntries(
        Object.entries(dependentRequired).map(([name, names]) => [rename(name), renameAll(names)]),
      ),
    }),
  };
}

/** Names the parameter in its description, since those of the tool and its other parameters may refer to it. */
function describeName(name: string, property: unknown): JsonObject {
  const schema = isJsonObject(property) ? property : {};
  const { description } = schema;
  const note = `Called ${JSON.stringify(name)} elsewhere.`;
  return { ...schema, description: description ? `${description}\n\n${note}` : note };
}

/** Returns the input of an earlier call with the names that the model has used. */
export function toClaudeInput(input: JsonObject, tool: ToolSpec | undefined): JsonObject {
  const renames = tool ? findRenamedProperties(tool.parameters) : [];
  if (renames.every(({ name }) => !Object.hasOwn(input, name))) return input;
  const wireNames = new Map(renames.map(({ name, wireName }) => [name, wireName]));
  return Object.fromEntries(
    Object.entries(input).map(([name, value]) => [wireNames.get(name) ?? name, value]),
  );
}

/** Renamed parameters, since each call of a conversation needs those of its tool. */
const renamedProperties = new WeakMap<JsonSchema, readonly RenamedProperty[]>();

/** Returns the parameters of a tool whose names the API rejects. */
export function findRenamedProperties(parameters: JsonSchema): readonly RenamedProperty[] {
  const known = renamedProperties.get(parameters);
  if (known) return known;
  const { properties } = toToolSchema(parameters);
  const renamed = Object.keys(Object(properties)).flatMap((name) => {
    const wireName = toWireName(name, PROPERTY_NAME_RULE);
    return wireName === name ? [] : [{ name, wireName }];
  });
  renamedProperties.set(parameters, renamed);
  return renamed;
}
