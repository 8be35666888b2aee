/**
 * Applies keys to the line editor.
 *
 * @module
 */

import type { Key, KeyEvent } from "../keys/key_event.ts";
import { formatKey, toKey } from "../keys/key_notation.ts";
import {
  acceptCompletion,
  completeTyped,
  createRequest,
  hasCurrentMenu,
  selectCompletion,
} from "./completion_menu.ts";
import { insertText, replaceText, typeText } from "./edit_text.ts";
import type { EditorOptions } from "./editor_options.ts";
import { createEditorState, type EditorState, type EditorStep } from "./editor_state.ts";
import {
  acceptMatch,
  cancelSearch,
  editQuery,
  searchNewer,
  searchOlder,
  startSearch,
} from "./history_search.ts";
import { editByKey } from "./insert_keys.ts";
import type { EditorAction } from "./key_bindings.ts";
import { findLineEnd } from "./text_position.ts";
import { editByViKey, enterNormalMode, pasteInNormalMode } from "./vi_keys.ts";

/** Applies a key. Never throws; keys without a meaning change nothing. */
export function editLine(state: EditorState, event: KeyEvent, options: EditorOptions): EditorStep {
  const key = toKey(event);
  const action = key && options.bindings.get(formatKey(key));
  switch (state.mode.type) {
    case "search":
      return editSearch(state, event, { action, options });
    case "command":
      return editCommand(state, event, action);
    case "normal":
      if (event.type === "paste") {
        return pasteInNormalMode(state, (at) => pasteText(at, event.text, event.omitted));
      }
      return action && !isEscape(key)
        ? runAction(state, { action, key })
        : editByViKey(state, event, options);
    case "insert":
      return editInsert(state, event, { action, options });
  }
}

/** A key with an action. */
interface PressedAction {
  readonly action: EditorAction;
  readonly key: Key;
}

interface EventContext {
  readonly action: EditorAction | undefined;
  readonly options: EditorOptions;
}

function isEscape(key: Key | undefined): boolean {
  return key?.name === "escape" && !key.ctrl && !key.alt;
}

function editInsert(
  state: EditorState,
  event: KeyEvent,
  { action, options }: EventContext,
): EditorStep {
  switch (event.type) {
    case "paste":
      return completeTyped(pasteText(state, event.text, event.omitted));
    case "character":
      return completeTyped(typeText(state, event.text));
    case "key":
      break;
  }
  const chosen = hasCurrentMenu(state) ? chooseFromMenu(state, event, action) : undefined;
  if (chosen) return chosen;
  if (options.hasViKeys && isEscape(event)) return { state: enterNormalMode(state) };
  if (action) return runAction(state, { action, key: event });
  if (formatKey(event) === "ctrl+d" && state.text === "") {
    return { state, effect: { type: "quit", key: event } };
  }
  if (options.hasViKeys && event.alt) return editAfterEscape(state, event, options);
  const edited = editByKey(state, event, options);
  if (!edited) return { state };
  return edited.state.text === state.text || edited.state.recalled !== state.recalled
    ? edited
    : completeAfterDeletion(state, edited);
}

/** Typing continues a menu after a character was deleted, but a deletion does not open one. */
function completeAfterDeletion(before: EditorState, edited: EditorStep): EditorStep {
  return before.menu
    ? completeTyped({ ...edited, state: { ...edited.state, menu: before.menu } })
    : edited;
}

/** Applies Escape and a key that the terminal has reported as one key with Alt, because they were typed quickly. */
function editAfterEscape(state: EditorState, event: Key, options: EditorOptions): EditorStep {
  const key: Key = { ...event, alt: false };
  const isCharacter = Array.from(key.name).length === 1 && !key.ctrl;
  const text = key.shift ? key.name.toUpperCase() : key.name;
  const second: KeyEvent = isCharacter ? { type: "character", text } : key;
  return editLine(enterNormalMode(state), second, options);
}

function pasteText(state: EditorState, text: string, omitted: number): EditorStep {
  const step = insertText(state, text);
  if (omitted === 0 || step.effect) return step;
  const message = `The pasted text was cut: ${omitted} characters are missing.`;
  return { ...step, effect: { type: "notice", message } };
}

/** Applies a key to the menu. Returns `undefined` for keys that close it and have their usual effect. */
function chooseFromMenu(
  state: EditorState,
  key: Key,
  action: EditorAction | undefined,
): EditorStep | undefined {
  const isSelected = state.menu?.selected !== undefined;
  if (isEscape(key)) return { state: { ...state, menu: undefined } };
  if (action === "complete") {
    return isSelected ? acceptCompletion(state) : completeFromMenu(state);
  }
  if (action === "submit" && isSelected) return acceptCompletion(state);
  if (action !== undefined) return undefined;
  switch (formatKey(key)) {
    case "down":
    case "ctrl+n":
      return { state: selectCompletion(state, 1) };
    case "up":
    case "ctrl+p":
      return { state: selectCompletion(state, -1) };
    default:
      return undefined;
  }
}

