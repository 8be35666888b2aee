/**
 * Exports a complete session as JSON lines.
 *
 * @module
 */

import { checkNames } from "../../core/checks/check_names.ts";
import type { Session } from "../../core/sessions/session.ts";
import { encodeEntry, encodeHeader } from "../store/jsonl.ts";
import { redactHeader, redactTexts } from "./redact_texts.ts";
import type { ExportOptions } from "./transcript.ts";

/**
 * Exports a session as JSON lines: the header, then the entries of all branches, oldest first. `importSession()`
 * reads them.
 *
 * @throws {BadRequestError} If an option is unknown.
 */
export async function exportJsonl(
  session: Session,
  options: Pick<ExportOptions, "redact"> = {},
): Promise<string> {
  checkNames(options, ["redact"], "exportJsonl()");
  const { redact } = options;
  const { header } = session;
  let text = encodeHeader(redact ? redactHeader(header, redact) : header) + "\n";
  for await (const entry of session.entries()) {
    text += encodeEntry(redact ? redactTexts(entry, redact) : entry) + "\n";
  }
  return text;
}
