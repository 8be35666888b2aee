/**
 * JSON Schema becomes what Gemini takes of it: a subset of OpenAPI's schema object, without references.
 *
 * What has no counterpart is left out, or told in words: arguments are validated with the tool's own schema anyway.
 *
 * @module
 */

import { isJsonObject, type JsonObject, type JsonSchema } from "../../src/core/json.ts";

/** Keywords that mean the same in both, and take numbers. */
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
/** What is deeper is told by its type alone. */
const MAX_DEPTH = 24;
/** So is what comes after so many schemas: references to references multiply. */
const MAX_SCHEMAS = 2000;
/** Any JSON value. */
const ANY_VALUE: JsonObject = {
  anyOf: [
    { type: "STRING" },
    { type: "NUMBER" },
    { type: "BOOLEAN" },
    { type: "OBJECT" },
    { type: "ARRAY", items: { type: "STRING" } },
  ],
};

/** Writes a schema for Gemini. */
export function toGoogleSchema(schema: JsonSchema): JsonObject {
  return new SchemaConverter(schema).convert(schema, []);
}

/** References on the way to a schema; one that comes again would never end. */
type ReferencePath = readonly string[];

class SchemaConverter {
  readonly #root: JsonSchema;
  #schemaCount = 0;

  constructor(root: JsonSchema) {
    this.#root = root;
  }

  convert(schema: unknown, way: ReferencePath): JsonObject {
    if (!isJsonObject(schema)) return ANY_VALUE;
    if (way.length >= MAX_DEPTH || this.#schemaCount++ >= MAX_SCHEMAS) return toTypeOnly(schema);
    if (typeof schema["$ref"] === "string") {
      return this.#convertReference(schema["$ref"], schema, way);
    }
    if (Array.isArray(schema["allOf"])) {
      return this.convert(this.#mergeAllOf(schema, way), [...way, ""]);
    }
    return withNotes(this.#convertSchema(schema, [...way, ""]), schema);
  }

  #convertSchema(schema: JsonObject, way: ReferencePath): JsonObject {
    const alternatives = schema["anyOf"] ?? schema["oneOf"];
    const types = inferTypes(schema);
    if (types.length === 1) return this.#convertTyped(schema, types[0] ?? "object", way);
    if (Array.isArray(alternatives)) return this.#convertAnyOf(alternatives, way);
    if (types.length === 0) return ANY_VALUE;
    const { enum: _enum, ...rest } = schema;
    return this.#convertAnyOf(
      types.map((type) => ({ ...rest, description: undefined, type })),
      way,
    );
  }

  #convertTyped(schema: JsonObject, type: string, way: ReferencePath): JsonObject {
    const { format, pattern } = schema;
    const typed: Record<string, unknown> = { type: type.toUpperCase() };
    for (const keyword of NUMBER_KEYWORDS) {
      if (typeof schema[keyword] === "number") typed[keyword] = schema[keyword];
    }
    if (FORMATS[type]?.includes(String(format))) typed["format"] = format;
    if (type === "string") {
      if (isSupportedPattern(pattern)) typed["pattern"] = pattern;
      const words = getStringValues(schema);
      if (words.length > 0) typed["enum"] = words;
    }
    if (type === "array") typed["items"] = this.#convertItems(schema, way);
    if (type === "object") Object.assign(typed, this.#convertProperties(schema, way));
    return typed;
  }

  #convertProperties({ properties, required }: JsonObject, way: ReferencePath): JsonObject {
    if (!isJsonObject(properties)) return {};
    const names = Object.keys(properties);
    if (names.length === 0) return {};
    const members = names.map((name) => [name, this.convert(properties[name], way)]);
    const needed = Array.isArray(required) ? names.filter((name) => required.includes(name)) : [];
    return {
      properties: Object.fromEntries(members),
      ...(needed.length > 0 && { required: needed }),
    };
  }

