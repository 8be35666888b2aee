/**
 * The first lines of a conversation: model, directory, permissions and warnings.
 *
 * @module
 */

import type { Host } from "../host/host.ts";
import { formatHeader } from "../render/header.ts";
import { reportStart, type StartReportOptions } from "../run/start_report.ts";
import type { ConversationView } from "./view/conversation_view.ts";
import { toLine, toLines } from "./view/lines.ts";

/** Prints the first lines. */
export async function reportConversationStart(
  view: ConversationView,
  options: StartReportOptions,
  { env, terminal }: Pick<Host, "env" | "terminal">,
): Promise<void> {
  await reportStart({
    async onRunStart(start) {
      const header = formatHeader(start, { home: env("HOME"), columns: terminal.columns });
      await view.print(header.map((row) => toLine(row, "faint")));
    },
    async onNotice(notice) {
      await view.print(toLines(notice, "warning"));
    },
  }, options);
}
