/**
 * Rows of a name and a value.
 *
 * @module
 */

import type { Line } from "../../render/line/line.ts";
import { wrapLine } from "../../render/line/wrap_line.ts";
import { toOneLine, toPlainText } from "../../render/plain_text.ts";
import type { ConversationView } from "../view/conversation_view.ts";

/** Formats names and values in two columns; a long value continues in its column. */
export function formatFields(
  fields: readonly (readonly [name: string, value: string])[],
  { columns }: Pick<ConversationView, "columns">,
): Line[] {
  const width = Math.max(0, ...fields.map(([name]) => name.length)) + 2;
  return fields.flatMap(([name, value]) =>
    wrapLine([{ text: toOneLine(toPlainText(value)) }], {
      columns,
      first: [{ text: name.padEnd(width), role: "faint" }],
      next: [{ text: " ".repeat(width) }],
    })
  );
}
