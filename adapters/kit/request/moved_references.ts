/**
 * References to parts of a schema that its conversion has moved, such as the first schema of a tuple of draft 7 in
 * `#/properties/point/items/0`, or a property of an alternative at the root.
 *
 * @module
 */

import { isJsonObject, type JsonSchema } from "../../../src/core/json/json.ts";
import { getSubschemas, mapSubschemas } from "../../../src/core/json_schema/subschemas.ts";
import { resolvePointer } from "./resolve_pointer.ts";

/** Number of inlined references after which others accept any value, because nested references multiply. */
const MAX_REFERENCES = 500;

/** A schema before its conversion, and the conversion of its parts. */
export interface SchemaConversion {
  /** The schema before its conversion. */
  readonly original: JsonSchema;
  /** Converts a part of it. */
  readonly convert: (part: JsonSchema) => JsonSchema;
}

/**
 * Replaces the references of a converted schema that no longer lead anywhere by their targets in the original: a provider
 * rejects a request with such a reference. One within its own target accepts any value of the target's type.
 */
export function inlineMovedReferences(
  converted: JsonSchema,
  conversion: SchemaConversion,
): JsonSchema {
  return hasReference(converted) ? new MovedReferences(converted, conversion).inline() : converted;
}

function hasReference(schema: JsonSchema): boolean {
  return schema["$ref"] !== undefined || getSubschemas(schema).some(hasReference);
}

class MovedReferences {
  readonly #converted: JsonSchema;
  readonly #conversion: SchemaConversion;
  #count = 0;

  constructor(converted: JsonSchema, conversion: SchemaConversion) {
    this.#converted = converted;
    this.#conversion = conversion;
  }

  inline(): JsonSchema {
    return this.#inline(this.#converted, []);
  }

  /** Inlines the moved references in a schema; `targets` are those that contain it. */
  #inline(schema: JsonSchema, targets: readonly unknown[]): JsonSchema {
    const { $ref, ...others } = schema;
    const target = typeof $ref === "string" ? this.#findMoved($ref) : undefined;
    if (!isJsonObject(target)) {
      return mapSubschemas(
        schema,
        (subschema) => isJsonObject(subschema) ? this.#inline(subschema, targets) : subschema,
      );
    }
    const isEndless = targets.includes(target) || this.#count++ >= MAX_REFERENCES;
    const { type } = target;
    const typeOnly = type === undefined ? {} : { type };
    const inlined = this.#conversion.convert(isEndless ? typeOnly : target);
    return this.#inline({ ...inlined, ...others }, [...targets, target]);
  }

  /** Returns the target of a reference that only the original has. */
  #findMoved(reference: string): unknown {
    const isKept = resolvePointer(this.#converted, reference) !== undefined;
    return isKept ? undefined : resolvePointer(this.#conversion.original, reference);
  }
}
