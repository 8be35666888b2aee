/**
 * The menu of completions.
 *
 * @module
 */

import type { Completion, CompletionRequest } from "./completion.ts";
import { insertText } from "./edit_text.ts";
import type { CompletionMenu, EditorState, EditorStep } from "./editor_state.ts";

/** Characters before the cursor in which the word is looked for. */
const MAX_WORD = 4_096;

/** Matches a command and its arguments up to the cursor. */
const COMMAND = /^[/#][^\s/#]*(?:[^\S\n]+[^\n]*)?$/;

/** Returns the request for the word before the cursor. */
export function createRequest(
  { text, cursor }: Pick<EditorState, "text" | "cursor">,
  cause: CompletionRequest["cause"],
): CompletionRequest {
  const before = text.slice(Math.max(cursor - MAX_WORD, 0), cursor);
  const word = findQuotedPath(before) ?? before.slice(findWordOffset(before));
  return { text, word, start: cursor - word.length, end: cursor, cause };
}

/** Returns a quoted path before the cursor that is not complete. */
function findQuotedPath(before: string): string | undefined {
  const start = before.lastIndexOf('@"');
  const path = before.slice(start);
  const isStart = start === 0 || /\s/.test(before.charAt(start - 1));
  return start >= 0 && isStart && /^@"[^"\n]*$/.test(path) ? path : undefined;
}

/** Returns the offset of the word at the end of a text. */
function findWordOffset(text: string): number {
  let offset = text.length;
  while (offset > 0 && !/\s/.test(text.charAt(offset - 1))) offset--;
  return offset;
}

/** Asks for completions after an edit, if the word is one that is completed while it is typed. */
export function completeTyped({ state, effect }: EditorStep): EditorStep {
  const closed = state.menu ? { ...state, menu: undefined } : state;
  if (effect) return { state: closed, effect };
  const request = createRequest(state, "typed");
  const isCommand = state.cursor <= MAX_WORD && COMMAND.test(state.text.slice(0, state.cursor));
  if (!request.word.startsWith("@") && !isCommand) return { state: closed };
  // The old menu is replaced when the completions arrive, without an empty moment between them.
  const isContinued = state.menu?.request.start === request.start;
  const menu = state.menu && isContinued ? { ...state.menu, selected: undefined } : undefined;
  return { state: { ...state, menu }, effect: { type: "complete", request } };
}

/**
 * Shows completions; none close the menu. Completions of an earlier text are ignored. A key inserts the only one, or the
 * characters that all of them begin with.
 */
export function showCompletions(
  state: EditorState,
  request: CompletionRequest,
  items: readonly Completion[],
): EditorStep {
  if (!isCurrent(state, request)) return { state };
  if (items.length === 0) return { state: { ...state, menu: undefined } };
  const [first] = items;
  if (request.cause === "key" && first && items.length === 1) {
    return acceptCompletion({ ...state, menu: { request, items, selected: 0 } });
  }
  const prefix = request.cause === "key" ? findCommonPrefix(items) : "";
  const isLonger = prefix.length > request.word.length && prefix.startsWith(request.word);
  if (!isLonger) return { state: { ...state, menu: { request, items, selected: undefined } } };
  const { state: extended, effect } = insertText(state, prefix, request);
  const extendedRequest = createRequest(extended, "key");
  return {
    state: { ...extended, menu: { request: extendedRequest, items, selected: undefined } },
    effect,
  };
}

/** Selects another item: the first or last one if none is selected. */
export function selectCompletion(state: EditorState, step: 1 | -1): EditorState {
  const { menu } = state;
  if (!menu) return state;
  const { length } = menu.items;
  const start = menu.selected ?? (step > 0 ? -1 : length);
  return { ...state, menu: { ...menu, selected: (start + step + length) % length } };
}

/** Inserts the selected item. A word that continues after it is completed again. */
export function acceptCompletion(state: EditorState): EditorStep {
  const { menu } = state;
  const item = menu?.selected === undefined ? undefined : menu.items[menu.selected];
  if (!menu || !item || !isCurrent(state, menu.request)) {
    return { state: { ...state, menu: undefined } };
  }
  const isFollowedBySpace = /^\s/.test(state.text.slice(menu.request.end, menu.request.end + 1));
  const space = item.isPartial || isFollowedBySpace ? "" : " ";
  const { state: changed, effect } = insertText(state, item.text + space, menu.request);
  const closed = { ...changed, menu: undefined };
  if (effect || !item.isPartial) return { state: closed, effect };
  return { state: closed, effect: { type: "complete", request: createRequest(closed, "typed") } };
}

/** Whether a menu belongs to the current text. */
export function hasCurrentMenu(
  state: EditorState,
): state is EditorState & { readonly menu: CompletionMenu } {
  return state.menu !== undefined && isCurrent(state, state.menu.request);
}

function isCurrent({ text, cursor }: EditorState, request: CompletionRequest): boolean {
  return text === request.text && cursor === request.end;
}

function findCommonPrefix(items: readonly Completion[]): string {
  const [first = "", ...others] = items.map(({ text }) => text);
  let { length } = first;
  for (const other of others) {
    while (!other.startsWith(first.slice(0, length))) length--;
  }
  // A surrogate pair is not cut.
  return first.slice(0, length).replace(/[\ud800-\udbff]$/, "");
}
