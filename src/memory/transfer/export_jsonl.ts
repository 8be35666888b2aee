/**
 * Exports a complete session as JSON lines.
 *
 * @module
 */

import type { Session } from "../../core/session.ts";
import { encodeEntry, encodeHeader } from "../store/jsonl.ts";
import { type ExportOptions, redactTexts } from "./transcript.ts";

/**
 * Exports a session as JSON lines: the header, then the entries of all branches, oldest first. `importSession()`
 * reads them.
 */
export async function exportJsonl(
  session: Session,
  { redact }: Pick<ExportOptions, "redact"> = {},
): Promise<string> {
  const clean = <Value>(value: Value): Value => redact ? redactTexts(value, redact) : value;
  let text = encodeHeader(clean(session.header)) + "\n";
  for await (const entry of session.entries()) text += encodeEntry(clean(entry)) + "\n";
  return text;
}
