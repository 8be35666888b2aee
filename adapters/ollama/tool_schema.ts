/**
 * Schemas of tool parameters for Ollama, which reads a part of JSON Schema.
 *
 * @module
 */

import { isJsonObject, type JsonObject, type JsonSchema } from "../../src/core/json/json.ts";
import { inlineDefinitions } from "../kit/request/inline_definitions.ts";
import { toToolSchema } from "../kit/request/tool_schema.ts";

/** Keywords of a parameter that every version of Ollama passes on to the model, and `title`, which it does not need. */
const KEPT_KEYWORDS = ["type", "items", "description", "enum", "title"];

/** Converted schemas, since each request has the tools of the previous one. */
const ollamaSchemas = new WeakMap<JsonSchema, JsonSchema>();

/**
 * Returns a schema without references, in which the descriptions of the parameters have all keywords that Ollama drops
 * without an error: a model would have to guess the members of an object.
 */
export function toOllamaSchema(parameters: JsonSchema): JsonSchema {
  const known = ollamaSchemas.get(parameters);
  if (known) return known;
  const schema = inlineDefinitions(toToolSchema(parameters));
  const { properties } = schema;
  const converted = !isJsonObject(properties) ? schema : {
    ...schema,
    properties: Object.fromEntries(
      Object.entries(properties).map(([name, property]) => [
        name,
        isJsonObject(property) ? describeDropped(property) : property,
      ]),
    ),
  };
  ollamaSchemas.set(parameters, converted);
  return converted;
}

/** Adds the dropped keywords to the description; newer versions pass on some of them, so they also remain in place. */
function describeDropped(property: JsonObject): JsonObject {
  const dropped = Object.entries(property).filter(([keyword]) => !KEPT_KEYWORDS.includes(keyword));
  if (dropped.length === 0) return property;
  const { description } = property;
  const note = JSON.stringify(Object.fromEntries(dropped));
  return { ...property, description: description ? `${description}\n\n${note}` : note };
}
