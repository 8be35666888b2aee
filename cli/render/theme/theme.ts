/**
 * Themes: the look of each role, as data.
 *
 * @module
 */

import type { Role } from "./role.ts";

/** Name of a theme. */
export type ThemeName = "dark" | "light" | "high_contrast" | "mono";

/** One of the 16 colors of a terminal, whose shade the user's terminal decides. */
export type BasicColor =
  | "black"
  | "red"
  | "green"
  | "yellow"
  | "blue"
  | "magenta"
  | "cyan"
  | "white"
  | "gray"
  | "brightRed"
  | "brightGreen"
  | "brightYellow"
  | "brightBlue"
  | "brightMagenta"
  | "brightCyan"
  | "brightWhite";

/** A color, for terminals of every color level. */
export interface Color {
  /** The color as `#rrggbb`; terminals of 256 colors show the nearest one of their cube. */
  readonly rgb: string;
  /** The color of terminals with 16 colors. */
  readonly basic: BasicColor;
}

/** The look of a text. */
export interface Look {
  /** Color of the characters. Default: that of the terminal. */
  readonly color?: Color;
  /** Color behind the characters. Default: that of the terminal. */
  readonly background?: Color;
  /** Whether the text is bold. Default: `false`. */
  readonly bold?: boolean;
  /** Whether the text is dimmed. Default: `false`. */
  readonly dim?: boolean;
  /** Whether the text is italic. Default: `false`. */
  readonly italic?: boolean;
  /** Whether the text is underlined. Default: `false`. */
  readonly underline?: boolean;
  /** Whether the text is struck through. Default: `false`. */
  readonly strike?: boolean;
  /** Whether colors of characters and background are exchanged. Default: `false`. */
  readonly inverse?: boolean;
}

/** The looks of all roles. */
export interface Theme {
  /** Name of the theme, for `/theme`. */
  readonly name: ThemeName;
  /** The look of each role. */
  readonly looks: Readonly<Record<Role, Look>>;
}
