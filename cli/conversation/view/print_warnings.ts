/**
 * Warnings in a conversation.
 *
 * @module
 */

import type { ConversationView } from "./conversation_view.ts";
import { toMessage } from "./lines.ts";

/** Prints warnings, if there are any. */
export async function printWarnings(
  view: Pick<ConversationView, "print" | "display" | "columns">,
  warnings: readonly string[],
): Promise<void> {
  if (warnings.length === 0) return;
  await view.print(warnings.flatMap((warning) => toMessage("warning", warning, view)));
}
