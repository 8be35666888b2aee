/**
 * The normal mode of vi.
 *
 * @module
 */

import type { Key, KeyEvent } from "../keys/key_event.ts";
import { formatKey } from "../keys/key_notation.ts";
import {
  deleteRange,
  insertText,
  MAX_TEXT,
  moveCursor,
  pushUndo,
  type TextRange,
  undoEdit,
} from "./edit_text.ts";
import type { EditorOptions } from "./editor_options.ts";
import type { EditorState, EditorStep } from "./editor_state.ts";
import {
  type CharacterSearch,
  type CharacterSearchOptions,
  findViCharacter,
  isInclusiveSearch,
  parseCharacterSearch,
  reverseSearch,
} from "./find_vi_character.ts";
import { findViObject } from "./find_vi_object.ts";
import { moveDown, moveUp } from "./history_navigation.ts";
import { joinLines } from "./join_lines.ts";
import { findMatchingBracket } from "./matching_bracket.ts";
import {
  findColumn,
  findLineEnd,
  findLineStart,
  findNextGrapheme,
  findPreviousGrapheme,
  getCharacterKind,
  getColumn,
} from "./text_position.ts";
import { findEndOfThisWord, findFirstCharacter, VI_MOTIONS } from "./vi_motions.ts";

/** Largest count before a command. */
const MAX_COUNT = 10_000;

/** Maximum number of texts that are kept for `p`. */
const MAX_KEPT = 20;

/** Matches a command, or the beginning of one: count, operator, count, and its key or keys. */
const COMMAND =
  /^([1-9]\d*)?([dcy])?([1-9]\d*)?(?:(g.?|[rfFtT](?:.|\n)?|(?<=[dcy]\d*)[ia].?|[^])?)$/u;

/** Matches the first key of those that need a second one, behind an operator. */
const FIRST_KEY = /^[grfFtTia]?$/;

/** Matches the first key of those that need a second one, without an operator. */
const FIRST_KEY_ALONE = /^[grfFtT]?$/;

/** A command that is complete. */
interface ViCommand {
  /** How often it is repeated; `undefined` without a count. */
  readonly count: number | undefined;
  /** `d`, `c` or `y` before a motion. */
  readonly operator: string;
  /** The key of the command or motion, or the keys of a text object. */
  readonly key: string;
}

/** Characters of commands that other keys repeat. */
const KEY_CHARACTERS: ReadonlyMap<string, string> = new Map([
  ["left", "h"],
  ["backspace", "h"],
  ["ctrl+h", "h"],
  ["right", "l"],
  ["down", "j"],
  ["ctrl+n", "j"],
  ["up", "k"],
  ["ctrl+p", "k"],
  ["home", "0"],
  ["end", "$"],
  ["delete", "x"],
]);

/** Applies a key in normal mode. */
export function editByViKey(
  state: EditorState,
  event: KeyEvent,
  options: EditorOptions,
): EditorStep {
  if (state.mode.type !== "normal") return { state };
  const character = toCharacter(event);
  // Escape and unknown keys end a command that is not complete.
  if (character === undefined) return { state: withPending(state, "") };
  const pending = state.mode.pending + character;
  const match = COMMAND.exec(pending);
  if (!match) return { state: withPending(state, "") };
  const [, count, operator = "", operatorCount, key = ""] = match;
  const firstKey = operator === "" ? FIRST_KEY_ALONE : FIRST_KEY;
  if (firstKey.test(key)) return { state: withPending(state, pending) };
  const command = {
    count: count === undefined && operatorCount === undefined
      ? undefined
      : Math.min(Number(count ?? 1) * Number(operatorCount ?? 1), MAX_COUNT),
    operator,
    key,
  };
  const search = parseCharacterSearch(key) ?? state.characterSearch;
  const before = { ...withPending(state, ""), characterSearch: search };
  const step = runCommand(before, command, options);
  return { ...step, state: keepOnCharacter(rememberBefore(step.state, state)) };
}

