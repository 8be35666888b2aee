/**
 * Converts JSON Schema to Google's subset of OpenAPI's schema object, which has no references.
 *
 * Keywords without a counterpart are omitted or described in the description; the agent validates arguments against
 * the tool's own schema anyway.
 *
 * @module
 */

import { isJsonObject, type JsonObject, type JsonSchema } from "../../src/core/json/json.ts";
import { resolvePointer } from "../kit/request/resolve_pointer.ts";

/** Numeric keywords with the same meaning in both. */
const NUMBER_KEYWORDS = [
  "minItems",
  "maxItems",
  "minLength",
  "maxLength",
  "minProperties",
  "maxProperties",
  "minimum",
  "maximum",
];
const TYPES = ["string", "number", "integer", "boolean", "object", "array"];
const FORMATS: Readonly<Record<string, readonly string[]>> = {
  string: ["date-time"],
  integer: ["int32", "int64"],
  number: ["float", "double"],
};
/** Depth below which schemas are reduced to their type. */
const MAX_DEPTH = 24;
/** Number of schemas after which further ones are reduced to their type, because nested references multiply. */
const MAX_SCHEMAS = 2000;
/** Schema of any JSON value. */
const ANY_VALUE: JsonObject = {
  anyOf: [
    { type: "STRING" },
    { type: "NUMBER" },
    { type: "BOOLEAN" },
    { type: "OBJECT" },
    { type: "ARRAY", items: { type: "STRING" } },
  ],
};

/** Converts a schema. */
export function toGoogleSchema(schema: JsonSchema): JsonObject {
  return new SchemaConverter(schema).convert(schema, []);
}

/** References that lead to a schema, to detect recursion; `""` for a step without a reference. */
type ReferencePath = readonly string[];

class SchemaConverter {
  readonly #root: JsonSchema;
  #schemaCount = 0;

  constructor(root: JsonSchema) {
    this.#root = root;
  }

  convert(schema: unknown, path: ReferencePath): JsonObject {
    if (!isJsonObject(schema)) return ANY_VALUE;
    if (path.length >= MAX_DEPTH || this.#schemaCount++ >= MAX_SCHEMAS) return toTypeOnly(schema);
    if (typeof schema["$ref"] === "string") {
      return this.#convertReference(schema["$ref"], schema, path);
    }
    if (Array.isArray(schema["allOf"])) {
      return this.convert(this.#mergeParts(schema, path), [...path, ""]);
    }
    return withNotes(this.#convertSchema(schema, [...path, ""]), schema);
  }

  #convertSchema(schema: JsonObject, path: ReferencePath): JsonObject {
    const alternatives = schema["anyOf"] ?? schema["oneOf"];
    const types = inferTypes(schema);
    if (types.length === 1) return this.#convertTyped(schema, types[0] ?? "object", path);
    if (Array.isArray(alternatives)) return this.#convertAlternatives(alternatives, path);
    if (types.length === 0) return ANY_VALUE;
    const { enum: _enum, ...rest } = schema;
    return this.#convertAlternatives(
      types.map((type) => ({ ...rest, description: undefined, type })),
      path,
    );
  }

  #convertTyped(schema: JsonObject, type: string, path: ReferencePath): JsonObject {
    const { format, pattern } = schema;
    const typed: Record<string, unknown> = { type: type.toUpperCase() };
    for (const keyword of NUMBER_KEYWORDS) {
      if (typeof schema[keyword] === "number") typed[keyword] = schema[keyword];
    }
    if (FORMATS[type]?.includes(String(format))) typed["format"] = format;
    if (type === "string") {
      if (isSupportedPattern(pattern)) typed["pattern"] = pattern;
      // Google supports `enum` for non-empty strings only.
      const strings = getAllowedValues(schema).filter((value) =>
        typeof value === "string" && value !== ""
      );
      if (strings.length > 0) typed["enum"] = strings;
    }
    if (type === "array") typed["items"] = this.#convertItems(schema, path);
    if (type === "object") Object.assign(typed, this.#convertProperties(schema, path));
    return typed;
  }

  #convertProperties({ properties, required }: JsonObject, path: ReferencePath): JsonObject {
    if (!isJsonObject(properties)) return {};
    const names = Object.keys(properties);
    if (names.length === 0) return {};
    const converted = names.map((name) => [name, this.convert(properties[name], path)]);
    const requiredNames = Array.isArray(required)
      ? names.filter((name) => required.includes(name))
      : [];
    return {
      properties: Object.fromEntries(converted),
      ...(requiredNames.length > 0 && { required: requiredNames }),
    };
  }

