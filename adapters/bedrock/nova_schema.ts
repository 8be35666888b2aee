/**
 * Schemas of tool parameters for Nova models.
 *
 * @module
 */

import type { JsonSchema } from "../../src/core/json/json.ts";
import { inlineDefinitions } from "../kit/request/inline_definitions.ts";
import { toToolSchema } from "../kit/request/tool_schema.ts";

/**
 * Returns a schema whose root has only a type, properties and required ones, because Nova rejects or ignores tools with
 * others: `$schema`, `title`, `additionalProperties`, and therefore also `$defs`. The description of the root is part of
 * that of the tool.
 */
export function toNovaSchema(parameters: JsonSchema): JsonSchema {
  const { properties, required } = inlineDefinitions(toToolSchema(parameters));
  return { type: "object", properties, ...(required !== undefined && { required }) };
}

/** Returns the description of a tool together with that of its parameters. */
export function toNovaDescription(description: string, parameters: JsonSchema): string {
  const { description: details } = toToolSchema(parameters);
  const texts = [description, details].filter((text) => typeof text === "string" && text !== "");
  return texts.join("\n\n");
}
