/**
 * The form that a server requests, as fields that a user can answer one by one.
 *
 * @module
 */

import type { JsonObject, JsonSchema } from "../../mod.ts";
import { isJsonObject } from "../../src/core/json/json.ts";

/** Maximum number of fields of a form, and of options of a field; a form with more is declined. */
const MAX_ITEMS = 64;

/** Maximum number of characters of a text of a form; the rest is cut off. */
const MAX_TEXT = 200;

/** A value that can be chosen. */
export interface FieldOption {
  /** The value. */
  readonly value: string;
  /** The text that the user reads. */
  readonly label: string;
}

/** Limits of a value: its length or size, or the number of chosen options. */
interface Limits {
  readonly minimum: number;
  readonly maximum: number;
}

/** How a field is answered. */
export type FieldKind =
  | { readonly type: "text"; readonly limits: Limits; readonly format: string | undefined }
  | { readonly type: "number"; readonly limits: Limits; readonly isInteger: boolean }
  | { readonly type: "boolean" }
  | { readonly type: "choice"; readonly options: readonly FieldOption[] }
  | {
    readonly type: "choices";
    readonly options: readonly FieldOption[];
    readonly limits: Limits;
  };

/** A field of a form. Its texts are those of the server. */
export interface FormField {
  /** Name of the property. */
  readonly name: string;
  /** The text that the user reads. */
  readonly label: string;
  /** An explanation; empty if there is none. */
  readonly description: string;
  /** Whether an answer is needed. */
  readonly isRequired: boolean;
  /** The suggested answer. Default: none. */
  readonly initial?: string | undefined;
  /** How it is answered. */
  readonly kind: FieldKind;
}

/** The answer to a field, or what is wrong with it. */
export type FieldAnswer =
  | { readonly type: "value"; readonly value: JsonObject[string] }
  | { readonly type: "omitted" }
  | { readonly type: "invalid"; readonly hint: string };

/**
 * Parses the schema of a form; `undefined` if a user cannot answer it in lines of text. Properties that are not required
 * and cannot be answered are left out.
 */
export function parseElicitationForm(schema: JsonSchema): readonly FormField[] | undefined {
  if (!isJsonObject(schema) || !isJsonObject(schema["properties"])) return undefined;
  const entries = Object.entries(schema["properties"]);
  if (entries.length > MAX_ITEMS) return undefined;
  const required = Array.isArray(schema["required"]) ? schema["required"] : [];
  const fields: FormField[] = [];
  for (const [name, property] of entries) {
    const isRequired = required.includes(name);
    const kind = isJsonObject(property) ? parseKind(property) : undefined;
    if (isJsonObject(property) && kind) {
      fields.push(createField(name, property, { kind, isRequired }));
    } else if (isRequired) return undefined;
  }
  return fields;
}

function createField(
  name: string,
  property: JsonObject,
  { kind, isRequired }: Pick<FormField, "kind" | "isRequired">,
): FormField {
  const { title, description, default: suggested } = property;
  const initial = formatSuggestion(suggested);
  return {
    name,
    label: readText(title) || readText(name),
    description: readText(description),
    isRequired,
    kind,
    ...(initial !== undefined && initial.length <= MAX_TEXT && { initial }),
  };
}

/** Returns a suggested value as the user would type it; `undefined` if there is none. */
function formatSuggestion(value: unknown): string | undefined {
  if (Array.isArray(value)) return value.length === 0 ? undefined : value.map(String).join(", ");
  switch (typeof value) {
    case "boolean":
      return value ? "yes" : "no";
    case "string":
    case "number":
      return String(value);
    default:
      return undefined;
  }
}

function parseKind(property: JsonObject): FieldKind | undefined {
  const { type, items } = property;
  const options = parseOptions(property);
  switch (type) {
    case "string":
      if (options) return { type: "choice", options };
      return {
        type: "text",
        limits: readLimits(property["minLength"], property["maxLength"]),
        format: typeof property["format"] === "string" ? property["format"] : undefined,
      };
    case "number":
    case "integer":
      return {
        type: "number",
        isInteger: type === "integer",
        limits: readLimits(property["minimum"], property["maximum"], -Infinity),
      };
    case "boolean":
      return { type: "boolean" };
    case "array": {
      const choices = isJsonObject(items) ? parseOptions(items) : undefined;
      const limits = readLimits(property["minItems"], property["maxItems"]);
      return choices && { type: "choices", options: choices, limits };
    }
    default:
      return undefined;
  }
}

/** Returns the options of `enum`, with `enumNames`, or of `oneOf` or `anyOf` with constants; `undefined` if there are none. */
function parseOptions(property: JsonObject): readonly FieldOption[] | undefined {
  const { enum: values, enumNames, oneOf, anyOf } = property;
  const names = Array.isArray(enumNames) ? enumNames : [];
  const titled = Array.isArray(oneOf) ? oneOf : anyOf;
  const options = Array.isArray(values)
    ? values.map((value, index) => ({ value, label: names[index] }))
    : Array.isArray(titled)
    ? titled.map((option) => ({ value: option?.const, label: option?.title }))
    : [];
  const valid = options.flatMap(({ value, label }) =>
    typeof value === "string" ? [{ value, label: readText(label) || readText(value) }] : []
  );
  const isUsable = valid.length > 0 && valid.length === options.length &&
    valid.length <= MAX_ITEMS;
  return isUsable ? valid : undefined;
}

