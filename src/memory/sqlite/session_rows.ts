/**
 * The headers and summaries of sessions in the rows of a database, which may be damaged.
 *
 * @module
 */

import { isJsonObject, type JsonObject } from "../../core/json.ts";
import type { SessionSummary } from "../../core/session.ts";
import type { SessionHeader } from "../../core/session_entry.ts";
import { createHeader } from "../store/jsonl.ts";
import { SummaryBuilder } from "../store/summary.ts";

type Row = Readonly<Record<string, unknown>>;

/** Returns the header in a row, or one with the values of its other columns. */
export function readHeader({ id, header, updated, ...columns }: Row): SessionHeader {
  const value = parseObject(header);
  if (value?.["id"] === id && typeof value?.["created"] === "number") {
    return value as unknown as SessionHeader;
  }
  const about = ["cwd", "tenant", "user"].flatMap((name) =>
    typeof columns[name] === "string" ? [[name, columns[name]]] : []
  );
  return createHeader({ id: String(id), created: Number(updated), ...Object.fromEntries(about) });
}

/** Returns the summary in a row, or one with the `problem` that it cannot be read. */
export function readSummary(row: Row): SessionSummary {
  const summary = parseObject(row["summary"]);
  const isValid = summary?.["id"] === row["id"] && typeof summary?.["updated"] === "number" &&
    isJsonObject(summary["usage"]) && isJsonObject(summary["cost"]);
  if (isValid) return summary as unknown as SessionSummary;
  const header = readHeader(row);
  const problem =
    `The summary of the session "${header.id}" is damaged: open the session to read it`;
  return { ...SummaryBuilder.from(header).build(0), problem };
}

function parseObject(text: unknown): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(String(text));
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
