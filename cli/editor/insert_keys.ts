/**
 * The keys that edit the text, as in readline.
 *
 * @module
 */

import type { Key } from "../keys/key_event.ts";
import { formatKey } from "../keys/key_notation.ts";
import {
  deleteRange,
  insertText,
  killRange,
  moveCursor,
  undoEdit,
  yank,
  yankEarlier,
} from "./edit_text.ts";
import type { EditorOptions } from "./editor_options.ts";
import type { EditorState, EditorStep } from "./editor_state.ts";
import { moveDown, moveUp } from "./history_navigation.ts";
import {
  findLineEnd,
  findLineStart,
  findNextGrapheme,
  findPreviousGrapheme,
  findSpacedWordStart,
  findWordEnd,
  findWordStart,
} from "./text_position.ts";

type Edit = (state: EditorState, options: EditorOptions) => EditorState | EditorStep;

function move(find: (text: string, cursor: number) => number): Edit {
  return (state) => moveCursor(state, find(state.text, state.cursor));
}

function kill(find: (text: string, cursor: number) => number): Edit {
  return (state) => {
    const target = find(state.text, state.cursor);
    const start = Math.min(target, state.cursor);
    return killRange(state, { start, end: Math.max(target, state.cursor) });
  };
}

const deleteBackward: Edit = (state) =>
  deleteRange(state, { start: findPreviousGrapheme(state.text, state.cursor), end: state.cursor });

const deleteForward: Edit = (state) =>
  deleteRange(state, { start: state.cursor, end: findNextGrapheme(state.text, state.cursor) });

/** Exchanges the graphemes around the cursor, or the last two of a line. */
const transpose: Edit = (state) => {
  const { text } = state;
  const isAtEnd = state.cursor === findLineEnd(text, state.cursor);
  const middle = isAtEnd ? findPreviousGrapheme(text, state.cursor) : state.cursor;
  const start = findPreviousGrapheme(text, middle);
  const end = findNextGrapheme(text, middle);
  if (start < findLineStart(text, state.cursor) || start === middle || middle === end) return state;
  return insertText(state, text.slice(middle, end) + text.slice(start, middle), { start, end });
};

/** Kills the rest of the line, or the line feed at its end. */
const killToLineEnd = kill((text, cursor) => {
  const end = findLineEnd(text, cursor);
  return end > cursor ? end : Math.min(end + 1, text.length);
});

/** Kills the line up to the cursor, or the line feed before it. */
const killToLineStart = kill((text, cursor) => {
  const start = findLineStart(text, cursor);
  return start < cursor ? start : Math.max(start - 1, 0);
});

const moveLeft = move(findPreviousGrapheme);
const moveRight = move(findNextGrapheme);
const moveWordLeft = move(findWordStart);
const moveWordRight = move(findWordEnd);
const moveToTextStart = move(() => 0);
const moveToTextEnd = move((text) => text.length);
const killWordLeft = kill(findWordStart);
const killWordRight = kill(findWordEnd);
const goUp: Edit = (state, { history }) => moveUp(state, history);
const goDown: Edit = (state, { history }) => moveDown(state, history);

const EDITS: ReadonlyMap<string, Edit> = new Map([
  ["left", moveLeft],
  ["ctrl+b", moveLeft],
  ["right", moveRight],
  ["ctrl+f", moveRight],
  ["ctrl+left", moveWordLeft],
  ["alt+left", moveWordLeft],
  ["alt+b", moveWordLeft],
  ["ctrl+right", moveWordRight],
  ["alt+right", moveWordRight],
  ["alt+f", moveWordRight],
  ["home", move(findLineStart)],
  ["ctrl+a", move(findLineStart)],
  ["end", move(findLineEnd)],
  ["ctrl+e", move(findLineEnd)],
  ["ctrl+home", moveToTextStart],
  ["alt+<", moveToTextStart],
  ["ctrl+end", moveToTextEnd],
  ["alt+>", moveToTextEnd],
  ["up", goUp],
  ["ctrl+p", goUp],
  ["down", goDown],
  ["ctrl+n", goDown],
  ["backspace", deleteBackward],
  ["shift+backspace", deleteBackward],
  ["ctrl+h", deleteBackward],
  ["delete", deleteForward],
  ["ctrl+d", deleteForward],
  ["ctrl+w", kill(findSpacedWordStart)],
  ["alt+backspace", killWordLeft],
  ["ctrl+backspace", killWordLeft],
  ["alt+d", killWordRight],
  ["ctrl+delete", killWordRight],
  ["ctrl+k", killToLineEnd],
  ["ctrl+u", killToLineStart],
  ["ctrl+y", yank],
  ["alt+y", yankEarlier],
  ["ctrl+t", transpose],
  // Ctrl+_ in different terminals.
  ["ctrl+_", undoEdit],
  ["ctrl+-", undoEdit],
  ["ctrl+shift+-", undoEdit],
  ["ctrl+shift+_", undoEdit],
  ["ctrl+/", undoEdit],
]);

/** Applies a key that edits the text. Returns `undefined` for other keys. */
export function editByKey(
  state: EditorState,
  key: Key,
  options: EditorOptions,
): EditorStep | undefined {
  const result = EDITS.get(formatKey(key))?.(state, options);
  if (!result) return undefined;
  return "state" in result ? result : { state: result };
}
