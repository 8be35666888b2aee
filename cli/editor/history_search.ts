/**
 * The incremental search in the history.
 *
 * @module
 */

import type { Key, KeyEvent } from "../keys/key_event.ts";
import { moveCursor, pushUndo } from "./edit_text.ts";
import type { EditorState, HistorySearch } from "./editor_state.ts";
import { findPreviousGrapheme } from "./text_position.ts";

/** Longest query, in characters. */
const MAX_QUERY = 200;

/** Starts a search. */
export function startSearch(state: EditorState): EditorState {
  const origin = { text: state.text, cursor: state.cursor };
  return {
    ...state,
    mode: { type: "search", query: "", match: undefined, origin },
    menu: undefined,
  };
}

/** Finds the next older entry that matches. */
export function searchOlder(
  state: EditorState,
  search: HistorySearch,
  history: readonly string[],
): EditorState {
  const from = search.match === undefined ? 0 : search.match + 1;
  return showMatch(state, search, { history, match: findOlder(history, search.query, from) });
}

/** Finds the next newer entry that matches. */
export function searchNewer(
  state: EditorState,
  search: HistorySearch,
  history: readonly string[],
): EditorState {
  if (search.match === undefined) return state;
  const matches = createMatcher(search.query);
  const match = history.slice(0, search.match).findLastIndex(matches);
  return showMatch(state, search, { history, match: match < 0 ? undefined : match });
}

/** Changes the query. Returns `undefined` for a key that ends the search. */
export function editQuery(
  state: EditorState,
  event: KeyEvent,
  history: readonly string[],
): EditorState | undefined {
  if (state.mode.type !== "search") return undefined;
  const query = applyToQuery(state.mode.query, event);
  if (query === undefined) return undefined;
  const search = { ...state.mode, query: query.slice(0, MAX_QUERY), match: undefined };
  if (query === "") return { ...restoreOrigin(state, search), mode: search };
  const isLonger = query.startsWith(state.mode.query);
  const match = findOlder(history, search.query, isLonger ? state.mode.match ?? 0 : 0);
  return showMatch(state, search, { history, match });
}

/** Ends the search with the text that it has found. */
export function acceptMatch(state: EditorState, search: HistorySearch): EditorState {
  const { text, cursor } = search.origin;
  const undo = state.text === text ? state.undo : pushUndo({ ...state, text, cursor });
  const ended = { ...state, mode: { type: "insert" }, undo } as const;
  if (search.match === undefined) return ended;
  return { ...ended, recalled: { index: search.match, draft: state.recalled?.draft ?? text } };
}

/** Ends the search with the text before it. */
export function cancelSearch(state: EditorState, search: HistorySearch): EditorState {
  return { ...restoreOrigin(state, search), mode: { type: "insert" } };
}

function restoreOrigin(state: EditorState, { origin }: HistorySearch): EditorState {
  return moveCursor(state, origin.cursor, origin.text);
}

function applyToQuery(query: string, event: KeyEvent): string | undefined {
  switch (event.type) {
    case "character":
      return query + event.text;
    case "paste":
      return query + event.text.replaceAll("\n", " ");
    case "key":
      return isBackspace(event)
        ? query.slice(0, findPreviousGrapheme(query, query.length))
        : undefined;
  }
}

function isBackspace({ name, ctrl }: Key): boolean {
  return name === "backspace" || (ctrl && name === "h");
}

/** An entry of the history, which is shown instead of the text. */
interface FoundEntry {
  readonly history: readonly string[];
  readonly match: number | undefined;
}

/** Shows a match. Without one, the text stays and the search has failed. */
function showMatch(
  state: EditorState,
  search: HistorySearch,
  { history, match }: FoundEntry,
): EditorState {
  const text = match === undefined ? undefined : history[match];
  if (text === undefined) return { ...state, mode: search };
  const found = foldCase(text, search.query).indexOf(foldCase(search.query, search.query));
  return {
    ...moveCursor(state, Math.max(found, 0), text),
    mode: { ...search, match },
  };
}

function findOlder(history: readonly string[], query: string, from: number): number | undefined {
  if (query === "") return undefined;
  const matches = createMatcher(query);
  const index = history.findIndex((entry, index) => index >= from && matches(entry));
  return index < 0 ? undefined : index;
}

/** A query without upper-case letters matches both cases. */
function createMatcher(query: string): (entry: string) => boolean {
  const folded = foldCase(query, query);
  return (entry) => foldCase(entry, query).includes(folded);
}

function foldCase(text: string, query: string): string {
  return query === query.toLowerCase() ? text.toLowerCase() : text;
}
