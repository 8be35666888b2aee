/**
 * Schemas that providers enforce on replies.
 *
 * Providers reject keywords that they cannot enforce. As in the official SDKs, such a keyword moves to the description,
 * where the model reads it; the agent validates the reply against the complete schema.
 *
 * @module
 */

import { isJsonObject, type JsonObject, type JsonSchema } from "../../../src/core/json/json.ts";
import { getSubschemas, mapSubschemas } from "../../../src/core/json_schema/subschemas.ts";
import { toValidSchema } from "./valid_schema.ts";

/** Keywords that a provider enforces. */
export interface StrictKeywords {
  /** Keywords in addition to those that all providers enforce. */
  readonly keywords: readonly string[];
  /** Values of `format`. */
  readonly formats: readonly string[];
  /** Whether a schema with `enum` or `const` has a type. */
  readonly typedLiterals: boolean;
  /** Highest `minItems`. */
  readonly maxMinItems: number;
}

const FORMATS = [
  "date-time",
  "time",
  "date",
  "duration",
  "email",
  "hostname",
  "ipv4",
  "ipv6",
  "uuid",
];

/** Keywords that OpenAI and compatible providers enforce. */
export const OPENAI_KEYWORDS: StrictKeywords = {
  keywords: [
    "pattern",
    "format",
    "multipleOf",
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "minItems",
    "maxItems",
  ],
  formats: FORMATS,
  typedLiterals: true,
  maxMinItems: Infinity,
};

/** Keywords that Anthropic enforces. */
export const CLAUDE_KEYWORDS: StrictKeywords = {
  keywords: ["format", "minItems", "allOf"],
  formats: [...FORMATS, "uri"],
  typedLiterals: false,
  maxMinItems: 1,
};

/** Keywords that all providers enforce. */
const COMMON_KEYWORDS = [
  "$defs",
  "$ref",
  "additionalProperties",
  "anyOf",
  "const",
  "description",
  "enum",
  "items",
  "properties",
  "required",
  "title",
  "type",
];

/** Keywords without an effect on validation, which are omitted. */
const ANNOTATIONS = [
  "$comment",
  "$id",
  "$schema",
  "default",
  "deprecated",
  "examples",
  "readOnly",
  "writeOnly",
];

/** Keywords whose meaning a description cannot replace, because the rest of the schema depends on them. */
const STRUCTURAL_KEYWORDS = [
  "$anchor",
  "$dynamicRef",
  "allOf",
  "contains",
  "dependentSchemas",
  "else",
  "if",
  "not",
  "patternProperties",
  "prefixItems",
  "propertyNames",
  "then",
  "unevaluatedItems",
  "unevaluatedProperties",
];

/**
 * Whether providers can enforce a schema: its root is an object, every object forbids additional properties and requires
 * all declared ones, and no keyword is one that no provider enforces.
 */
export function isStrictSchema(schema: unknown): boolean {
  return isJsonObject(schema) && schema["type"] === "object" && isEnforceable(schema);
}

function isEnforceable(schema: JsonObject): boolean {
  if (STRUCTURAL_KEYWORDS.some((keyword) => keyword in schema)) return false;
  const isTyped = ["type", "$ref", "anyOf", "oneOf", "enum", "const"].some((keyword) =>
    keyword in schema
  );
  // Both alternatives become `anyOf`, and definitions of both names `$defs`.
  const isAmbiguous = ("anyOf" in schema && "oneOf" in schema) ||
    ("$defs" in schema && "definitions" in schema);
  const { $ref } = schema;
  const isLocal = $ref === undefined || String($ref).startsWith("#");
  return isTyped && !isAmbiguous && isLocal && isClosed(schema) && hasItems(schema) &&
    !hasBooleanSchema(schema) && getSubschemas(schema).every(isEnforceable);
}

/** Whether an array has a schema of its items; a list of schemas is that of an older draft. */
function hasItems({ type, items }: JsonObject): boolean {
  const isArray = type === "array" || (Array.isArray(type) && type.includes("array"));
  return !isArray || isJsonObject(items);
}

