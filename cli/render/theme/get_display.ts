/**
 * Detection of how an output shows lines.
 *
 * @module
 */

import type { Output } from "../../host/terminal.ts";
import { canShowLinks, getColorLevel, type ReadVariable } from "./color_level.ts";
import type { Display, DisplayOptions, Symbols } from "./display.ts";
import { THEMES } from "./themes.ts";

/** Symbols of terminals that show Unicode. */
export const UNICODE_SYMBOLS: Symbols = {
  prompt: "›",
  normalPrompt: "‹",
  bullet: "•",
  quote: "│",
  rule: "─",
  column: "│",
  crossing: "┼",
  running: "◌",
  done: "•",
  failed: "✗",
  tree: { child: "├─ ", last: "└─ ", below: "│  " },
  gauge: { full: "█", empty: "░" },
  streaming: ["▌", " "],
  ellipsis: "…",
  arrow: "→",
  separator: "·",
};

/** Symbols of other terminals, and of `--plain`. */
export const ASCII_SYMBOLS: Symbols = {
  prompt: ">",
  normalPrompt: "<",
  bullet: "-",
  quote: ">",
  rule: "-",
  column: "|",
  crossing: "+",
  running: "~",
  done: "*",
  failed: "x",
  tree: { child: "|- ", last: "`- ", below: "|  " },
  gauge: { full: "#", empty: "." },
  streaming: ["_", " "],
  ellipsis: "...",
  arrow: "->",
  separator: "-",
};

/** Detects how an output shows lines. */
export function getDisplay(
  output: Pick<Output, "isTerminal">,
  env: ReadVariable,
  { theme = "dark", isPlain = false }: DisplayOptions = {},
): Display {
  const colors = isPlain ? "none" : getColorLevel(output, env);
  return {
    theme: THEMES[theme],
    colors,
    hasLinks: colors !== "none" && output.isTerminal && canShowLinks(env),
    symbols: isPlain || !hasUnicode(env) ? ASCII_SYMBOLS : UNICODE_SYMBOLS,
    isPlain,
  };
}

/** Whether the locale is one of UTF-8; without a locale, every terminal except the Linux console counts as one. */
function hasUnicode(env: ReadVariable): boolean {
  const locale = env("LC_ALL") || env("LC_CTYPE") || env("LANG");
  return locale ? /utf-?8/i.test(locale) : !/^(?:linux|dumb)$/.test(env("TERM") ?? "");
}