  #convertItems({ items, prefixItems }: JsonObject, way: ReferencePath): JsonObject {
    if (isJsonObject(items)) return this.convert(items, way);
    const places = Array.isArray(prefixItems) ? prefixItems : Array.isArray(items) ? items : [];
    return places.length > 0 ? this.#convertAnyOf(places, way) : ANY_VALUE;
  }

  #convertAnyOf(alternatives: readonly unknown[], way: ReferencePath): JsonObject {
    const schemas = alternatives.filter((one) => !isNullSchema(one)).map((one) =>
      this.convert(one, way)
    );
    const nullable = schemas.length < alternatives.length && { nullable: true };
    const [only, ...others] = removeDuplicates(schemas);
    if (only === undefined) return ANY_VALUE;
    return others.length === 0
      ? { ...only, ...nullable }
      : { anyOf: [only, ...others], ...nullable };
  }

  #convertReference(
    reference: string,
    { $ref: _ref, ...beside }: JsonObject,
    way: ReferencePath,
  ): JsonObject {
    const target = this.#resolvePointer(reference);
    if (!isJsonObject(target)) return ANY_VALUE;
    // What contains itself has no end; its inner self is told by its type alone.
    if (way.includes(reference)) return toTypeOnly(target);
    return this.convert({ ...target, ...beside }, [...way, reference]);
  }

  /** Looks up `#/$defs/name`. */
  #resolvePointer(reference: string): unknown {
    let found: unknown = this.#root;
    for (const step of reference.replace(/^#\/?/, "").split("/")) {
      if (step === "") continue;
      const name = step.replaceAll("~1", "/").replaceAll("~0", "~");
      found = isJsonObject(found) && Object.hasOwn(found, name) ? found[name] : undefined;
    }
    return reference.startsWith("#") ? found : undefined;
  }

  /** All parts of an `allOf` as one schema. */
  #mergeAllOf({ allOf, ...own }: JsonObject, way: ReferencePath): JsonObject {
    const parts = (Array.isArray(allOf) ? allOf : []).map((part) => this.#resolvePart(part, way));
    const whole: Record<string, unknown> = {};
    for (const part of [...parts, own]) {
      const properties = { ...getProperties(whole), ...getProperties(part) };
      const required = [...toArray(whole["required"]), ...toArray(part["required"])];
      Object.assign(whole, part);
      if (Object.keys(properties).length > 0) whole["properties"] = properties;
      if (required.length > 0) whole["required"] = required;
    }
    return whole;
  }

  #resolvePart(part: unknown, way: ReferencePath): JsonObject {
    if (!isJsonObject(part)) return {};
    const { $ref: reference, ...beside } = part;
    if (typeof reference !== "string" || way.includes(reference)) return beside;
    const target = this.#resolvePointer(reference);
    return isJsonObject(target) ? { ...target, ...beside } : beside;
  }
}

/** The types that a schema names, `null` left out; what it does not name is guessed by its keywords. */
function inferTypes(schema: JsonObject): string[] {
  const named = toArray(schema["type"] ?? []).filter((type): type is string =>
    TYPES.includes(String(type))
  );
  if (named.length > 0 || schema["anyOf"] || schema["oneOf"]) return named;
  if (isJsonObject(schema["properties"])) return ["object"];
  if (schema["items"] !== undefined || schema["prefixItems"] !== undefined) return ["array"];
  const types = new Set<string>(getAllowedValues(schema).map((value) => typeof value));
  return TYPES.filter((type) => types.size === 1 && types.has(type));
}

function toTypeOnly(schema: JsonObject): JsonObject {
  const [type = "object"] = inferTypes(schema);
  return type === "array" ? { type: "ARRAY", items: ANY_VALUE } : { type: type.toUpperCase() };
}

/** The texts among the values that are allowed; only texts can be listed. */
function getStringValues(schema: JsonObject): string[] {
  return getAllowedValues(schema).filter((value): value is string =>
    typeof value === "string" && value !== ""
  );
}

function getAllowedValues(schema: JsonObject): unknown[] {
  return "const" in schema ? [schema["const"]] : toArray(schema["enum"] ?? []);
}

/** Adds what can only be said in words. */
function withNotes(converted: JsonObject, schema: JsonObject): JsonObject {
  const { description } = schema;
  const notes = typeof description === "string" && description !== "" ? [description] : [];
  const values = getAllowedValues(schema);
  if (values.length > 0 && !("enum" in converted)) {
    notes.push(`One of: ${values.map((value) => JSON.stringify(value)).join(", ")}.`);
  }
  const isNullable = toArray(schema["type"] ?? []).includes("null") || schema["nullable"] === true;
  return {
    ...converted,
    ...(notes.length > 0 && { description: notes.join(" ") }),
    ...(isNullable && { nullable: true }),
  };
}

/** Google's regular expressions know neither looking around nor looking back. */
function isSupportedPattern(pattern: unknown): boolean {
  return typeof pattern === "string" && !/\(\?(?:[=!]|<[=!])|\\[1-9]|\\k</.test(pattern);
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