/** Whether a schema contains `true` or `false` as a schema, other than for additional properties. */
function hasBooleanSchema(schema: JsonObject): boolean {
  let isFound = false;
  mapSubschemas(schema, (subschema, keyword) => {
    if (keyword !== "additionalProperties" && typeof subschema === "boolean") isFound = true;
    return subschema;
  });
  return isFound;
}

function isClosed({ type, properties, required, additionalProperties }: JsonObject): boolean {
  if (type !== "object" && !(Array.isArray(type) && type.includes("object"))) return true;
  const names = isJsonObject(properties) ? Object.keys(properties) : [];
  return additionalProperties === false &&
    names.every((name) => Array.isArray(required) && required.includes(name));
}

/** Keywords that providers know by another name. */
const RENAMED_KEYWORDS: ReadonlyMap<string, string> = new Map([
  ["oneOf", "anyOf"],
  ["definitions", "$defs"],
]);

/** Keywords with several subschemas. */
const KEYED = [
  "$defs",
  "allOf",
  "anyOf",
  "definitions",
  "oneOf",
  "patternProperties",
  "properties",
];

/** Converts a schema of any draft to the keywords that a provider enforces. */
export function toStrictSchema(schema: JsonSchema, rules: StrictKeywords): JsonSchema {
  return convertSchema(toValidSchema(schema), rules);
}

function convertSchema(schema: JsonSchema, rules: StrictKeywords): JsonSchema {
  const { $ref } = schema;
  if (typeof $ref === "string") {
    // No other keyword may stand next to a reference, except definitions at the root.
    return convertChildren({ ...mergeDefinitions(schema), $ref: renameTarget($ref) }, rules);
  }
  const kept = new Map<string, unknown>();
  const notes: string[] = [];
  for (const [name, value] of Object.entries({ ...schema, ...mergeDefinitions(schema) })) {
    if (name === "definitions") continue;
    const keyword = RENAMED_KEYWORDS.get(name) ?? name;
    if (ANNOTATIONS.includes(keyword) || value === undefined) continue;
    const isSecondChoice = name === "oneOf" && schema["anyOf"] !== undefined;
    if (!isSecondChoice && isSupported(keyword, value, rules)) kept.set(keyword, value);
    else notes.push(`${name}: ${JSON.stringify(value)}`);
  }
  if (!rules.typedLiterals && (kept.has("enum") || kept.has("const"))) kept.delete("type");
  if (kept.get("type") === "object") kept.set("additionalProperties", false);
  if (notes.length > 0) {
    const description = kept.get("description");
    const start = typeof description === "string" ? `${description}\n\n` : "";
    kept.set("description", `${start}{${notes.join(", ")}}`);
  }
  return convertChildren(Object.fromEntries(kept), rules);
}

function convertChildren(schema: JsonObject, rules: StrictKeywords): JsonSchema {
  return mapSubschemas(
    schema,
    (subschema) => isJsonObject(subschema) ? convertSchema(subschema, rules) : subschema,
  );
}

/** Returns the definitions of a schema, which earlier versions of JSON Schema name `definitions`. */
function mergeDefinitions({ $defs, definitions }: JsonObject): JsonObject {
  if ($defs === undefined && definitions === undefined) return {};
  return { $defs: { ...toObject(definitions), ...toObject($defs) } };
}

function toObject(value: unknown): JsonObject {
  return isJsonObject(value) ? value : {};
}

/** Renames the keywords in the path of a reference; a segment after one of `KEYED` is a name or an index. */
function renameTarget(reference: string): string {
  if (!reference.startsWith("#")) return reference;
  let isKeyword = false;
  return reference.split("/").map((segment) => {
    const renamed = isKeyword ? RENAMED_KEYWORDS.get(segment) ?? segment : segment;
    isKeyword = !(isKeyword && KEYED.includes(segment));
    return renamed;
  }).join("/");
}

function isSupported(keyword: string, value: unknown, rules: StrictKeywords): boolean {
  if (COMMON_KEYWORDS.includes(keyword)) return true;
  if (!rules.keywords.includes(keyword)) return false;
  if (keyword === "format") return rules.formats.includes(String(value));
  return keyword !== "minItems" || Number(value) <= rules.maxMinItems;
}
