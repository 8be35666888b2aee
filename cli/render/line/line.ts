/**
 * Lines of text whose parts have styles. Escape sequences are added when a line is encoded.
 *
 * @module
 */

import type { Role } from "../theme/role.ts";

/** Style of a part of a line. */
export interface SpanStyle {
  /** Role of the text. Default: `text`. */
  readonly role?: Role;
  /** Whether the text is bold. Default: as the role. */
  readonly bold?: boolean;
  /** Whether the text is dimmed. Default: as the role. */
  readonly dim?: boolean;
  /** Whether the text is italic. Default: as the role. */
  readonly italic?: boolean;
  /** Whether the text is underlined. Default: as the role. */
  readonly underline?: boolean;
  /** Whether the text is struck through. Default: as the role. */
  readonly strike?: boolean;
  /** Role whose background is behind the text. Default: that of its own role. */
  readonly ground?: Role;
  /** Address that the text links to. Default: none. */
  readonly link?: string;
}

/** A part of a line. */
export interface Span extends SpanStyle {
  /** The text, without line breaks; control characters are shown as code points when the line is encoded. */
  readonly text: string;
}

/** One row of the terminal, at most as wide as the terminal, without a line break. */
export type Line = readonly Span[];
