/**
 * Up and Down: lines of the text, then entries of the history.
 *
 * @module
 */

import { moveCursor, pushUndo } from "./edit_text.ts";
import type { EditorState } from "./editor_state.ts";
import { findColumn, findLineEnd, findLineStart, getColumn } from "./text_position.ts";

/** Moves up a line, or to the previous entry of the history from the first line. */
export function moveUp(state: EditorState, history: readonly string[]): EditorState {
  const start = findLineStart(state.text, state.cursor);
  if (start > 0) return moveToLine(state, start - 1);
  return recall(state, history, (state.recalled?.index ?? -1) + 1);
}

/** Moves down a line, or to the next entry of the history from the last line. */
export function moveDown(state: EditorState, history: readonly string[]): EditorState {
  const end = findLineEnd(state.text, state.cursor);
  if (end < state.text.length) return moveToLine(state, end + 1);
  return state.recalled ? recall(state, history, state.recalled.index - 1) : state;
}

function moveToLine(state: EditorState, offset: number): EditorState {
  const wantedColumn = state.wantedColumn ?? getColumn(state.text, state.cursor);
  const cursor = findColumn(state.text, offset, wantedColumn);
  return { ...moveCursor(state, cursor), wantedColumn };
}

/** Shows an entry of the history, or the new text for index -1. */
function recall(state: EditorState, history: readonly string[], index: number): EditorState {
  const draft = state.recalled?.draft ?? state.text;
  const text = index < 0 ? draft : history[index];
  if (text === undefined) return state;
  return {
    ...moveCursor(state, text.length, text),
    recalled: index < 0 ? undefined : { index, draft },
    undo: pushUndo(state),
  };
}
