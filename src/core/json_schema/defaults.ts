/**
 * Fills in the defaults of a schema.
 *
 * @module
 */

import { isRecord, type JsonRecord } from "./json_object.ts";
import { SchemaDocument } from "./schema_document.ts";

/** Maximum number of schemas in whose place references are filled in, as for a validation: they can multiply the work. */
const MAX_REFERENCES = 200_000;

/**
 * Returns a valid value with the properties that are missing and have a default; never changes the value itself.
 *
 * Defaults in `anyOf` and `oneOf` are not filled in, since they depend on which of the schemas the value matches.
 *
 * @throws {RangeError} If that follows too many references.
 */
export function fillDefaults(schema: JsonRecord, value: unknown): unknown {
  return new DefaultsFiller(new SchemaDocument(schema)).fill(schema, value);
}

class DefaultsFiller {
  readonly #document: SchemaDocument;
  /** The schemas whose default is being filled in itself; it may contain the same property again. */
  readonly #open = new Set<JsonRecord>();
  #references = 0;

  constructor(document: SchemaDocument) {
    this.#document = document;
  }

  /** Returns a copy with the missing properties, or the same value if none is missing. */
  fill(schema: unknown, value: unknown): unknown {
    if (!isRecord(schema)) return value;
    const applied = this.#getApplied(schema);
    const filled = applied.reduce((part, other) => this.fill(other, part), value);
    if (Array.isArray(filled)) return this.#fillItems(schema, filled);
    return isRecord(filled) ? this.#fillProperties(schema, filled) : filled;
  }

  /** Returns the schemas that apply to the same value. */
  #getApplied(schema: JsonRecord): readonly unknown[] {
    const { $ref, allOf } = schema;
    return [
      ...(typeof $ref === "string" ? [this.#resolve($ref, schema)] : []),
      ...(Array.isArray(allOf) ? allOf : []),
    ];
  }

  #resolve(reference: string, schema: JsonRecord): unknown {
    if (++this.#references > MAX_REFERENCES) throw new RangeError("the schema is too complex");
    return this.#document.resolve(reference, schema);
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
      if (Object.hasOwn(object, name)) continue;
      const value = this.#getDefault(property);
      if (value !== undefined) changes.set(name, value);
    }
    if (changes.size === 0) return object;
    return Object.fromEntries([...Object.entries(object), ...changes]);
  }

  #getDefault(schema: unknown): unknown {
    const owner = this.#findDefault(schema, new Set());
    if (!owner || this.#open.has(owner)) return undefined;
    this.#open.add(owner);
    const value = this.fill(schema, structuredClone(owner["default"]));
    this.#open.delete(owner);
    return value;
  }

  /** Returns a schema with a default: the schema itself, or the first one of those that apply to the same value. */
  #findDefault(schema: unknown, searched: Set<JsonRecord>): JsonRecord | undefined {
    if (!isRecord(schema) || searched.has(schema)) return undefined;
    searched.add(schema);
    if (schema["default"] !== undefined) return schema;
    for (const applied of this.#getApplied(schema)) {
      const found = this.#findDefault(applied, searched);
      if (found) return found;
    }
    return undefined;
  }
}
