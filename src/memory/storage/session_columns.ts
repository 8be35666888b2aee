/**
 * Encodes headers and summaries for the columns of a database, which another program may change.
 *
 * @module
 */

import { isJsonObject, type JsonObject } from "../../core/json/json.ts";
import type { SessionSummary } from "../../core/sessions/session.ts";
import type { SessionHeader } from "../../core/sessions/session_entry.ts";
import { readHeader } from "../store/jsonl.ts";
import { SummaryBuilder } from "../store/summary.ts";
import { isSummary } from "../store/summary_check.ts";

/** Encodes a summary. The metadata are only in the header, since they may be long and never change. */
export function encodeSummary({ metadata: _metadata, ...summary }: SessionSummary): string {
  return JSON.stringify(summary);
}

/** Reads the summary of a session: the encoded one, or an empty one with the `problem` that it is damaged. */
export function readSummary(text: unknown, header: SessionHeader): SessionSummary {
  const summary = decodeSummary(text, header);
  if (summary) return summary;
  const problem = `The summary of the session "${header.id}" is damaged: ` +
    "the next entry that is written to the session restores it";
  return { ...SummaryBuilder.from(header).build(0), problem };
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