/** Inserts a pasted text behind the cursor, or before it at the beginning of a line, as Vim does. */
export function pasteInNormalMode(
  state: EditorState,
  paste: (state: EditorState) => EditorStep,
): EditorStep {
  const { text, cursor } = state;
  const isAtStart = cursor === findLineStart(text, cursor);
  const offset = isAtStart
    ? cursor
    : Math.min(findNextGrapheme(text, cursor), findLineEnd(text, cursor));
  const { state: pasted, effect } = paste({ ...state, cursor: offset });
  return {
    state: { ...enterNormalMode(pasted), undo: pushUndo(state) },
    effect,
  };
}

/** Keeps the state before a command that has begun the insert mode. */
function rememberBefore(state: EditorState, { text, cursor, undo }: EditorState): EditorState {
  if (state.mode.type !== "insert") return state;
  return { ...state, mode: { type: "insert", before: { text, cursor, undo } } };
}

/** Makes one step of undo of all changes of the insert mode. */
function joinChanges(state: EditorState): EditorState {
  const before = state.mode.type === "insert" ? state.mode.before : undefined;
  if (!before) return state;
  const { text, cursor, undo } = before;
  return {
    ...state,
    undo: text === state.text ? undo : pushUndo({ ...state, text, cursor, undo }),
  };
}

/** Leaves the insert mode: the cursor moves to the character before it. */
export function enterNormalMode(inserted: EditorState): EditorState {
  const state = joinChanges(inserted);
  const start = findLineStart(state.text, state.cursor);
  const cursor = Math.max(findPreviousGrapheme(state.text, state.cursor), start);
  return { ...moveCursor(state, cursor), mode: { type: "normal", pending: "" } };
}

function withPending(state: EditorState, pending: string): EditorState {
  return { ...state, mode: { type: "normal", pending } };
}

function toInsertMode(state: EditorState): EditorState {
  return { ...state, mode: { type: "insert" } };
}

function insertAt(state: EditorState, cursor: number): EditorState {
  return toInsertMode(moveCursor(state, cursor));
}

/** In normal mode, the cursor is on a character and not behind the last one of a line. */
function keepOnCharacter(state: EditorState): EditorState {
  if (state.mode.type !== "normal") return state;
  const start = findLineStart(state.text, state.cursor);
  const isAfterLast = state.cursor > start &&
    state.cursor === findLineEnd(state.text, state.cursor);
  return isAfterLast ? { ...state, cursor: findPreviousGrapheme(state.text, state.cursor) } : state;
}

function toCharacter(event: KeyEvent): string | undefined {
  switch (event.type) {
    case "character":
      return event.text;
    case "key":
      return KEY_CHARACTERS.get(formatKey(event satisfies Key));
    case "paste":
      return undefined;
  }
}

function runCommand(state: EditorState, command: ViCommand, options: EditorOptions): EditorStep {
  const { operator, key, count = 1 } = command;
  if (operator !== "") return runOperator(state, command);
  if (key === "j" || key === "k") {
    const move = key === "j" ? moveDown : moveUp;
    return { state: repeat(state, count, (moved) => move(moved, options.history)) };
  }
  const target = findTarget(state, command);
  if (target) return { state: moveCursor(state, target.offset) };
  return runEdit(state, command);
}

interface ViTarget {
  readonly offset: number;
  readonly isInclusive: boolean;
}

/** Returns the target of a motion inside the text. */
function findTarget(state: EditorState, { key, count }: ViCommand): ViTarget | undefined {
  const { text } = state;
  if (key === "gg") return { offset: findLine(text, count ?? 1), isInclusive: false };
  if (key === "G") {
    const line = count ?? Number.POSITIVE_INFINITY;
    return { offset: findLine(text, line), isInclusive: false };
  }
  const search = getCharacterSearch(state, key);
  if (search) return findSearched(state, { ...search, count: count ?? 1 });
  if (key === "%") return findOtherBracket(state);
  const motion = VI_MOTIONS.get(key);
  if (!motion) return undefined;
  let offset = state.cursor;
  for (let step = 0; step < (count ?? 1); step++) {
    const next = motion.move(text, offset);
    if (next === offset) break;
    offset = next;
  }
  return { offset, isInclusive: motion.isInclusive ?? false };
}

