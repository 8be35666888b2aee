/**
 * JSON Schema becomes what Gemini takes of it: a subset of OpenAPI's schema object, without references.
 *
 * What has no counterpart is left out, or told in words: arguments are validated with the tool's own schema anyway.
 *
 * @module
 */

import { isJsonObject, type JsonObject, type JsonSchema } from "../../src/core/json.ts";

/** Keywords that mean the same in both, and take numbers. */
const NUMBERS = [
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
const ANYTHING: JsonObject = {
  anyOf: [
    { type: "STRING" },
    { type: "NUMBER" },
    { type: "BOOLEAN" },
    { type: "OBJECT" },
    { type: "ARRAY", items: { type: "STRING" } },
  ],
};

/** Writes a schema for Gemini. */
export function googleSchema(schema: JsonSchema): JsonObject {
  return new Conversion(schema).convert(schema, []);
}

/** References on the way to a schema; one that comes again would never end. */
type Way = readonly string[];

class Conversion {
  readonly #root: JsonSchema;
  #schemas = 0;

  constructor(root: JsonSchema) {
    this.#root = root;
  }

  convert(schema: unknown, way: Way): JsonObject {
    if (!isJsonObject(schema)) return ANYTHING;
    if (way.length >= MAX_DEPTH || this.#schemas++ >= MAX_SCHEMAS) return bareType(schema);
    if (typeof schema["$ref"] === "string") return this.#follow(schema["$ref"], schema, way);
    if (Array.isArray(schema["allOf"])) {
      return this.convert(this.#merged(schema, way), [...way, ""]);
    }
    return withNotes(this.#converted(schema, [...way, ""]), schema);
  }

  #converted(schema: JsonObject, way: Way): JsonObject {
    const alternatives = schema["anyOf"] ?? schema["oneOf"];
    const types = typesOf(schema);
    if (types.length === 1) return this.#typed(schema, types[0] ?? "object", way);
    if (Array.isArray(alternatives)) return this.#anyOf(alternatives, way);
    if (types.length === 0) return ANYTHING;
    const { enum: _enum, ...rest } = schema;
    return this.#anyOf(types.map((type) => ({ ...rest, description: undefined, type })), way);
  }

  #typed(schema: JsonObject, type: string, way: Way): JsonObject {
    const { format, pattern } = schema;
    const typed: Record<string, unknown> = { type: type.toUpperCase() };
    for (const keyword of NUMBERS) {
      if (typeof schema[keyword] === "number") typed[keyword] = schema[keyword];
    }
    if (FORMATS[type]?.includes(String(format))) typed["format"] = format;
    if (type === "string") {
      if (isPlainPattern(pattern)) typed["pattern"] = pattern;
      const words = wordsOf(schema);
      if (words.length > 0) typed["enum"] = words;
    }
    if (type === "array") typed["items"] = this.#items(schema, way);
    if (type === "object") Object.assign(typed, this.#members(schema, way));
    return typed;
  }

  #members({ properties, required }: JsonObject, way: Way): JsonObject {
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

  #items({ items, prefixItems }: JsonObject, way: Way): JsonObject {
    if (isJsonObject(items)) return this.convert(items, way);
    const places = Array.isArray(prefixItems) ? prefixItems : Array.isArray(items) ? items : [];
    return places.length > 0 ? this.#anyOf(places, way) : ANYTHING;
  }

  #anyOf(alternatives: readonly unknown[], way: Way): JsonObject {
    const schemas = alternatives.filter((one) => !isNull(one)).map((one) => this.convert(one, way));
    const nullable = schemas.length < alternatives.length && { nullable: true };
    const [only, ...others] = unique(schemas);
    if (only === undefined) return ANYTHING;
    return others.length === 0
      ? { ...only, ...nullable }
      : { anyOf: [only, ...others], ...nullable };
  }

  #follow(reference: string, { $ref: _ref, ...beside }: JsonObject, way: Way): JsonObject {
    const target = this.#find(reference);
    if (!isJsonObject(target)) return ANYTHING;
    // What contains itself has no end; its inner self is told by its type alone.
    if (way.includes(reference)) return bareType(target);
    return this.convert({ ...target, ...beside }, [...way, reference]);
  }

  /** Looks up `#/$defs/name`. */
  #find(reference: string): unknown {
    let found: unknown = this.#root;
    for (const step of reference.replace(/^#\/?/, "").split("/")) {
      if (step === "") continue;
      const name = step.replaceAll("~1", "/").replaceAll("~0", "~");
      found = isJsonObject(found) && Object.hasOwn(found, name) ? found[name] : undefined;
    }
    return reference.startsWith("#") ? found : undefined;
  }

  /** All parts of an `allOf` as one schema. */
  #merged({ allOf, ...own }: JsonObject, way: Way): JsonObject {
    const parts = (Array.isArray(allOf) ? allOf : []).map((part) => this.#resolved(part, way));
    const whole: Record<string, unknown> = {};
    for (const part of [...parts, own]) {
      const properties = { ...membersOf(whole), ...membersOf(part) };
      const required = [...listOf(whole["required"]), ...listOf(part["required"])];
      Object.assign(whole, part);
      if (Object.keys(properties).length > 0) whole["properties"] = properties;
      if (required.length > 0) whole["required"] = required;
    }
    return whole;
  }

  #resolved(part: unknown, way: Way): JsonObject {
    if (!isJsonObject(part)) return {};
    const { $ref: reference, ...beside } = part;
    if (typeof reference !== "string" || way.includes(reference)) return beside;
    const target = this.#find(reference);
    return isJsonObject(target) ? { ...target, ...beside } : beside;
  }
}