  #convertItems({ items, prefixItems }: JsonObject, path: ReferencePath): JsonObject {
    const tuple = Array.isArray(prefixItems) ? prefixItems : Array.isArray(items) ? items : [];
    if (tuple.length === 0) return isJsonObject(items) ? this.convert(items, path) : ANY_VALUE;
    const others = isJsonObject(items) && Object.keys(items).length > 0 ? [items] : [];
    return this.#convertAlternatives([...tuple, ...others], path);
  }

  #convertAlternatives(alternatives: readonly unknown[], path: ReferencePath): JsonObject {
    const schemas = alternatives.filter((schema) => !isNullSchema(schema)).map((schema) =>
      this.convert(schema, path)
    );
    const [first, ...others] = removeDuplicates(schemas);
    if (first === undefined) return ANY_VALUE;
    const converted = others.length === 0 ? first : { anyOf: [first, ...others] };
    return schemas.length < alternatives.length ? makeNullable(converted) : converted;
  }

  #convertReference(
    reference: string,
    { $ref: _ref, ...siblings }: JsonObject,
    path: ReferencePath,
  ): JsonObject {
    const target = resolvePointer(this.#root, reference);
    if (!isJsonObject(target)) return ANY_VALUE;
    if (path.includes(reference)) return toTypeOnly(target); // recursive
    return this.convert({ ...target, ...siblings }, [...path, reference]);
  }

  /** Merges a schema with the parts of its `allOf`. */
  #mergeParts({ allOf, ...own }: JsonObject, path: ReferencePath): JsonObject {
    const parts = (Array.isArray(allOf) ? allOf : []).map((part) => this.#resolvePart(part, path));
    const merged: Record<string, unknown> = {};
    for (const part of [...parts, own]) {
      const properties = { ...getProperties(merged), ...getProperties(part) };
      const required = [...toArray(merged["required"]), ...toArray(part["required"])];
      Object.assign(merged, part);
      if (Object.keys(properties).length > 0) merged["properties"] = properties;
      if (required.length > 0) merged["required"] = required;
    }
    return merged;
  }

  #resolvePart(part: unknown, path: ReferencePath): JsonObject {
    if (!isJsonObject(part)) return {};
    const { $ref: reference, ...siblings } = part;
    if (typeof reference !== "string" || path.includes(reference)) return siblings;
    const target = resolvePointer(this.#root, reference);
    return isJsonObject(target) ? { ...target, ...siblings } : siblings;
  }
}

/** Returns the types that a schema declares, without `null`, or those that its keywords imply. */
function inferTypes(schema: JsonObject): string[] {
  const declared = toArray(schema["type"] ?? []).filter((type): type is string =>
    TYPES.includes(String(type))
  );
  if (declared.length > 0 || schema["anyOf"] || schema["oneOf"]) return declared;
  if (isJsonObject(schema["properties"])) return ["object"];
  if (schema["items"] !== undefined || schema["prefixItems"] !== undefined) return ["array"];
  const types = new Set<string>(getAllowedValues(schema).map((value) => typeof value));
  return TYPES.filter((type) => types.size === 1 && types.has(type));
}

function toTypeOnly(schema: JsonObject): JsonObject {
  const [type = "object"] = inferTypes(schema);
  return type === "array" ? { type: "ARRAY", items: ANY_VALUE } : { type: type.toUpperCase() };
}

function getAllowedValues(schema: JsonObject): unknown[] {
  return "const" in schema ? [schema["const"]] : toArray(schema["enum"] ?? []);
}

/** Describes allowed values that `enum` cannot list, and marks nullable schemas. */
function withNotes(converted: JsonObject, schema: JsonObject): JsonObject {
  const { description } = schema;
  const notes = typeof description === "string" && description !== "" ? [description] : [];
  const values = getAllowedValues(schema);
  if (values.length > 0 && !("enum" in converted)) {
    notes.push(`One of: ${values.map((value) => JSON.stringify(value)).join(", ")}.`);
  }
  const isNullable = toArray(schema["type"] ?? []).includes("null") || schema["nullable"] === true;
  const described = notes.length > 0 ? describe(converted, notes.join(" ")) : converted;
  return isNullable ? makeNullable(described) : described;
}

function describe(schema: JsonObject, description: string): JsonObject {
  return mapAlternatives({ ...schema, description }, (alternative) => {
    const own = typeof alternative["description"] === "string" ? alternative["description"] : "";
    return describe(alternative, own === "" ? description : `${description} ${own}`);
  });
}

function makeNullable(schema: JsonObject): JsonObject {
  return mapAlternatives({ ...schema, nullable: true }, makeNullable);
}

/** Changes the alternatives of a schema in place of its own fields: Vertex AI rejects fields next to `anyOf`. */
function mapAlternatives(
  schema: JsonObject,
  change: (alternative: JsonObject) => JsonObject,
): JsonObject {
  const { anyOf } = schema;
  return Array.isArray(anyOf) ? { anyOf: anyOf.map(change) } : schema;
}

/**
 * Whether Google accepts a pattern: its regular expressions have no look-around, no references to groups, no properties of
 * characters and none by their code.
 */
function isSupportedPattern(pattern: unknown): boolean {
  return typeof pattern === "string" && !/\(\?[=!<]|\\[\dkpPu]/.test(pattern);
}

function isNullSchema(schema: unknown): boolean {
  return isJsonObject(schema) && schema["type"] === "null";
}

function removeDuplicates(schemas: readonly JsonObject[]): JsonObject[] {
  return [...new Map(schemas.map((schema) => [JSON.stringify(schema), schema])).values()];
}

function getProperties({ properties }: JsonObject): JsonObject {
  return isJsonObject(properties) ? properties : {};
}

function toArray(value: unknown): unknown[] {
  if (value === undefined) return [];
  return Array.isArray(value) ? value : [value];
}
