/**
 * Encodes headers and summaries for the columns of a database, which another program may change.
 *
 * @module
 */

import { isJsonObject, type JsonObject } from "../../core/json.ts";
import type { SessionSummary } from "../../core/session.ts";
import type { SessionHeader } from "../../core/session_entry.ts";

/** Encodes a summary. The metadata are only in the header, since they may be long and never change. */
export function encodeSummary({ metadata: _metadata, ...summary }: SessionSummary): string {
  return JSON.stringify(summary);
}

/** Decodes the summary of a session, with the metadata of its header; `undefined` if it is damaged. */
export function decodeSummary(
  text: unknown,
  { id, metadata }: SessionHeader,
): SessionSummary | undefined {
  const summary = decodeObject(text);
  const isValid = summary?.["id"] === id && typeof summary["updated"] === "number" &&
    isJsonObject(summary["usage"]) && isJsonObject(summary["cost"]);
  if (!isValid) return undefined;
  return { ...summary as unknown as SessionSummary, ...(metadata !== undefined && { metadata }) };
}

/** Decodes the header of a session; `undefined` if it is damaged. */
export function decodeHeader(text: unknown, id: string): SessionHeader | undefined {
  const header = decodeObject(text);
  const isValid = header?.["id"] === id && typeof header["created"] === "number";
  return isValid ? header as unknown as SessionHeader : undefined;
}

function decodeObject(text: unknown): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(String(text));
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
