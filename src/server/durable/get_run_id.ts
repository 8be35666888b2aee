/**
 * The entries with which runs mark what they write.
 *
 * @module
 */

import { isJsonObject } from "../../core/json/json.ts";
import type { SessionEntry } from "../../core/sessions/session_entry.ts";
import { RUN_ENTRY } from "../../durable/agent/durable_session.ts";

/** Returns the id of the run whose entries follow an entry. */
export function getRunId(entry: SessionEntry | undefined): string | undefined {
  if (entry?.type !== "custom" || entry.name !== RUN_ENTRY || !isJsonObject(entry.data)) {
    return undefined;
  }
  const { runId } = entry.data;
  return typeof runId === "string" ? runId : undefined;
}