/** Returns the search of `f`, `F`, `t`, `T`, or the last one for `;` and `,`; `undefined` for other keys. */
function getCharacterSearch(
  { characterSearch }: EditorState,
  key: string,
): CharacterSearch & Pick<CharacterSearchOptions, "isRepeated"> | undefined {
  if (key.length > 1 && characterSearch) {
    return parseCharacterSearch(key) && { ...characterSearch, isRepeated: false };
  }
  if (!characterSearch || (key !== ";" && key !== ",")) return undefined;
  const search = key === ";" ? characterSearch : reverseSearch(characterSearch);
  return { ...search, isRepeated: true };
}

function findSearched(
  { text, cursor }: EditorState,
  search: CharacterSearch & CharacterSearchOptions,
): ViTarget | undefined {
  const offset = findViCharacter(text, cursor, search);
  return offset === undefined ? undefined : { offset, isInclusive: isInclusiveSearch(search) };
}

/** Returns the bracket that belongs to the next one of the line. */
function findOtherBracket({ text, cursor }: EditorState): ViTarget | undefined {
  const distance = text.slice(cursor, findLineEnd(text, cursor)).search(/[()[\]{}]/);
  const offset = distance < 0 ? undefined : findMatchingBracket(text, cursor + distance);
  return offset === undefined ? undefined : { offset, isInclusive: true };
}

/** Returns the offset of the first character of a line by its number. */
function findLine(text: string, number: number): number {
  let start = 0;
  for (let line = 1; line < number; line++) {
    const end = text.indexOf("\n", start);
    if (end < 0) break;
    start = end + 1;
  }
  return findFirstCharacter(text, start);
}

function runOperator(state: EditorState, { operator, ...command }: ViCommand): EditorStep {
  const { key, count = 1 } = command;
  const object = findViObject(state.text, state.cursor, { keys: key, count });
  if (object) return operateOn(moveCursor(state, object.start), { operator, range: object });
  const lines = findLines(state, { operator, ...command });
  const range = lines ?? findRange(state, { operator, ...command });
  if (!range) return { state };
  return operateOn(state, { operator, range, isLines: lines !== undefined });
}

interface Operation {
  readonly operator: string;
  readonly range: TextRange;
  /** Whether the range is one of whole lines. Default: `false`. */
  readonly isLines?: boolean;
}

function operateOn(state: EditorState, { operator, range, isLines }: Operation): EditorStep {
  const text = state.text.slice(range.start, range.end);
  const kept = keepText(state, isLines ? `${text}\n` : text);
  switch (operator) {
    case "y":
      return { state: { ...kept, cursor: isLines ? toFirstLine(state, range) : range.start } };
    case "c":
      return { state: toInsertMode(deleteRange(kept, range)) };
    default:
      return { state: isLines ? deleteLines(kept, range) : deleteRange(kept, range) };
  }
}

/** Returns the cursor, or an offset in its column of the first line of a range that begins before its line. */
function toFirstLine({ text, cursor }: EditorState, { start }: TextRange): number {
  if (start >= findLineStart(text, cursor)) return cursor;
  return findColumn(text, start, getColumn(text, cursor));
}

/** Keeps a text for `p`. Lines end with a line feed. */
function keepText(state: EditorState, text: string): EditorState {
  if (text === "") return state;
  return { ...state, killed: [text, ...state.killed].slice(0, MAX_KEPT) };
}

/**
 * Returns the lines of an operator, without the last line feed; `undefined` for a motion inside of lines, and for one to a
 * line that does not exist.
 */
