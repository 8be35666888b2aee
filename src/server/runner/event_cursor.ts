/**
 * Positions in the events of a session.
 *
 * @module
 */

import { BadRequestError } from "../../core/errors/errors.ts";

/** The position after an event. */
export interface EventCursor {
  /** Number of entries of the log before the position. */
  readonly position: number;
  /** Id of the last of these entries, by which a log is recognized; empty at the beginning. */
  readonly entryId: string;
  /** The position in the events that are not in the log. Default: unknown. */
  readonly live?: LivePosition | undefined;
}

/** A position in the live events of a process. */
export interface LivePosition {
  /** Distinguishes the events of this process from those of others. */
  readonly epoch: string;
  /** Number of live events before the position. */
  readonly seq: number;
}

const CURSOR = /^(\d{1,10})-([^~]{0,2000})(?:~([0-9a-z]{1,40})-(\d{1,15}))?$/;

/** Formats a position as the id of a server-sent event. */
export function formatCursor({ position, entryId, live }: EventCursor): string {
  const id = encodeURIComponent(entryId).replaceAll("~", "%7E");
  return `${position}-${id}${live ? `~${live.epoch}-${live.seq}` : ""}`;
}

/**
 * Checks the id of an event that a client has sent.
 *
 * @throws {BadRequestError} If it is not a position.
 */
export function checkCursor(text: string | undefined): void {
  if (text === undefined || parseCursor(text)) return;
  throw new BadRequestError("Invalid event id: use the id of the last event, or none");
}

/** Parses a position; `undefined` if the text is none. */
export function parseCursor(text: string): EventCursor | undefined {
  const match = CURSOR.exec(text);
  if (!match) return undefined;
  const [, position, id = "", epoch, seq] = match;
  try {
    return {
      position: Number(position),
      entryId: decodeURIComponent(id),
      ...(epoch !== undefined && { live: { epoch, seq: Number(seq) } }),
    };
  } catch {
    return undefined;
  }
}
