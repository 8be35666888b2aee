/**
 * Turns, tokens, money and time of a run, in one line.
 *
 * @module
 */

import type { Cost, Usage } from "../../mod.ts";
import { countOf } from "./tool_line.ts";

/** What a run took. */
export interface RunFigures {
  /** Its turns. */
  readonly turns: number;
  /** Its tokens. */
  readonly usage: Usage;
  /** What it cost, in US dollars. */
  readonly cost: Cost;
  /** How long it took, in milliseconds. */
  readonly durationMs: number;
}

/** `3 turns · 8,210 tokens in (6,000 cached), 412 out · $0.0217 · 4.1 s` */
export function usageLine({ turns, usage, cost, durationMs }: RunFigures): string {
  const input = usage.input + usage.cacheRead + usage.cacheWrite;
  const cached = usage.cacheRead > 0 ? ` (${grouped(usage.cacheRead)} cached)` : "";
  return [
    countOf(turns, "turn"),
    `${countOf(input, "token")} in${cached}, ${grouped(usage.output)} out`,
    costWords(cost, input + usage.output),
    durationWords(durationMs),
  ].join(" · ");
}

/** `4.1 s`, `2 min 5 s` */
export function durationWords(milliseconds: number): string {
  const seconds = milliseconds / 1000;
  if (seconds < 60) return `${seconds.toFixed(1)} s`;
  return `${Math.floor(seconds / 60)} min ${Math.floor(seconds % 60)} s`;
}

function costWords({ total }: Cost, tokens: number): string {
  if (total === 0 && tokens > 0) return "price unknown";
  return `$${total.toFixed(total < 1 ? 4 : 2)}`;
}

function grouped(count: number): string {
  return count.toLocaleString("en-US");
}
