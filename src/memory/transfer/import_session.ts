/**
 * Sessions from JSON lines.
 *
 * @module
 */

import { SessionError } from "../../core/errors.ts";
import type { Session, SessionDamage, SessionStore } from "../../core/session.ts";
import { LogScanner } from "../file/log_scanner.ts";
import { splitLines } from "../file/read_lines.ts";

/** Options of {@linkcode importSession}. */
export interface ImportSessionOptions {
  /** Name of the new session. Default: the time and something random. */
  readonly id?: string;
  /** When the session began if the lines do not tell, in milliseconds since the epoch. Default: now. */
  readonly created?: number;
}

/** A session that was imported. */
export interface ImportedSession {
  /** The session, open for writing. */
  readonly session: Session;
  /** What could not be read. */
  readonly damage: readonly SessionDamage[];
}

/**
 * Begins a session with the entries of JSON lines: those of an export, those of a session file, or a bare list
 * of messages, one a line. What cannot be read is passed over and told.
 *
 * @throws {SessionError} When nothing can be read, or the lines are of a newer version.
 */
export async function importSession(
  store: SessionStore,
  jsonl: string,
  { id, created = Date.now() }: ImportSessionOptions = {},
): Promise<ImportedSession> {
  const scan = new LogScanner({ id: id ?? "import", created });
  const bytes = new TextEncoder().encode(jsonl);
  for (const line of splitLines(bytes, 0)) scan.addLine(line);
  const { damage, entries, header: { cwd, parent } } = scan;
  const found = entries.filter((entry) => entry !== undefined);
  if (found.length === 0) {
    throw new SessionError(
      "There is no session entry in what was to be imported: it takes JSON lines, one entry or message each",
      { reason: "not_a_session" },
    );
  }
  const session = await store.create({
    ...(id !== undefined && { id }),
    ...(cwd !== undefined && { cwd }),
    ...(parent !== undefined && { parent }),
    entries: found,
  });
  return { session, damage };
}