/** The types that a schema names, `null` left out; what it does not name is guessed by its keywords. */
function typesOf(schema: JsonObject): string[] {
  const named = listOf(schema["type"] ?? []).filter((type): type is string =>
    TYPES.includes(String(type))
  );
  if (named.length > 0 || schema["anyOf"] || schema["oneOf"]) return named;
  if (isJsonObject(schema["properties"])) return ["object"];
  if (schema["items"] !== undefined || schema["prefixItems"] !== undefined) return ["array"];
  const types = new Set<string>(valuesOf(schema).map((value) => typeof value));
  return TYPES.filter((type) => types.size === 1 && types.has(type));
}

function bareType(schema: JsonObject): JsonObject {
  const [type = "object"] = typesOf(schema);
  return type === "array" ? { type: "ARRAY", items: ANYTHING } : { type: type.toUpperCase() };
}

/** The texts among the values that are allowed; only texts can be listed. */
function wordsOf(schema: JsonObject): string[] {
  return valuesOf(schema).filter((value): value is string =>
    typeof value === "string" && value !== ""
  );
}

function valuesOf(schema: JsonObject): unknown[] {
  return "const" in schema ? [schema["const"]] : listOf(schema["enum"] ?? []);
}

/** Adds what can only be said in words. */
function withNotes(converted: JsonObject, schema: JsonObject): JsonObject {
  const { description } = schema;
  const notes = typeof description === "string" && description !== "" ? [description] : [];
  const values = valuesOf(schema);
  if (values.length > 0 && !("enum" in converted)) {
    notes.push(`One of: ${values.map((value) => JSON.stringify(value)).join(", ")}.`);
  }
  const isNullable = listOf(schema["type"] ?? []).includes("null") || schema["nullable"] === true;
  return {
    ...converted,
    ...(notes.length > 0 && { description: notes.join(" ") }),
    ...(isNullable && { nullable: true }),
  };
}

/** Google's regular expressions know neither looking around nor looking back. */
function isPlainPattern(pattern: unknown): boolean {
  return typeof pattern === "string" && !/\(\?(?:[=!]|<[=!])|\\[1-9]|\\k</.test(pattern);
}

function isNull(schema: unknown): boolean {
  return isJsonObject(schema) && schema["type"] === "null";
}

function unique(schemas: readonly JsonObject[]): JsonObject[] {
  return [...new Map(schemas.map((schema) => [JSON.stringify(schema), schema])).values()];
}

function membersOf({ properties }: JsonObject): JsonObject {
  return isJsonObject(properties) ? properties : {};
}

function listOf(value: unknown): unknown[] {
  if (value === undefined) return [];
  return Array.isArray(value) ? value : [value];
}
