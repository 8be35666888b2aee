/**
 * Encodes headers and summaries for the columns of a database, which another program may change.
 *
 * @module
 */

import { isJsonObject, type JsonObject } from "../../core/json.ts";
import type { SessionSummary } from "../../core/session.ts";
import type { SessionHeader } from "../../core/session_entry.ts";
import { readHeader } from "../store/jsonl.ts";
import { isSummary } from "../store/summary_check.ts";

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
  if (summary?.["id"] !== id || !isSummary(summary)) return undefined;
  return { ...summary, ...(metadata !== undefined && { metadata }) };
}

/** Decodes the header of a session, without members that are invalid; `undefined` if it is damaged. */
export function decodeHeader(text: unknown, id: string): SessionHeader | undefined {
  const header = decodeObject(text);
  const { created } = header ?? {};
  const isValid = header?.["id"] === id && typeof created === "number" && Number.isFinite(created);
  if (!isValid) return undefined;
  return readHeader(header, { id, created });
}

function decodeObject(text: unknown): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(String(text));
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
