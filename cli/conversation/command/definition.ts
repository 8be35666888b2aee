/**
 * Definitions of the commands of a conversation, from which help, completion and documentation are generated.
 *
 * @module
 */

import type { CommandContext } from "./context.ts";

/** A value that an argument can have. */
export interface ArgumentChoice {
  /** The value. */
  readonly text: string;
  /** Its effect. */
  readonly detail?: string | undefined;
}

/** A command. */
export interface ConversationCommand {
  /** Its names with their sign, such as `#help` and `/help`; the first one is that of the documentation. */
  readonly names: readonly [string, ...string[]];
  /** Its argument in help texts, such as `[N]`. Default: none. */
  readonly argument?: string;
  /** Its effect, in one sentence without a full stop. */
  readonly summary: string;
  /** The key with the same effect, such as `F1`. Default: none. */
  readonly key?: string;
  /** Whether it also works while a run is active. Default: `false`. */
  readonly worksDuringRuns?: boolean;
  /** Returns the values with which completion completes the argument. Default: none. */
  readonly complete?: (
    context: CommandContext,
    signal: AbortSignal,
  ) => readonly ArgumentChoice[] | Promise<readonly ArgumentChoice[]>;
  /**
   * Runs the command.
   *
   * @param argument The text after the name, without blanks at its ends; empty if there is none.
   * @throws {CliError} If the argument is invalid, or the command fails; the message is shown.
   */
  readonly run: (argument: string, context: CommandContext) => void | Promise<void>;
}

/** Checks a definition. */
export function defineCommand(command: ConversationCommand): ConversationCommand {
  return command;
}