function findLines(state: EditorState, command: ViCommand): TextRange | undefined {
  const { text, cursor } = state;
  const { key, operator, count = 1 } = command;
  const isRepeated = key === operator;
  if (!isRepeated && !["j", "k", "gg", "G"].includes(key)) return undefined;
  if (key === "j" && findLineEnd(text, cursor) === text.length) return undefined;
  if (key === "k" && findLineStart(text, cursor) === 0) return undefined;
  const other = isRepeated || key === "j" || key === "k"
    ? moveLines(text, cursor, isRepeated ? count - 1 : key === "j" ? count : -count)
    : findTarget(state, command)?.offset ?? cursor;
  return {
    start: findLineStart(text, Math.min(cursor, other)),
    end: findLineEnd(text, Math.max(cursor, other)),
  };
}

/** Returns an offset on a line further down, or up. */
function moveLines(text: string, cursor: number, lines: number): number {
  let offset = cursor;
  for (let line = 0; line < Math.abs(lines); line++) {
    if (lines > 0) offset = Math.min(findLineEnd(text, offset) + 1, text.length);
    else offset = Math.max(findLineStart(text, offset) - 1, 0);
  }
  return offset;
}

function findRange(state: EditorState, command: ViCommand): TextRange | undefined {
  const isWord = /^[wW]$/.test(command.key);
  const isChangedWord = command.operator === "c" && isWord &&
    getCharacterKind(state.text, state.cursor) !== "space";
  const target = isChangedWord ? findChangedWords(state, command) : findTarget(state, command);
  if (!target) return undefined;
  const start = Math.min(target.offset, state.cursor);
  const end = Math.max(target.offset, state.cursor);
  if (target.isInclusive) return { start, end: findNextGrapheme(state.text, end) };
  // The last word of a line is operated on without the line feed behind it.
  const withoutLineFeed = state.text.slice(start, end).replace(/\n\s*$/, "");
  if (isWord && withoutLineFeed !== "") return { start, end: start + withoutLineFeed.length };
  // So is the part of a line before the cursor at the beginning of the next one.
  const isRestOfLine = /^[bB]$/.test(command.key) && state.text.charAt(end - 1) === "\n" &&
    start > findFirstCharacter(state.text, start);
  return { start, end: isRestOfLine ? end - 1 : end };
}

/** Returns the end of the words that `cw` changes, without the spaces behind them. */
function findChangedWords(
  state: EditorState,
  { key, count = 1, operator }: ViCommand,
): ViTarget | undefined {
  const isSpaced = key === "W";
  const offset = findEndOfThisWord(state.text, state.cursor, { isSpaced });
  if (count === 1) return { offset, isInclusive: true };
  const rest = { operator, key: isSpaced ? "E" : "e", count: count - 1 };
  return findTarget({ ...state, cursor: offset }, rest);
}

/** Deletes lines with the line feed behind them, or before the last line. */
function deleteLines(state: EditorState, { start, end }: TextRange): EditorState {
  const isLast = end === state.text.length;
  const deleted = isLast
    ? deleteRange(state, { start: Math.max(start - 1, 0), end })
    : deleteRange(state, { start, end: end + 1 });
  const line = isLast ? findLineStart(deleted.text, deleted.text.length) : start;
  return moveCursor(deleted, findFirstCharacter(deleted.text, line));
}

/** Commands that are an operator with a motion. */
const SHORTHANDS: ReadonlyMap<string, readonly [operator: string, key: string]> = new Map([
  ["x", ["d", "l"]],
  ["X", ["d", "h"]],
  ["D", ["d", "$"]],
  ["C", ["c", "$"]],
  ["s", ["c", "l"]],
  ["S", ["c", "c"]],
  ["Y", ["y", "y"]],
]);