function readLimits(minimum: unknown, maximum: unknown, least = 0): Limits {
  return {
    minimum: typeof minimum === "number" ? minimum : least,
    maximum: typeof maximum === "number" ? maximum : Infinity,
  };
}

function readText(text: unknown): string {
  return typeof text === "string" ? text.slice(0, MAX_TEXT) : "";
}

/** Parses the line with which a user answers a field. */
export function parseFieldAnswer({ kind, isRequired }: FormField, line: string): FieldAnswer {
  const text = line.trim();
  if (text === "") {
    return isRequired ? { type: "invalid", hint: "an answer is needed" } : { type: "omitted" };
  }
  switch (kind.type) {
    case "text":
      return parseText(kind, text);
    case "number":
      return parseNumber(kind, text);
    case "boolean":
      return parseBoolean(text);
    case "choice": {
      const option = findOption(kind.options, text);
      return option
        ? { type: "value", value: option.value }
        : { type: "invalid", hint: `a number from 1 to ${kind.options.length} is needed` };
    }
    case "choices":
      return parseChoices(kind, text);
  }
}

function parseText(
  { limits, format }: Extract<FieldKind, { type: "text" }>,
  text: string,
): FieldAnswer {
  const length = Array.from(text).length;
  if (length < limits.minimum) {
    return { type: "invalid", hint: `at least ${limits.minimum} characters are needed` };
  }
  if (length > limits.maximum) {
    return { type: "invalid", hint: `at most ${limits.maximum} characters are allowed` };
  }
  const expected = findFormatProblem(text, format);
  return expected === undefined
    ? { type: "value", value: text }
    : { type: "invalid", hint: `${expected} is needed` };
}

/** Returns the expected format of a text that does not have it. */
function findFormatProblem(text: string, format: string | undefined): string | undefined {
  switch (format) {
    case "email":
      return /^[^@\s]+@[^@\s]+$/.test(text) ? undefined : "an address such as ada@example.com";
    case "uri":
      return URL.canParse(text) ? undefined : "an address such as https://example.com";
    case "date":
      return isDate(text, /^\d{4}-\d\d-\d\d$/) ? undefined : "a date such as 2026-01-31";
    case "date-time":
      return isDate(text, /^\d{4}-\d\d-\d\dT[\d:.]+(?:Z|[+-]\d\d:\d\d)$/i)
        ? undefined
        : "a time such as 2026-01-31T12:00:00Z";
    default:
      return undefined;
  }
}

function isDate(text: string, pattern: RegExp): boolean {
  return pattern.test(text) && !Number.isNaN(Date.parse(text));
}

function parseNumber(
  { limits, isInteger }: Extract<FieldKind, { type: "number" }>,
  text: string,
): FieldAnswer {
  const value = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?$/i.test(text) ? Number(text) : NaN;
  const isValid = isInteger ? Number.isSafeInteger(value) : Number.isFinite(value);
  if (!isValid) {
    return { type: "invalid", hint: `${isInteger ? "an integer" : "a number"} is needed` };
  }
  if (value < limits.minimum) return { type: "invalid", hint: `the least is ${limits.minimum}` };
  if (value > limits.maximum) return { type: "invalid", hint: `the most is ${limits.maximum}` };
  return { type: "value", value };
}

function parseBoolean(text: string): FieldAnswer {
  if (/^(?:y|yes|true)$/i.test(text)) return { type: "value", value: true };
  if (/^(?:n|no|false)$/i.test(text)) return { type: "value", value: false };
  return { type: "invalid", hint: "yes or no is needed" };
}

function parseChoices(
  { options, limits }: Extract<FieldKind, { type: "choices" }>,
  text: string,
): FieldAnswer {
  const words = text.split(",").map((word) => word.trim()).filter((word) => word !== "");
  const chosen = words.map((word) => findOption(options, word));
  const values = new Set(chosen.flatMap((option) => option ? [option.value] : []));
  if (chosen.includes(undefined)) {
    const hint = `numbers from 1 to ${options.length}, with commas, are needed`;
    return { type: "invalid", hint };
  }
  if (values.size < limits.minimum) {
    return { type: "invalid", hint: `at least ${limits.minimum} are needed` };
  }
  if (values.size > limits.maximum) {
    return { type: "invalid", hint: `at most ${limits.maximum} are allowed` };
  }
  return { type: "value", value: [...values] };
}

/** Finds an option by its number from 1, its value, or its label. */
function findOption(options: readonly FieldOption[], text: string): FieldOption | undefined {
  const named = options.find(({ value }) => value === text) ??
    options.find(({ label }) => label.toLowerCase() === text.toLowerCase());
  return named ?? (/^\d+$/.test(text) ? options[Number(text) - 1] : undefined);
}
