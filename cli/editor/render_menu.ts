/**
 * Lays the completions out in rows.
 *
 * @module
 */

import { toOneLine, toPlainText } from "../render/plain_text.ts";
import { expandTabs, getTextWidth, truncateToWidth } from "../render/text_width.ts";
import type { InputStyle } from "./editor_options.ts";
import type { CompletionMenu } from "./editor_state.ts";

/** Options for {@linkcode renderMenu}. */
export interface MenuLayout {
  readonly columns: number;
  /** Maximum number of rows, including the one with the number of others. */
  readonly maxMenuRows: number;
  readonly style: InputStyle;
}

/** Lays out the items around the selected one, and the number of others. */
export function renderMenu({ items, selected }: CompletionMenu, layout: MenuLayout): string[] {
  const { columns, style } = layout;
  const maxRows = Math.max(layout.maxMenuRows, 1);
  const hasMore = items.length > maxRows;
  const shownRows = hasMore ? Math.max(maxRows - 1, 1) : items.length;
  const start = Math.min(Math.max((selected ?? 0) - shownRows + 1, 0), items.length - shownRows);
  const shown = items.slice(start, start + shownRows);
  const names = shown.map(({ text }) => toOneLine(toPlainText(text)));
  const width = columns - 1;
  const nameWidth = Math.min(Math.max(...names.map(getTextWidth)), Math.ceil(width * 2 / 3));
  const rows = shown.map(({ detail = "" }, index) => {
    const name = truncateToWidth(expandTabs(names[index] ?? ""), nameWidth);
    const padding = " ".repeat(Math.max(nameWidth - getTextWidth(name), 0));
    const text = `  ${name}`;
    const isSelected = start + index === selected;
    const rest = width - nameWidth - 4;
    const shortened = truncateToWidth(toOneLine(toPlainText(detail)), Math.max(rest, 0));
    const explanation = shortened === "" ? "" : `${padding}  ${style.faint(shortened)}`;
    return (isSelected ? style.selected(`> ${name}`) : text) + explanation;
  });
  if (!hasMore || maxRows === 1) return rows;
  return [...rows, style.faint(`  +${items.length - shownRows} more`)];
}
