/**
 * The simple commands of shell scripts.
 *
 * @module
 */

/** A word of a command. */
export interface ShellWord {
  /** The word without quotes; expansions are kept as written. */
  readonly text: string;
  /** Whether the shell passes exactly this text: it has no variable, substitution, pattern, brace list or tilde. */
  readonly literal: boolean;
  /** Whether it has variables and substitutions, but is one word: they are in double quotes. Default: `false`. */
  readonly quoted?: boolean;
  /** Whether `find` replaces braces in it by the path of a file. Default: `false`. */
  readonly replaced?: boolean;
  /** The text as it is written, if variables in it are replaced by their values. Default: they are not. */
  readonly written?: string;
}

/** The operator of a redirection; `<<` and `<<-` begin a here-document. */
export type RedirectOperator =
  | "<"
  | "<<"
  | "<<-"
  | "<<<"
  | "<>"
  | "<&"
  | ">"
  | ">>"
  | ">|"
  | ">&"
  | "&>"
  | "&>>";

/** A redirection. */
export interface ShellRedirect {
  /** The operator, without the number of the file descriptor. */
  readonly operator: RedirectOperator;
  /** The target; `undefined` for a here-document. */
  readonly target: ShellWord | undefined;
  /** The text of a here-document. Default: it is none. */
  readonly document?: string | undefined;
}

/** A simple command: assignments, words and redirections. */
export interface SimpleCommand {
  /** Names of the variables that are assigned before the command. */
  readonly assignments: readonly string[];
  /** Program and arguments. */
  readonly words: readonly ShellWord[];
  /** Redirections. */
  readonly redirects: readonly ShellRedirect[];
  /** Whether its input may be a text of the script. Default: `false`. */
  readonly readsText?: boolean;
  /** Whether its program is a function of the script. Default: `false`. */
  readonly isFunction?: boolean;
}
