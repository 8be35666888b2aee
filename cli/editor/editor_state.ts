/**
 * The state of the line editor. All of its types are values; `editLine()` returns new ones.
 *
 * @module
 */

import type { Key } from "../keys/key_event.ts";
import type { Completion, CompletionRequest } from "./completion.ts";
import type { CharacterSearch } from "./find_vi_character.ts";
import type { EditorAction } from "./key_bindings.ts";

/** The text of the input and the editor's state. */
export interface EditorState {
  /** The text; its lines are separated by LF. */
  readonly text: string;
  /** Offset of the cursor, between two graphemes of the text. */
  readonly cursor: number;
  /** The meaning of the keys. */
  readonly mode: EditorMode;
  /** The completions that are shown; `undefined` while there are none. */
  readonly menu: CompletionMenu | undefined;
  /** The texts that were killed, the last one first. */
  readonly killed: readonly string[];
  /** Earlier texts, the last one first. */
  readonly undo: readonly UndoStep[];
  /** The entry of the history that is shown; `undefined` while the text is new. */
  readonly recalled: RecalledEntry | undefined;
  /** The kind of the last edit, which joins typed characters to one step of undo and kills to one text. */
  readonly lastEdit: "typed" | "killed" | "yanked" | "other";
  /** The last search of vi for a character, which `;` and `,` repeat; `undefined` before the first one. */
  readonly characterSearch: CharacterSearch | undefined;
  /** Column that Up and Down keep while they pass shorter lines; `undefined` after other keys. */
  readonly wantedColumn: number | undefined;
}

/** The meaning of the keys. */
export type EditorMode =
  /** Keys edit the text: without vi keys, or in their insert mode. */
  | {
    readonly type: "insert";
    /** The state before the vi command that has begun the mode: the command and the typed text are one step of undo. */
    readonly before?: UndoStep & Pick<EditorState, "undo">;
  }
  /** Keys are vi commands. */
  | { readonly type: "normal"; readonly pending: string }
  /** Keys edit a command after `:`. */
  | { readonly type: "command"; readonly text: string }
  /** Keys edit the query of a search in the history. */
  | HistorySearch;

/** A search in the history. */
export interface HistorySearch {
  readonly type: "search";
  readonly query: string;
  /** Number of the entry that matches, 0 for the latest; `undefined` if none does. */
  readonly match: number | undefined;
  /** Text and cursor before the search, to which it returns when it is canceled. */
  readonly origin: UndoStep;
}

/** A text with its cursor. */
export interface UndoStep {
  readonly text: string;
  readonly cursor: number;
}

/** An entry of the history that is shown. */
export interface RecalledEntry {
  /** Number of the entry, 0 for the latest. */
  readonly index: number;
  /** The new text, to which Down returns. */
  readonly draft: string;
}

/** Completions of a word. */
export interface CompletionMenu {
  /** The word that they replace. */
  readonly request: CompletionRequest;
  readonly items: readonly Completion[];
  /** Index of the selected item; `undefined` before one is selected, when Enter still sends the text. */
  readonly selected: number | undefined;
}

/** The result of a key. */
export interface EditorStep {
  readonly state: EditorState;
  /** The task of the caller; `undefined` if the key changed only the state, or nothing. */
  readonly effect?: EditorEffect | undefined;
}

/** A task of the caller. */
export type EditorEffect =
  /** Sends the text; the input is empty now. */
  | { readonly type: "submit"; readonly text: string }
  /** Queues the text as a follow-up; the input is empty now. */
  | { readonly type: "follow_up"; readonly text: string }
  /** Runs a command of the vi command mode: `w foo` after `:w foo`. */
  | { readonly type: "command"; readonly text: string }
  /** Aborts the run. With text in the input, Ctrl+C has cleared it instead, and there is no effect. */
  | { readonly type: "abort"; readonly key: Key }
  /** Leaves the program: the key of `quit`, or Ctrl+D in an empty input. */
  | { readonly type: "quit"; readonly key: Key }
  /** Finds completions and passes them to `showCompletions()`. Earlier requests can be aborted. */
  | { readonly type: "complete"; readonly request: CompletionRequest }
  /** Shows a message, such as that a pasted text was too long. */
  | { readonly type: "notice"; readonly message: string }
  /** Runs another action. */
  | { readonly type: "action"; readonly name: ForwardedAction };

/** The actions that the editor does not handle itself. */
export type ForwardedAction = Exclude<
  EditorAction,
  "submit" | "newline" | "follow_up" | "abort" | "quit" | "history_search" | "complete"
>;

/** The state of an empty input. */
export function createEditorState(text = ""): EditorState {
  return {
    text,
    cursor: text.length,
    mode: { type: "insert" },
    menu: undefined,
    killed: [],
    undo: [],
    recalled: undefined,
    lastEdit: "other",
    characterSearch: undefined,
    wantedColumn: undefined,
  };
}
