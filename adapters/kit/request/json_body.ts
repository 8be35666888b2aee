/**
 * Request bodies as JSON that every server takes.
 *
 * @module
 */

import type { JsonObject } from "../../../src/core/json.ts";
import type { WarningSink } from "./warnings.ts";

/**
 * Writes a body, or JSON within one, as well-formed text.
 *
 * `JSON.stringify` writes half a surrogate pair (cut text, a tool's binary output) as an escape, which many servers
 * refuse; it becomes U+FFFD here.
 */
export function serializeJson(body: object): string {
  const text = JSON.stringify(body);
  // Such an escape is rare, and looking for it in the text is far cheaper than visiting every value.
  return /\\ud[89a-f]/.test(text) ? JSON.stringify(toWellFormed(body)) : text;
}

/** The body with the caller's own fields; where both say something the body wins, and a warning tells of it. */
export function mergeExtraFields(
  body: JsonObject,
  extra: JsonObject | undefined,
  sink: WarningSink,
): JsonObject {
  const said = Object.fromEntries(Object.entries(body).filter(([, value]) => value !== undefined));
  for (const field of Object.keys(extra ?? {})) {
    if (!Object.hasOwn(said, field)) continue;
    sink.warning("extra_left_out", `The extra field "${field}" is set by an option of its own`);
  }
  return { ...extra, ...said };
}

function toWellFormed(value: unknown): unknown {
  if (typeof value === "string") return value.toWellFormed();
  if (Array.isArray(value)) return value.map(toWellFormed);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, member]) => [key.toWellFormed(), toWellFormed(member)]),
  );
}
