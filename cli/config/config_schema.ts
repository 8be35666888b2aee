/**
 * The JSON Schema of configuration files, for editors.
 *
 * @module
 */

import { formatDescription } from "../command_line/help.ts";
import { HOOK_EVENTS } from "../hooks/hook.ts";
import { CONFIG_KEYS, type ConfigKey } from "./config_keys.ts";
import { CONFIG_TABLES } from "./config_tables.ts";

/** Creates the schema, in the dialect of 2020-12. */
export function createConfigSchema(): object {
  return {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    title: "Configuration of swink",
    description: "config.toml of a user, or .swink/config.toml of a project.",
    type: "object",
    properties: {
      ...createProperties(CONFIG_KEYS),
      ...createTableSchemas(),
      hooks: createHookSchema(),
    },
    additionalProperties: false,
  };
}

function createHookSchema(): object {
  const hook = {
    type: "object",
    properties: {
      command: { description: "Command, which a shell runs.", type: "string", minLength: 1 },
      matcher: { description: "Names of tools, separated by |.", type: "string" },
      timeout: {
        description: "Maximum seconds.",
        type: "number",
        exclusiveMinimum: 0,
        default: 60,
      },
    },
    required: ["command"],
    additionalProperties: false,
  };
  const lists = HOOK_EVENTS.map((event) => [event, { type: "array", items: hook }]);
  return {
    description: "Commands that run at points of a run.",
    type: "object",
    properties: Object.fromEntries(lists),
  };
}

function createTableSchemas(): Record<string, object> {
  const tables = Object.entries(CONFIG_TABLES).map(([name, { type, keys }]) => {
    const table = {
      type: "object",
      properties: createProperties(keys),
      additionalProperties: false,
    };
    return [name, type === "keys" ? table : { type: "object", additionalProperties: table }];
  });
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

function createValueSchema({ type, choices, minimum, repeatable, pattern }: ConfigKey): object {
  const form = pattern === undefined ? {} : { pattern };
  const text = { type: "string", minLength: 1, ...form, ...(choices && { enum: choices }) };
  if (repeatable) {
    const item = { type: "string", ...form };
    return { anyOf: [{ type: "array", items: item }, { ...text, ...item }] };
  }
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
