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
  const redactValue = <Value>(value: Value): Value => redact ? redactTexts(value, redact) : value;
  let text = encodeHeader(redactValue(session.header)) + "\n";
  for await (const entry of session.entries()) text += encodeEntry(redactValue(entry)) + "\n";
  return text;
}
