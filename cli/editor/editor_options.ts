/**
 * Options of the line editor, and the types of its functions:
 *
 * - `editLine(state, event, options)` in `edit_line.ts` applies a key,
 * - `showCompletions(state, request, items)` in `completion_menu.ts` shows the completions that were found,
 * - `renderInput(state, layout)` in `render_input.ts` lays the input out in rows.
 *
 * @module
 */

import type { RegionContent, RegionCursor } from "../screen/live_region.ts";
import type { ResolvedBindings } from "./key_bindings.ts";

/** Options for `editLine()`. */
export interface EditorOptions {
  /** The keys of the actions; `resolveBindings()` creates them. */
  readonly bindings: ResolvedBindings;
  /** Whether Escape leads to the normal mode of vi. */
  readonly hasViKeys: boolean;
  /** Earlier inputs, the latest first. */
  readonly history: readonly string[];
}

/** Options for `renderInput()`. */
export interface InputLayout {
  /** Columns of the terminal. The last one stays empty. */
  readonly columns: number;
  /** Maximum number of rows of the text. Default: 8. */
  readonly maxRows?: number | undefined;
  /** Maximum number of rows of the completions, including the one with the number of others. Default: 8. */
  readonly maxMenuRows?: number | undefined;
  /** Sign before the text. Default: `› `. */
  readonly sign?: string | undefined;
  /** Shown, faint, while the input is empty. Default: nothing. */
  readonly placeholder?: string | undefined;
  /** Styles. Default: none. */
  readonly style?: InputStyle | undefined;
}

/** Styles of the input; each returns the text with SGR sequences around it. */
export interface InputStyle {
  /** The sign and the mode of vi. */
  readonly sign: (text: string) => string;
  /** Placeholder, details of completions and marks of text that is not shown. */
  readonly faint: (text: string) => string;
  /** The selected completion and the match of a search. */
  readonly selected: (text: string) => string;
}

/** The rows of the input and, below them, of the completions, with the position of the cursor. */
export interface InputView extends RegionContent {
  readonly cursor: RegionCursor;
}
