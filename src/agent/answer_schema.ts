/**
 * The schema of a structured answer.
 *
 * @module
 */

import { BadRequestError } from "../core/errors/errors.ts";
import { isJsonObject, type JsonObject, type JsonSchema } from "../core/json/json.ts";
import { findMisplacedSchema } from "../core/json_schema/misplaced_schema.ts";
import { mapSubschemas } from "../core/json_schema/subschemas.ts";
import type { ValidationResult } from "../core/schemas/schema.ts";
import type { ValidateFunction } from "../core/schemas/standard_schema.ts";

/** Tools accept only objects, so an answer of another type is wrapped in one. */
const VALUE_PROPERTY = "value";

/** The JSON Schema of an answer, its form as the parameters of a tool, and the check that follows them. */
export class AnswerSchema {
  /** The JSON Schema of the answer. */
  readonly schema: JsonSchema;
  /** The JSON Schema of the arguments of a tool that takes the answer. */
  readonly parameters: JsonSchema;
  readonly #isWrapped: boolean;
  readonly #validate: ValidateFunction | undefined;

  /**
   * Takes a valid JSON Schema; `validate` follows its check.
   *
   * @throws {BadRequestError} If the schema is in an object around it.
   */
  constructor(schema: JsonSchema, validate: ValidateFunction | undefined) {
    const misplaced = findMisplacedSchema(schema);
    if (misplaced !== undefined) {
      throw new BadRequestError(
        `The schema of the answer is invalid: "${misplaced}" is not a keyword of JSON Schema: ` +
          'pass the schema itself, with its type, such as { type: "object", properties: { … } }',
      );
    }
    this.schema = schema;
    this.#validate = validate;
    this.#isWrapped = schema["type"] !== "object";
    this.parameters = this.#isWrapped ? wrapSchema(schema) : schema;
  }

  /** Validates an answer that matches the JSON Schema; returns the output of the validator, with defaults. */
  async validate(value: unknown): Promise<ValidationResult<unknown>> {
    return await this.#validate?.(value) ?? { valid: true, value };
  }

  /** Validates the answer in the arguments of a tool that match the JSON Schema. */
  async validateArguments(args: JsonObject): Promise<ValidationResult<unknown>> {
    if (!this.#isWrapped) return await this.validate(args);
    const result = await this.validate(args[VALUE_PROPERTY]);
    if (result.valid) return result;
    const errors = result.errors.map(({ path, message }) => ({
      path: `/${VALUE_PROPERTY}${path}`,
      message,
    }));
    return { valid: false, errors };
  }
}

/**
 * Wraps a schema as a property of an object. Its definitions move to the root, where providers expect them. A schema
 * with an own `$id` stays as it is, since its references are relative to it.
 */
function wrapSchema(schema: JsonSchema): JsonSchema {
  if (typeof schema["$id"] === "string") return createWrapper(schema);
  const { $schema, $defs, definitions, ...value } = moveReferences(schema);
  return {
    ...($schema !== undefined && { $schema }),
    ...createWrapper(value),
    ...($defs !== undefined && { $defs }),
    ...(definitions !== undefined && { definitions }),
  };
}

function createWrapper(value: JsonSchema): JsonSchema {
  return {
    type: "object",
    properties: { [VALUE_PROPERTY]: value },
    required: [VALUE_PROPERTY],
    additionalProperties: false,
  };
}

/** Adapts the references to a schema that becomes a property: all but those to definitions, which move to the root. */
function moveReferences(schema: JsonSchema): JsonSchema {
  if (typeof schema["$id"] === "string") return schema;
  const { $ref } = schema;
  const moved = mapSubschemas(
    schema,
    (subschema) => isJsonObject(subschema) ? moveReferences(subschema) : subschema,
  );
  const isMoved = typeof $ref === "string" && /^#($|\/(?!(\$defs|definitions)\/))/.test($ref);
  return isMoved ? { ...moved, $ref: `#/properties/${VALUE_PROPERTY}${$ref.slice(1)}` } : moved;
}
