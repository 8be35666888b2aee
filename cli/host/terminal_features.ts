/**
 * The abilities of a terminal, from the environment.
 *
 * Queries to the terminal are not used: their replies arrive late over slow connections, as input of the next program if
 * this one has ended, and some terminals print the query for synchronized output.
 *
 * @module
 */

/** Abilities of a terminal. */
export interface TerminalFeatures {
  /** Whether it can move the cursor and erase text. */
  readonly hasCursor: boolean;
  /** Whether it ignores the sequences of synchronized output (mode 2026), or supports them. */
  readonly isSynchronized: boolean;
  /**
   * Whether it breaks lines again when its width changes. `except_cursor`: not that of the cursor. `late`: it does, but
   * reports a new width later, when it may have another one.
   */
  readonly reflow: "yes" | "except_cursor" | "late" | "no" | "unknown";
  /** How it sends keys such as Shift+Enter, after it has been asked to. */
  readonly keyProtocol: "kitty" | "modify_other_keys" | "none";
  /** Whether it ignores the sequences of bracketed paste (mode 2004), or supports them. */
  readonly hasPasteMode: boolean;
}

/** Options for `detectTerminalFeatures()`. */
export interface FeatureDetection {
  /** Reads an environment variable. */
  readonly env: (name: string) => string | undefined;
  /** Whether the user wants output without cursor movement. Default: `false`. */
  readonly isPlain?: boolean | undefined;
}

/** A terminal that cannot move the cursor. */
const DUMB: TerminalFeatures = {
  hasCursor: false,
  isSynchronized: false,
  reflow: "no",
  keyProtocol: "none",
  hasPasteMode: false,
};

/** A terminal of which nothing else is known. */
const UNKNOWN: TerminalFeatures = {
  hasCursor: true,
  isSynchronized: true,
  reflow: "unknown",
  keyProtocol: "none",
  hasPasteMode: true,
};

/** Programs that set `TERM_PROGRAM` and have the protocol of kitty. */
const KITTY_PROGRAMS: ReadonlySet<string> = new Set(["ghostty", "iTerm.app", "rio", "WezTerm"]);

/** Matches `TERM` of terminals with the protocol of kitty. */
const KITTY_TERMS = /^(?:xterm-kitty|xterm-ghostty|alacritty|foot|rio|wezterm)/;

/** Detects the abilities of a terminal. */
export function detectTerminalFeatures({ env, isPlain }: FeatureDetection): TerminalFeatures {
  const term = env("TERM") ?? "";
  const program = env("TERM_PROGRAM") ?? "";
  const isWindows = env("WT_SESSION") !== undefined;
  if (isPlain || term === "dumb" || (term === "" && !isWindows && program === "")) return DUMB;
  if (env("TMUX") !== undefined) {
    // It reports the first of several sizes at once, and the others up to 250 ms later.
    return { ...UNKNOWN, reflow: "late", keyProtocol: "modify_other_keys" };
  }
  if (term.startsWith("screen")) return { ...UNKNOWN, reflow: "no" };
  if (term === "linux") return { ...UNKNOWN, reflow: "no", isSynchronized: false };
  if (env("XTERM_VERSION") !== undefined) {
    return { ...UNKNOWN, reflow: "no", keyProtocol: "modify_other_keys" };
  }
  const hasKittyProtocol = KITTY_TERMS.test(term) || KITTY_PROGRAMS.has(program);
  if (hasKittyProtocol) return { ...UNKNOWN, reflow: "yes", keyProtocol: "kitty" };
  if (program === "vscode") return { ...UNKNOWN, reflow: "except_cursor" };
  const reflows = isWindows || program === "Apple_Terminal" ||
    env("VTE_VERSION") !== undefined || env("KONSOLE_VERSION") !== undefined;
  return reflows ? { ...UNKNOWN, reflow: "yes" } : UNKNOWN;
}
