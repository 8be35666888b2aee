/**
 * Rules for the schemas of tools in request bodies, from documentation and error messages.
 *
 * @module
 */

import { Ajv2020 } from "ajv/dist/2020.js";
import { isJsonObject, type JsonObject } from "../../src/core/json/json.ts";
import { asList, asObject, asTexts, findAll, hasNoKeyword } from "./body_values.ts";

/** A rule of an API. */
export interface BodyRule {
  /** Error message of the API, or the rule in words. */
  readonly rule: string;
  /** Whether a body keeps to the rule. */
  readonly accepts: (body: JsonObject, url: string) => boolean;
}

/** Rules of the APIs whose schemas are JSON Schema. */
export const SCHEMA_RULES: readonly BodyRule[] = [
  {
    rule: "JSON schema is invalid. It must match JSON Schema draft 2020-12",
    accepts: (body) => findToolSchemas(body).every((schema) => ajv.validate(DRAFT_2020_12, schema)),
  },
  {
    rule: "Invalid JSON schema: regex lookaround is not supported",
    accepts: (body) =>
      findAll(findToolSchemas(body), ({ pattern }) => typeof pattern === "string").every((
        { pattern },
      ) => !/\(\?<?[=!]/.test(String(pattern))),
  },
  {
    rule: "Invalid schema for function: array schema missing items",
    accepts: (body) =>
      findAll(findToolSchemas(body), isArraySchema).every(({ items }) => isJsonObject(items)),
  },
];

/** Rule of Claude models. */
export const PROPERTY_KEYS: BodyRule = {
  rule: "Property keys should match pattern '^[a-zA-Z0-9_.-]{1,64}$'",
  accepts: (body, url) =>
    (url.includes("converse") && !url.includes("claude")) ||
    findToolSchemas(body).every(hasValidKeys),
};

/** Rule of Nova models. */
export const NOVA_ROOT: BodyRule = {
  rule: "Nova: only type, properties and required are supported at the top level of a schema",
  accepts: (body, url) =>
    !url.includes("nova") ||
    findToolSchemas(body).every((schema) =>
      Object.keys(schema).every((name) => ["type", "properties", "required"].includes(name)) &&
      hasNoKeyword(schema, ["$ref"])
    ),
};

const DRAFT_2020_12 = "https://json-schema.org/draft/2020-12/schema";
const ajv = new Ajv2020({ strict: false, logger: false });

/** Returns the schemas of the parameters of tools, in the forms of all APIs. */
function findToolSchemas({ tools, toolConfig }: JsonObject): JsonObject[] {
  return asList(tools ?? asObject(toolConfig)["tools"]).flatMap((tool) => {
    const { input_schema, parameters, function: called, toolSpec } = tool;
    const inConverse = asObject(asObject(toolSpec)["inputSchema"])["json"];
    const schema = input_schema ?? parameters ?? asObject(called)["parameters"] ?? inConverse;
    return isJsonObject(schema) ? [schema] : [];
  });
}

function isArraySchema({ type }: JsonObject): boolean {
  return type === "array" || (Array.isArray(type) && type.includes("array"));
}

function hasValidKeys({ properties, required = [] }: JsonObject): boolean {
  const names = Object.keys(asObject(properties));
  return names.every((name) => /^[a-zA-Z0-9_.-]{1,64}$/.test(name)) &&
    asTexts(required).every((name) => names.includes(name));
}
