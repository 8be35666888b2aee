/**
 * The JSON Schema of configuration files, for editors.
 *
 * @module
 */

import { formatDescription } from "../command_line/help.ts";
import { CONFIG_KEYS, CONFIG_TABLES, type ConfigKey } from "./config_keys.ts";

/** Creates the schema, in the dialect of 2020-12. */
export function createConfigSchema(): object {
  return {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    title: "Configuration of swink",
    description: "config.toml of a user, or .swink/config.toml of a project.",
    type: "object",
    properties: { ...createProperties(CONFIG_KEYS), ...createTableSchemas() },
    additionalProperties: false,
  };
}

function createTableSchemas(): Record<string, object> {
  const tables = Object.entries(CONFIG_TABLES).map(([name, keys]) => [name, {
    type: "object",
    additionalProperties: {
      type: "object",
      properties: createProperties(keys),
      additionalProperties: false,
    },
  }]);
  return Object.fromEntries(tables);
}

function createProperties(keys: readonly ConfigKey[]): Record<string, object> {
  return Object.fromEntries(keys.map((key) => [key.key, createKeySchema(key)]));
}

function createKeySchema(key: ConfigKey): object {
  const { scope } = key;
  const note = scope === "user" ? " Ignored in a project's file." : "";
  return {
    description: formatDescription(key) + note,
    ...createValueSchema(key),
    ...(key.default !== undefined && { default: key.default }),
  };
}

function createValueSchema({ type, choices, minimum, repeatable }: ConfigKey): object {
  const text = { type: "string", minLength: 1, ...(choices && { enum: choices }) };
  if (repeatable) return { anyOf: [{ type: "array", items: { type: "string" } }, text] };
  switch (type) {
    case "boolean":
      return { type };
    case "integer":
    case "number":
      return { type, ...(minimum !== undefined && { minimum }) };
    case "string":
    case "file":
    case "directory":
      return text;
  }
}
