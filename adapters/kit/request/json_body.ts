/**
 * Request bodies as JSON.
 *
 * @module
 */

import { isJsonObject, type JsonObject } from "../../../src/core/json/json.ts";
import type { WarningSink } from "./warnings.ts";

/**
 * Serializes a body, or JSON within one, as well-formed Unicode.
 *
 * `JSON.stringify` escapes a lone surrogate (from truncated text or binary output of a tool), which many servers reject;
 * here it becomes U+FFFD.
 */
export function serializeJson(body: object): string {
  const text = JSON.stringify(body);
  // Lone surrogates are rare, and searching the text is far cheaper than visiting every value.
  return /\\ud[89a-f]/.test(text) ? JSON.stringify(toWellFormed(body)) : text;
}

/**
 * Merges the caller's extra fields into a body, at every depth. Lists of texts are joined, and so are lists of tools. Any
 * other field that the body already has is ignored with a warning.
 */
export function mergeExtraFields(
  body: JsonObject,
  extra: JsonObject | undefined,
  sink: WarningSink,
): JsonObject {
  return mergeObjects(body, extra ?? {}, { path: "", sink });
}

interface MergeContext {
  /** Path of the objects in the body, with a dot at its end. */
  readonly path: string;
  readonly sink: WarningSink;
}

function mergeObjects(own: JsonObject, extra: JsonObject, context: MergeContext): JsonObject {
  const merged = new Map(Object.entries(own).filter(([, value]) => value !== undefined));
  for (const [field, value] of Object.entries(extra)) {
    const nested = { ...context, path: context.path + field };
    merged.set(field, merged.has(field) ? mergeValues(merged.get(field), value, nested) : value);
  }
  return Object.fromEntries(merged);
}

function mergeValues(own: unknown, extra: unknown, { path, sink }: MergeContext): unknown {
  // Two types of one setting, such as `thinking`, have different fields.
  if (isJsonObject(own) && isJsonObject(extra) && (extra["type"] ?? own["type"]) === own["type"]) {
    return mergeObjects(own, extra, { path: `${path}.`, sink });
  }
  if (Array.isArray(own) && Array.isArray(extra)) {
    if (/(?:^|\.)tools$/.test(path)) return [...own, ...extra];
    if ([...own, ...extra].every((item) => typeof item === "string")) {
      return [...new Set([...own, ...extra])];
    }
  }
  sink.warning("extra_left_out", `The extra field "${path}" was ignored: the request sets it`);
  return own;
}

function toWellFormed(value: unknown): unknown {
  if (typeof value === "string") return value.toWellFormed();
  if (Array.isArray(value)) return value.map(toWellFormed);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, member]) => [key.toWellFormed(), toWellFormed(member)]),
  );
}
