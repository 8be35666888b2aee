/**
 * Changes of the text in the editor.
 *
 * @module
 */

import { toPlainText } from "../render/plain_text.ts";
import type { EditorState, EditorStep, UndoStep } from "./editor_state.ts";
import { findBoundaryAfter, snapToGrapheme } from "./text_position.ts";

/** Longest text of the input, in characters. */
export const MAX_TEXT = 1_048_576;

/** Maximum number of undo steps, and of the characters in them. */
const MAX_UNDO_STEPS = 200;
const MAX_UNDO_TEXT = 8_388_608;

/** Maximum number of killed texts. */
const MAX_KILLED = 20;

/** A part of a text. */
export interface TextRange {
  readonly start: number;
  readonly end: number;
}

/**
 * Moves the cursor, which ends what earlier keys have started.
 *
 * @param text Replaces the text. Default: the text remains.
 */
export function moveCursor(state: EditorState, cursor: number, text = state.text): EditorState {
  return {
    ...state,
    text,
    cursor: snapToGrapheme(text, cursor),
    menu: undefined,
    lastEdit: "other",
    wantedColumn: undefined,
  };
}

/**
 * Replaces the text, such as by that of an external editor. Escape sequences and control characters are removed.
 *
 * @param cursor Default: the end of the text.
 */
export function replaceText(state: EditorState, text: string, cursor?: number): EditorState {
  const plain = toPlainText(text.replaceAll(/\r\n?/g, "\n")).slice(0, MAX_TEXT);
  return {
    ...moveCursor(state, cursor ?? plain.length, plain),
    undo: plain === state.text ? state.undo : pushUndo(state),
  };
}

/** Inserts a text at the cursor, in place of the selected range. A text that is too long is cut. */
export function insertText(
  state: EditorState,
  text: string,
  { start, end }: TextRange = { start: state.cursor, end: state.cursor },
): EditorStep {
  const capacity = Math.max(MAX_TEXT - (state.text.length - (end - start)), 0);
  const inserted = text.slice(0, capacity);
  const changedText = state.text.slice(0, start) + inserted + state.text.slice(end);
  const changed = {
    ...state,
    text: changedText,
    // The inserted text may join the text behind it.
    cursor: findBoundaryAfter(changedText, start + inserted.length),
    lastEdit: "other",
    wantedColumn: undefined,
    undo: pushUndo(state),
  } as const;
  if (inserted.length === text.length) return { state: changed };
  const message = `The text was cut: the input has at most ${MAX_TEXT} characters.`;
  return { state: changed, effect: { type: "notice", message } };
}

/** Inserts a typed character. Those of a word are one step of undo. */
export function typeText(state: EditorState, text: string): EditorStep {
  const continues = state.lastEdit === "typed" && !/^\s/.test(text);
  const { state: changed, effect } = insertText(state, text);
  return {
    state: { ...changed, lastEdit: "typed", undo: continues ? state.undo : changed.undo },
    effect,
  };
}

/** Deletes a range. */
export function deleteRange(state: EditorState, { start, end }: TextRange): EditorState {
  if (start >= end) return { ...state, lastEdit: "other", wantedColumn: undefined };
  return insertText(state, "", { start, end }).state;
}

/** Deletes a range and keeps its text, together with the texts that were killed directly before. */
export function killRange(state: EditorState, { start, end }: TextRange): EditorState {
  if (start >= end) return state;
  const killed = state.text.slice(start, end);
  const [last = "", ...earlier] = state.killed;
  const isBackward = end <= state.cursor;
  const joined = isBackward ? killed + last : last + killed;
  return {
    ...deleteRange(state, { start, end }),
    killed: state.lastEdit === "killed"
      ? [joined, ...earlier]
      : [killed, ...state.killed].slice(0, MAX_KILLED),
    lastEdit: "killed",
  };
}

/** Inserts the text that was killed last. */
export function yank(state: EditorState): EditorStep {
  const [last] = state.killed;
  if (last === undefined) return { state };
  const { state: changed, effect } = insertText(state, last);
  return { state: { ...changed, lastEdit: "yanked" }, effect };
}

/** Replaces the text that was just inserted by `yank()` by the one that was killed before it. */
export function yankEarlier(state: EditorState): EditorStep {
  const [last, ...earlier] = state.killed;
  if (state.lastEdit !== "yanked" || last === undefined) return { state };
  const rotated = { ...state, killed: [...earlier, last] };
  const start = Math.max(state.cursor - last.length, 0);
  const { state: changed, effect } = insertText(rotated, earlier[0] ?? last, {
    start,
    end: state.cursor,
  });
  return { state: { ...changed, lastEdit: "yanked" }, effect };
}

/** Returns to the text before the last change. */
export function undoEdit(state: EditorState): EditorState {
  const [last, ...earlier] = state.undo;
  if (!last) return state;
  return { ...moveCursor(state, last.cursor, last.text), undo: earlier };
}

/** Returns the undo steps with the current text as the last one. */
export function pushUndo({ text, cursor, undo }: EditorState): readonly UndoStep[] {
  let size = text.length;
  const kept = undo.slice(0, MAX_UNDO_STEPS - 1).filter((step) => {
    size += step.text.length;
    return size <= MAX_UNDO_TEXT;
  });
  return [{ text, cursor }, ...kept];
}
