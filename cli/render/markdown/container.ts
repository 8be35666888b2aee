/**
 * Quotes and list items, which contain other blocks.
 *
 * @module
 */

import type { Line, Span } from "../line/line.ts";
import { getLineWidth, truncateLine } from "../line/line_width.ts";
import type { Display } from "../theme/display.ts";

/** A quote. */
export interface Quote {
  readonly type: "quote";
}

/** An item of a list, as the source has it. */
export interface ItemStart {
  readonly type: "item";
  /** Columns before the marker, from the content of the parent. */
  readonly markerIndent: number;
  /** Columns before the content, from the content of the parent. */
  readonly contentIndent: number;
  /** The bullet, or the delimiter behind the number. */
  readonly delimiter: string;
  /** The number of an ordered list; missing for a bullet. */
  readonly number?: number;
  /** State of a task; missing for other items. */
  readonly task?: "open" | "done";
}

/** An open item of a list. */
export interface Item extends ItemStart {
  /** The number that is shown, which counts up where the source repeats the same number. */
  readonly shownNumber: number;
  /** Whether its marker has been written. */
  isMarked: boolean;
}

/** A block that contains other blocks. */
export type Container = Quote | Item;

/** The beginning of a container in a line. */
export type ContainerStart = Quote | ItemStart;

/** Opens a container; `previous` is the item that ended at the same place, whose list an item may continue. */
export function openContainer(start: ContainerStart, previous: Container | undefined): Container {
  if (start.type === "quote") return start;
  const { number = 0, delimiter } = start;
  const continues = previous?.type === "item" && previous.delimiter === delimiter &&
    previous.number === number;
  return { ...start, shownNumber: continues ? previous.shownNumber + 1 : number, isMarked: false };
}

/** The spans before the first row of a block and before its other rows. */
export interface Prefix {
  readonly first: Line;
  readonly next: Line;
}

/** Returns the prefix of a block in containers, with the markers of items that have none yet. */
export function createPrefix(containers: readonly Container[], display: Display): Prefix {
  const first: Span[] = [];
  const next: Span[] = [];
  for (const container of containers) {
    const marker = getMarker(container, display);
    const spaces = { text: " ".repeat(getLineWidth([marker])) };
    const isQuote = container.type === "quote";
    first.push(isQuote || !container.isMarked ? marker : spaces);
    next.push(isQuote ? marker : spaces);
  }
  return { first, next };
}

/** Returns the row between blocks of the same containers. */
export function createBlankRow(containers: readonly Container[], display: Display): Line {
  const last = containers.findLastIndex(({ type }) => type === "quote");
  const { next } = createPrefix(containers.slice(0, last + 1), display);
  return next.map((span, index) => index === last ? { ...span, text: span.text.trimEnd() } : span);
}

/** Limits a prefix to half of the terminal, so that deeply nested text remains legible. */
export function limitPrefix(prefix: Line, columns: number): Line {
  const limit = Math.floor(columns / 2);
  let start = 0;
  while (start < prefix.length && getLineWidth(prefix.slice(start)) > limit) start++;
  const rest = start === 0 ? prefix : prefix.slice(start);
  return rest.length > 0 ? rest : truncateLine(prefix.slice(-1), { columns: limit, ellipsis: "" });
}

function getMarker(container: Container, { symbols, colors }: Display): Span {
  if (container.type === "quote") return { text: `${symbols.quote} `, role: "mark" };
  const { number, shownNumber, delimiter, task } = container;
  if (task) {
    const isDone = task === "done";
    const bullet = colors === "none" ? `${symbols.bullet} ` : "";
    return { text: `${bullet}[${isDone ? "x" : " "}] `, role: isDone ? "success" : "faint" };
  }
  const text = number === undefined ? symbols.bullet : `${shownNumber}${delimiter}`;
  return { text: `${text} `, role: "mark" };
}
