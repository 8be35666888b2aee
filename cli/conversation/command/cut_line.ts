/**
 * Lines of lists, which are cut instead of wrapped.
 *
 * @module
 */

import type { Line } from "../../render/line/line.ts";
import { truncateLine } from "../../render/line/line_width.ts";
import type { ConversationView } from "../view/conversation_view.ts";

/** Columns of a view that does not wrap lines. */
const MAX_COLUMNS = 200;

/** Cuts a line to a row of the view. */
export function cutLine(
  line: Line,
  { columns, display: { symbols: { ellipsis } } }: Pick<ConversationView, "columns" | "display">,
): Line {
  return truncateLine(line, { columns: Math.min(columns, MAX_COLUMNS), ellipsis });
}
