/**
 * Schemas without references.
 *
 * @module
 */

import type { JsonSchema } from "../../../src/core/json.ts";
import { isRecord, type JsonRecord } from "../../../src/core/json_schema/json_object.ts";
import { SchemaDocument } from "../../../src/core/json_schema/schema_document.ts";
import { mapSubschemas } from "../../../src/core/json_schema/subschemas.ts";

/** Number of inlined references after which others accept any value, because nested references multiply. */
const MAX_REFERENCES = 500;

/**
 * Returns a schema whose references are replaced by the schemas to which they refer, for models that accept none. A
 * reference within its own target accepts any value of the target's type; the agent validates arguments against the tool's
 * own schema.
 */
export function inlineDefinitions(root: JsonSchema): JsonSchema {
  return new Inliner(root).inline(root, []);
}

class Inliner {
  readonly #document: SchemaDocument;
  #references = 0;

  constructor(root: JsonSchema) {
    this.#document = new SchemaDocument(root);
  }

  /** Inlines the references in a schema; `targets` are those that contain it. */
  inline(schema: JsonRecord, targets: readonly unknown[]): JsonRecord {
    const { $defs: _defs, definitions: _definitions, $ref, ...others } = schema;
    if (typeof $ref !== "string") {
      return mapSubschemas(
        others,
        (subschema) => isRecord(subschema) ? this.inline(subschema, targets) : subschema,
      );
    }
    const target = this.#document.resolve($ref, schema);
    if (!isRecord(target)) return this.inline(others, targets);
    const isEndless = targets.includes(target) || this.#references++ >= MAX_REFERENCES;
    const { type } = target;
    const inlined = isEndless ? type === undefined ? {} : { type } : target;
    return this.inline({ ...inlined, ...others }, [...targets, target]);
  }
}