/** Inserts the only item, or selects the first one if the menu was opened by the key for completion. */
function completeFromMenu(state: EditorState): EditorStep {
  const { menu } = state;
  if (menu?.request.cause === "key") return { state: selectCompletion(state, 1) };
  return requestCompletion(state);
}

function requestCompletion(state: EditorState): EditorStep {
  return { state, effect: { type: "complete", request: createRequest(state, "key") } };
}

function editSearch(
  state: EditorState,
  event: KeyEvent,
  { action, options }: EventContext,
): EditorStep {
  if (state.mode.type !== "search") return { state };
  const search = state.mode;
  if (action === "history_search") {
    return { state: searchOlder(state, search, options.history) };
  }
  const name = event.type === "key" ? formatKey(event) : "";
  if (name === "ctrl+s") return { state: searchNewer(state, search, options.history) };
  if (isEscape(toKey(event))) {
    const accepted = acceptMatch(state, search);
    return { state: options.hasViKeys ? enterNormalMode(accepted) : accepted };
  }
  if (action === "abort" || name === "ctrl+g") return { state: cancelSearch(state, search) };
  const edited = action ? undefined : editQuery(state, event, options.history);
  if (edited) return { state: edited };
  return editLine(acceptMatch(state, search), event, options);
}

/** Edits the command after `:`. */
function editCommand(
  state: EditorState,
  event: KeyEvent,
  action: EditorAction | undefined,
): EditorStep {
  if (state.mode.type !== "command") return { state };
  const { text } = state.mode;
  const left = { ...state, mode: { type: "normal", pending: "" } } as const;
  const withCommand = (command: string) => ({
    state: { ...state, mode: { type: "command", text: command.slice(0, MAX_COMMAND) } } as const,
  });
  if (event.type === "character") return withCommand(text + event.text);
  if (event.type === "paste") return withCommand(text + event.text.replaceAll("\n", " "));
  if (action === "submit") {
    const command = text.trim();
    return command === ""
      ? { state: left }
      : { state: left, effect: { type: "command", text: command } };
  }
  if (isEscape(event) || action === "abort") return { state: left };
  const name = formatKey(event);
  if (name === "ctrl+u") return withCommand("");
  if (name !== "backspace" && name !== "ctrl+h") return { state };
  return text === "" ? { state: left } : withCommand(Array.from(text).slice(0, -1).join(""));
}

/** Longest command after `:`, in characters. */
const MAX_COMMAND = 4_096;

function runAction(state: EditorState, { action, key }: PressedAction): EditorStep {
  switch (action) {
    case "submit":
      return continuesLine(state) ? replaceBackslash(state) : send(state, "submit");
    case "newline":
      return completeTyped(insertText({ ...state, mode: { type: "insert" } }, "\n"));
    case "follow_up":
      return send(state, "follow_up");
    case "abort":
      return abort(state, key);
    case "quit":
      return { state, effect: { type: "quit", key } };
    case "history_search":
      return { state: startSearch(state) };
    case "complete":
      return state.mode.type === "normal" ? { state } : requestCompletion(state);
    case "suspend":
    case "toggle_plan":
    case "expand_tool":
    case "previous_tool":
    case "next_tool":
    case "editor":
    case "redraw":
    case "help":
    case "theme":
    case "model":
    case "usage":
      return { state, effect: { type: "action", name: action } };
  }
}

/** Whether the line ends with a backslash that is not escaped, and the cursor is behind it. */
function continuesLine({ text, cursor, mode }: EditorState): boolean {
  if (mode.type !== "insert" || cursor !== findLineEnd(text, cursor)) return false;
  const [backslashes = ""] = /\\*$/.exec(text.slice(Math.max(cursor - 64, 0), cursor)) ?? [];
  return backslashes.length % 2 === 1;
}

function replaceBackslash(state: EditorState): EditorStep {
  return insertText(state, "\n", { start: state.cursor - 1, end: state.cursor });
}

function send(state: EditorState, type: "submit" | "follow_up"): EditorStep {
  return {
    state: { ...createEditorState(), killed: state.killed },
    effect: { type, text: state.text },
  };
}

function abort(state: EditorState, key: Key): EditorStep {
  // Only Ctrl+C clears a text: a key that the user has bound ends the run, as Escape does.
  const clears = key.ctrl && key.name === "c" && state.text !== "";
  if (!clears) return { state, effect: { type: "abort", key } };
  return { state: { ...replaceText(state, ""), mode: { type: "insert" }, recalled: undefined } };
}
