/**
 * Request bodies as JSON.
 *
 * @module
 */

import type { JsonObject } from "../../../src/core/json.ts";
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

/** Adds the caller's extra fields to a body. A field that the body already has is ignored with a warning. */
export function mergeExtraFields(
  body: JsonObject,
  extra: JsonObject | undefined,
  sink: WarningSink,
): JsonObject {
  const fields = Object.fromEntries(
    Object.entries(body).filter(([, value]) => value !== undefined),
  );
  for (const field of Object.keys(extra ?? {})) {
    if (!Object.hasOwn(fields, field)) continue;
    sink.warning("extra_left_out", `The extra field "${field}" was ignored: the request sets it`);
  }
  return { ...extra, ...fields };
}

function toWellFormed(value: unknown): unknown {
  if (typeof value === "string") return value.toWellFormed();
  if (Array.isArray(value)) return value.map(toWellFormed);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, member]) => [key.toWellFormed(), toWellFormed(member)]),
  );
}