function runEdit(state: EditorState, command: ViCommand): EditorStep {
  const { text, cursor } = state;
  const shorthand = SHORTHANDS.get(command.key);
  if (shorthand) {
    const [operator, key] = shorthand;
    return runOperator(state, { ...command, operator, key });
  }
  switch (command.key) {
    case "i":
      return { state: insertAt(state, cursor) };
    case "a":
      return {
        state: insertAt(state, Math.min(findNextGrapheme(text, cursor), findLineEnd(text, cursor))),
      };
    case "I":
      return { state: insertAt(state, findFirstCharacter(text, cursor)) };
    case "A":
      return { state: insertAt(state, findLineEnd(text, cursor)) };
    case "o":
      return openLine(state, findLineEnd(text, cursor), 1);
    case "O":
      return openLine(state, findLineStart(text, cursor), 0);
    case "u":
      return { state: repeat(state, command.count ?? 1, undoEdit) };
    case "p":
    case "P":
      return putText(state, command);
    case "~":
      return toggleCase(state, command);
    case "J":
      return joinLines(state, command);
    case ":":
      return { state: { ...state, mode: { type: "command", text: "" } } };
    default:
      return command.key.startsWith("r") ? replaceCharacters(state, command) : { state };
  }
}

function openLine(state: EditorState, offset: number, lines: 0 | 1): EditorStep {
  const { state: opened, effect } = insertText(state, "\n", { start: offset, end: offset });
  return { state: insertAt(opened, offset + lines), effect };
}

/** Inserts the text that was kept last, repeatedly: behind the cursor for `p`, or before it. */
function putText(state: EditorState, { key, count = 1 }: ViCommand): EditorStep {
  const { text, cursor } = state;
  const [kept = ""] = state.killed;
  if (kept === "") return { state };
  const copies = kept.repeat(Math.min(count, Math.ceil(MAX_TEXT / kept.length)));
  const isAfter = key === "p";
  if (kept.endsWith("\n")) {
    const offset = isAfter ? findLineEnd(text, cursor) : findLineStart(text, cursor);
    const lines = isAfter ? `\n${copies.slice(0, -1)}` : copies;
    const { state: put, effect } = insertText(state, lines, { start: offset, end: offset });
    return {
      state: moveCursor(put, findFirstCharacter(put.text, offset + (isAfter ? 1 : 0))),
      effect,
    };
  }
  const offset = isAfter
    ? Math.min(findNextGrapheme(text, cursor), findLineEnd(text, cursor))
    : cursor;
  const { state: put, effect } = insertText(state, copies, { start: offset, end: offset });
  return { state: { ...put, cursor: findPreviousGrapheme(put.text, put.cursor) }, effect };
}

/** Replaces characters of a line by another one; nothing if there are too few. */
function replaceCharacters(state: EditorState, { key, count = 1 }: ViCommand): EditorStep {
  const { text, cursor } = state;
  let end = cursor;
  for (let step = 0; step < count; step++) {
    if (end >= findLineEnd(text, cursor)) return { state };
    end = findNextGrapheme(text, end);
  }
  const replacement = key.slice(1).repeat(count);
  const { state: replaced, effect } = insertText(state, replacement, { start: cursor, end });
  return {
    state: { ...replaced, cursor: findPreviousGrapheme(replaced.text, replaced.cursor) },
    effect,
  };
}

/** Changes the case of characters of a line, and moves behind them. */
function toggleCase(state: EditorState, { count = 1 }: ViCommand): EditorStep {
  const { text, cursor } = state;
  const lineEnd = findLineEnd(text, cursor);
  let end = cursor;
  for (let step = 0; step < count && end < lineEnd; step++) end = findNextGrapheme(text, end);
  if (end === cursor) return { state };
  const toggled = Array.from(text.slice(cursor, end), (character) => {
    const upper = character.toUpperCase();
    return character === upper ? character.toLowerCase() : upper;
  });
  return insertText(state, toggled.join(""), { start: cursor, end });
}

/** Repeats a change until it has no effect. */
function repeat(
  state: EditorState,
  count: number,
  change: (state: EditorState) => EditorState,
): EditorState {
  let current = state;
  for (let step = 0; step < count; step++) {
    const next = change(current);
    if (next.text === current.text && next.cursor === current.cursor) break;
    current = next;
  }
  return current;
}
