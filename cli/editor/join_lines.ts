/**
 * Joins lines, as `J` of vi does.
 *
 * @module
 */

import { insertText, pushUndo } from "./edit_text.ts";
import type { EditorState, EditorStep } from "./editor_state.ts";
import { findLineEnd, findLineStart, getKindBefore } from "./text_position.ts";

/** Joins lines, two without a count, with a space between them. */
export function joinLines(
  state: EditorState,
  { count = 2 }: { readonly count: number | undefined },
): EditorStep {
  let joined = state;
  for (let line = 1; line < Math.max(count, 2); line++) {
    const start = findLineEnd(joined.text, joined.cursor);
    if (start === joined.text.length) break;
    const next = joined.text.slice(start + 1, findLineEnd(joined.text, start + 1));
    const end = start + 1 + next.length - next.trimStart().length;
    const hasSpace = start === findLineStart(joined.text, start) || next.trim() === "" ||
      getKindBefore(joined.text, start) === "space";
    const { state: changed } = insertText(joined, hasSpace ? "" : " ", { start, end });
    joined = { ...changed, cursor: start };
  }
  return { state: joined === state ? state : { ...joined, undo: pushUndo(state) } };
}
