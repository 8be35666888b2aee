/**
 * The owner record of a lock, and the age at which a lock is stale.
 *
 * @module
 */

import type { SessionOwner } from "../../core/errors/errors.ts";
import { isJsonObject, type JsonObject } from "../../core/json/json.ts";
import { isDate } from "../store/format_time.ts";

/** Interval between two heartbeats, in milliseconds. */
export const HEARTBEAT_INTERVAL_MS = 5_000;
/** Age of the last heartbeat above which a lock is stale, in milliseconds. */
const STALE_AFTER_MS = 30_000;
/** Maximum length of the name of an owner, so that a lock file is read at once. */
const MAX_NAME_LENGTH = 500;
/** Process id of an owner whose record cannot be read, for example while it is being written. */
const UNKNOWN_PID = 0;

/** Encodes the record of an owner without its heartbeat, which is the modification time of the lock file. */
export function encodeLockOwner({ pid, name, since }: Omit<SessionOwner, "heartbeat">): string {
  return JSON.stringify({ pid, name: name?.slice(0, MAX_NAME_LENGTH), since });
}

/** Decodes the record of an owner; if it is broken, only the heartbeat is known. Default of `heartbeat`: that in the record. */
export function decodeLockOwner(record: string, heartbeat?: number): SessionOwner {
  const { pid, name, since, heartbeat: recorded } = parseRecord(record);
  const lastHeartbeat = heartbeat ?? (isTime(recorded) ? recorded : 0);
  return {
    pid: typeof pid === "number" ? pid : UNKNOWN_PID,
    ...(typeof name === "string" && { name }),
    since: isTime(since) ? since : lastHeartbeat,
    heartbeat: lastHeartbeat,
  };
}

/** Whether the record of an owner could be read. */
export function isKnownOwner({ pid }: SessionOwner): boolean {
  return pid !== UNKNOWN_PID;
}

/**
 * Whether a lock with this heartbeat is stale and may be taken over. Both times are in milliseconds since the epoch.
 */
export function isStale(heartbeat: number, now: number): boolean {
  return now - heartbeat > STALE_AFTER_MS;
}

function isTime(value: unknown): value is number {
  return typeof value === "number" && isDate(value);
}

function parseRecord(record: string): JsonObject {
  try {
    const value: unknown = JSON.parse(record);
    return isJsonObject(value) ? value : {};
  } catch {
    return {};
  }
}
