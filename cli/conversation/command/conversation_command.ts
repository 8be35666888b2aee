/**
 * Definitions of the commands of a conversation, from which help, completion and documentation are generated.
 *
 * @module
 */

import type { CommandContext } from "./command_context.ts";
import type { CommandDescription } from "./command_description.ts";

/** A value that an argument can have. */
export interface ArgumentChoice {
  /** The value. */
  readonly text: string;
  /** Its effect. */
  readonly detail?: string | undefined;
}

/** A command. */
export interface ConversationCommand extends CommandDescription {
  /** Whether it also works while a run is active. Default: `false`. */
  readonly worksDuringRuns?: boolean;
  /** Returns the values with which completion completes the argument. Default: none. */
  readonly complete?: (
    context: CommandContext,
    signal: AbortSignal,
  ) => readonly ArgumentChoice[] | Promise<readonly ArgumentChoice[]>;
  /** Whether completion also finds a value by words of its effect. Default: `false`. */
  readonly completesByDetail?: boolean;
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
