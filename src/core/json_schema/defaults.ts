/**
 * Fills in the defaults of a schema.
 *
 * @module
 */

import { isRecord, type JsonRecord } from "./json_object.ts";

/** The parts of a schema's compiler that filling in defaults needs. */
export interface DefaultsContext {
  /** Returns the schema that a reference in `from` refers to, or `undefined`. */
  resolve(reference: string, from: JsonRecord): unknown;
  /** Whether a value matches a schema. */
  matches(schema: unknown, value: unknown): boolean;
}

/** Fills in the defaults of properties that are missing in a valid value. */
export class DefaultsFiller {
  readonly #context: DefaultsContext;
  /** The schemas whose default is being filled in itself; it may contain the same property again. */
  readonly #open = new Set<JsonRecord>();

  constructor(context: DefaultsContext) {
    this.#context = context;
  }

  /** Returns a copy with the missing properties, or the same value if none is missing. */
  fill(schema: unknown, value: unknown): unknown {
    if (!isRecord(schema)) return value;
    const applied = this.#getApplied(schema, value);
    const filled = applied.reduce((part, other) => this.fill(other, part), value);
    if (Array.isArray(filled)) return this.#fillItems(schema, filled);
    return isRecord(filled) ? this.#fillProperties(schema, filled) : filled;
  }

  /** Returns the schemas that apply to the same value; of `anyOf` and `oneOf` the first one that matches. */
  #getApplied(schema: JsonRecord, value: unknown): readonly unknown[] {
    const { $ref, allOf, anyOf, oneOf } = schema;
    const choices = [anyOf, oneOf].filter((options) => Array.isArray(options));
    return [
      ...(typeof $ref === "string" ? [this.#context.resolve($ref, schema)] : []),
      ...(Array.isArray(allOf) ? allOf : []),
      ...choices.map((options) => options.find((option) => this.#context.matches(option, value))),
    ];
  }

  #fillItems({ prefixItems, items }: JsonRecord, values: readonly unknown[]): unknown {
    const prefix: readonly unknown[] = Array.isArray(prefixItems) ? prefixItems : [];
    const filled = values.map((value, index) => this.fill(prefix[index] ?? items, value));
    return filled.some((value, index) => value !== values[index]) ? filled : values;
  }

  #fillProperties(schema: JsonRecord, object: JsonRecord): unknown {
    const { properties, additionalProperties } = schema;
    const known = isRecord(properties) ? properties : {};
    const changes = new Map<string, unknown>();
    for (const [name, value] of Object.entries(object)) {
      const property = Object.hasOwn(known, name) ? known[name] : additionalProperties;
      const filled = this.fill(property, value);
      if (filled !== value) changes.set(name, filled);
    }
    for (const [name, property] of Object.entries(known)) {
      if (Object.hasOwn(object, name) || !isRecord(property)) continue;
      const value = this.#getDefault(property);
      if (value !== undefined) changes.set(name, value);
    }
    if (changes.size === 0) return object;
    return Object.fromEntries([...Object.entries(object), ...changes]);
  }

  #getDefault(schema: JsonRecord): unknown {
    if (schema["default"] === undefined || this.#open.has(schema)) return undefined;
    this.#open.add(schema);
    const value = this.fill(schema, structuredClone(schema["default"]));
    this.#open.delete(schema);
    return value;
  }
}
