/**
 * Detection of the colors and links that an output shows.
 *
 * @module
 */

import type { Output } from "../../host/terminal.ts";
import type { ColorLevel } from "./display.ts";

/** Reads an environment variable. */
export type ReadVariable = (name: string) => string | undefined;

const LEVELS: readonly ColorLevel[] = ["none", "basic", "indexed", "true_color"];

/** Values of `TERM` of terminals with 16 million colors and links. */
const MODERN_TERMINALS = /^(?:xterm-)?(?:kitty|ghostty|alacritty|wezterm|foot|rio|contour)\b/;

/** Values of `TERM_PROGRAM` of terminals with 16 million colors and links. */
const MODERN_PROGRAMS = /^(?:iTerm\.app|WezTerm|ghostty|vscode|rio|WarpTerminal|Hyper|zed)$/i;

/** The first version of VTE with links, 0.50, as its variable has it. */
const VTE_WITH_LINKS = 5_000;

/**
 * Detects the colors of an output. `FORCE_COLOR` (`0`, or the least level from 1 to 3) overrides `NO_COLOR`
 * (no-color.org), which overrides the terminal.
 */
export function getColorLevel(
  output: Pick<Output, "isTerminal">,
  env: ReadVariable,
): ColorLevel {
  const forced = env("FORCE_COLOR");
  if (forced !== undefined && forced !== "") {
    if (forced === "0" || forced === "false") return "none";
    const least = /^[123]$/.test(forced) ? Number(forced) : 1;
    const detected = LEVELS.indexOf(detectLevel(env));
    return LEVELS[Math.max(least, detected)] ?? "basic";
  }
  if (env("NO_COLOR") || !output.isTerminal) return "none";
  return detectLevel(env);
}

function detectLevel(env: ReadVariable): ColorLevel {
  const term = env("TERM") ?? "";
  const program = env("TERM_PROGRAM") ?? "";
  if (term === "dumb") return "none";
  if (/^(?:truecolor|24bit)$/i.test(env("COLORTERM") ?? "")) return "true_color";
  if (/-(?:direct|truecolor)$/.test(term) || env("WT_SESSION")) return "true_color";
  if (MODERN_TERMINALS.test(term) || MODERN_PROGRAMS.test(program)) return "true_color";
  return /-256(?:color)?/.test(term) || program === "Apple_Terminal" ? "indexed" : "basic";
}

/**
 * Detects whether a colored terminal shows links of OSC 8. `FORCE_HYPERLINK` overrides the detection. Multiplexers are
 * not trusted, since they drop links unless they are configured.
 */
export function canShowLinks(env: ReadVariable): boolean {
  const forced = env("FORCE_HYPERLINK");
  if (forced !== undefined && forced !== "") return forced !== "0" && forced !== "false";
  const term = env("TERM") ?? "";
  if (/^(?:screen|tmux)/.test(term) || env("TMUX") || env("STY")) return false;
  if (MODERN_TERMINALS.test(term) || MODERN_PROGRAMS.test(env("TERM_PROGRAM") ?? "")) return true;
  if (env("WT_SESSION") || env("KITTY_WINDOW_ID") || env("KONSOLE_VERSION")) return true;
  return Number(env("VTE_VERSION") ?? 0) >= VTE_WITH_LINKS;
}
