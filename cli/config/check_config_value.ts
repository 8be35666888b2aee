/**
 * Checks values of the configuration against the definitions of the keys.
 *
 * @module
 */

import { didYouMean } from "../command_line/suggestion.ts";
import type { ConfigKey } from "./config_keys.ts";
import type { CheckedConfigValue, ConfigValue } from "./config_value.ts";

/** Checks a value of a file. A list may also be a single string. */
export function checkConfigValue(definition: ConfigKey, given: unknown): CheckedConfigValue {
  const { key, choices, minimum = -Infinity, repeatable } = definition;
  const value = repeatable && typeof given === "string" ? [given] : given;
  if (!hasType(definition, value)) {
    return createInvalid(`${key} must be ${describeType(definition)}, not ${describeValue(value)}`);
  }
  if (value === "") return createInvalid(`${key} must not be empty`);
  if (typeof value === "string" && choices && !choices.includes(value)) {
    const suggestion = didYouMean(value, choices);
    return createInvalid(
      `${key} must be one of ${choices.join(", ")}, not ${describeValue(value)}${suggestion}`,
    );
  }
  if (typeof value === "number" && value < minimum) {
    return createInvalid(`${key} must be at least ${minimum}, not ${value}`);
  }
  if (typeof value === "string" && definition.parseText) return definition.parseText(key, value);
  return Array.isArray(value) && definition.parse
    ? definition.parse(key, value)
    : { type: "valid", value };
}

/** Checks a value that is a text: that of an environment variable. A list is separated by commas, as on the command line. */
export function checkConfigText(definition: ConfigKey, text: string): CheckedConfigValue {
  if (definition.repeatable) return checkConfigValue(definition, text);
  switch (definition.type) {
    case "boolean":
      return checkConfigValue(definition, parseBoolean(text) ?? text);
    case "integer":
    case "number":
      return checkConfigValue(definition, /^\s*-?\d+(\.\d+)?\s*$/.test(text) ? Number(text) : text);
    case "string":
    case "file":
    case "directory":
      return checkConfigValue(definition, text);
  }
}

function parseBoolean(text: string): boolean | undefined {
  if (/^(1|true|yes|on)$/i.test(text)) return true;
  return /^(0|false|no|off)$/i.test(text) ? false : undefined;
}

function hasType({ type, repeatable }: ConfigKey, value: unknown): value is ConfigValue {
  if (repeatable) return Array.isArray(value) && value.every((item) => typeof item === "string");
  if (type === "boolean") return typeof value === "boolean";
  if (type === "integer") return Number.isSafeInteger(value);
  if (type === "number") return Number.isFinite(value);
  return typeof value === "string";
}

function describeType({ type, repeatable }: ConfigKey): string {
  if (repeatable) return "a list of strings";
  switch (type) {
    case "boolean":
      return "true or false";
    case "integer":
      return "an integer";
    case "number":
      return "a number";
    case "string":
      return "a string";
    case "file":
    case "directory":
      return "a path";
  }
}

/** Describes a value in a message; long ones are cut. */
function describeValue(value: unknown): string {
  if (value instanceof Date) return "a date";
  const isList = Array.isArray(value);
  if (typeof value === "object" && !isList) return "a table";
  const text = typeof value === "string" || isList ? JSON.stringify(value) : String(value);
  return text.length > 60 ? `${text.slice(0, 57)}…` : text;
}

function createInvalid(message: string): CheckedConfigValue {
  return { type: "invalid", message };
}
