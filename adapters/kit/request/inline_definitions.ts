/**
 * Schemas without references.
 *
 * @module
 */

import { isJsonObject, type JsonSchema } from "../../../src/core/json/json.ts";
import { mapSubschemas } from "../../../src/core/json_schema/subschemas.ts";
import { resolvePointer } from "./resolve_pointer.ts";

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
  readonly #root: JsonSchema;
  #references = 0;

  constructor(root: JsonSchema) {
    this.#root = root;
  }

  /** Inlines the references in a schema; `targets` are those that contain it. */
  inline(schema: JsonSchema, targets: readonly unknown[]): JsonSchema {
    const { $defs: _defs, definitions: _definitions, $ref, ...others } = schema;
    if (typeof $ref !== "string") {
      return mapSubschemas(
        others,
        (subschema) => isJsonObject(subschema) ? this.inline(subschema, targets) : subschema,
      );
    }
    const target = resolvePointer(this.#root, $ref);
    if (!isJsonObject(target)) return this.inline(others, targets);
    const isEndless = targets.includes(target) || this.#references++ >= MAX_REFERENCES;
    const { type } = target;
    const inlined = isEndless ? type === undefined ? {} : { type } : target;
    return this.inline({ ...inlined, ...others }, [...targets, target]);
  }
}
