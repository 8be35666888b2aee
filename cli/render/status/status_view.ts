/**
 * The content of the status line.
 *
 * @module
 */

/** State of the conversation. Missing fields are not shown. */
export interface StatusView {
  /** The model, such as `anthropic/claude-sonnet-5-5:high`. */
  readonly model: string;
  /** Plan mode, or the mode that changes files. */
  readonly mode: "plan" | "execute";
  /** The tool calls that require approval, such as `smart`. */
  readonly approval?: string | undefined;
  /** Network access of commands, such as `off`. */
  readonly net?: string | undefined;
  /** Confinement of commands, such as `Landlock+seccomp`. */
  readonly sandbox?: string | undefined;
  /** The current activity, such as `thinking`. */
  readonly activity?: string | undefined;
  /** Number of the turn, from 1. */
  readonly turn?: number | undefined;
  /** Tokens of the conversation, input and output. */
  readonly tokens?: number | undefined;
  /** Cost of the conversation in US dollars; `null` if a part of it is unknown. */
  readonly cost?: number | null | undefined;
  /** Duration of the run, in milliseconds. */
  readonly elapsedMs?: number | undefined;
  /** Tokens in the context window and its size. */
  readonly context?: { readonly used: number; readonly limit: number } | undefined;
}
