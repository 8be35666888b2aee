/**
 * How an output shows lines: theme, colors, links and symbols.
 *
 * @module
 */

import type { Theme, ThemeName } from "./theme.ts";

/** The colors of an output: none and no escape sequence at all, 16, 256 or 16 million. */
export type ColorLevel = "none" | "basic" | "indexed" | "true_color";

/** Symbols that depend on the character set of the terminal. */
export interface Symbols {
  /** Sign of the prompt. */
  readonly prompt: string;
  /** Before the input in the normal mode of vi: `‹`. */
  readonly normalPrompt: string;
  /** Mark of a list item. */
  readonly bullet: string;
  /** Mark of a quoted line. */
  readonly quote: string;
  /** Repeated as a horizontal rule, and as the line below the header of a table. */
  readonly rule: string;
  /** Separates the columns of a table, and the sides of a diff. */
  readonly column: string;
  /** Crossing of `rule` and `column`. */
  readonly crossing: string;
  /** A tool call that runs. */
  readonly running: string;
  /** A tool call that has succeeded. */
  readonly done: string;
  /** A tool call that has failed. */
  readonly failed: string;
  /** Lines of a tree: a child, the last child, and the column below a child. */
  readonly tree: { readonly child: string; readonly last: string; readonly below: string };
  /** Filled and empty part of a gauge. */
  readonly gauge: { readonly full: string; readonly empty: string };
  /** Marks that text is still coming, one after the other. */
  readonly streaming: readonly string[];
  /** End of a truncated text. */
  readonly ellipsis: string;
  /** Leads from the old to the new name. */
  readonly arrow: string;
  /** Separates fields. */
  readonly separator: string;
}

/** How an output shows lines. */
export interface Display {
  /** The looks of roles. */
  readonly theme: Theme;
  /** Level of colors; with `none`, lines contain no escape byte. */
  readonly colors: ColorLevel;
  /** Whether the terminal shows links of OSC 8; otherwise the address follows the text. */
  readonly hasLinks: boolean;
  /** Symbols of the character set. */
  readonly symbols: Symbols;
  /** Whether lines begin with their role instead of being moved or colored: `--plain`, for screen readers and logs. */
  readonly isPlain: boolean;
}

/** Options for `getDisplay()`. */
export interface DisplayOptions {
  /** Name of the theme. Default: `dark`. */
  readonly theme?: ThemeName | undefined;
  /** Whether `--plain` is set. Default: `false`. */
  readonly isPlain?: boolean | undefined;
}
