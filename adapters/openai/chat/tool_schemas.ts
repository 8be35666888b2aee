/**
 * Schemas of tool parameters by the model, which a gateway may forward to the model's own API.
 *
 * @module
 */

import type { JsonSchema } from "../../../src/core/json/json.ts";
import type { ModelSpec } from "../../../src/core/models/model.ts";
import { inlineDefinitions } from "../../kit/request/inline_definitions.ts";
import { toClaudeSchema } from "../../kit/request/property_names.ts";
import { toToolSchema } from "../../kit/request/tool_schema.ts";
import { isClaude } from "./claude.ts";
import { isKimi, toMoonshotSchema } from "./moonshot_schema.ts";

/** Converts the schema of a tool's parameters. */
export type SchemaConversion = (parameters: JsonSchema) => JsonSchema;

/** Returns the conversion for a model; `ofServer` is that of a server with rules of its own. */
export function selectToolSchema(model: ModelSpec, ofServer?: SchemaConversion): SchemaConversion {
  if (isClaude(model)) return toClaudeSchema;
  if (ofServer) return ofServer;
  if (isKimi(model)) return toMoonshotSchema;
  return /gemini/i.test(model.modelId) ? toGeminiSchema : toToolSchema;
}

/** Converted schemas, since each request has the tools of the previous one. */
const geminiSchemas = new WeakMap<JsonSchema, JsonSchema>();

/** Returns a schema without references: `Unknown name "$defs" at 'tools.function_declarations[0].parameters'`. */
function toGeminiSchema(parameters: JsonSchema): JsonSchema {
  const known = geminiSchemas.get(parameters);
  if (known) return known;
  const { $schema: _schema, ...schema } = inlineDefinitions(toToolSchema(parameters));
  geminiSchemas.set(parameters, schema);
  return schema;
}
