/**
 * The commands of a conversation with those of the user and of the project.
 *
 * @module
 */

import { join } from "../../../src/platform/paths.ts";
import type { ConversationCommand } from "../command/conversation_command.ts";
import { type CommandPlaces, listCommandDirectories } from "./command_directories.ts";
import { readCustomCommands } from "./custom_command.ts";
import { COMMANDS } from "./table.ts";

/** Options for `loadCommands()`. */
export interface LoadCommandsOptions extends CommandPlaces {
  /** Called with problems of files, as sentences without a full stop. */
  readonly onProblem: (problem: string) => void;
}

/** Loads the commands. Those of the project precede those of the user; neither replaces one of the program. */
export async function loadCommands(
  { onProblem, ...places }: LoadCommandsOptions,
): Promise<readonly ConversationCommand[]> {
  const commands = [...COMMANDS];
  for (const directory of listCommandDirectories(places)) {
    for (const command of await readCustomCommands(directory, onProblem)) {
      const [name] = command.names;
      const owner = commands.find(({ names }) => names.includes(name));
      if (!owner) commands.push(command);
      else if (COMMANDS.includes(owner)) onProblem(describeConflict(directory, name));
    }
  }
  return commands;
}

/** Describes a file with the name of a command of the program. */
function describeConflict(directory: string, name: string): string {
  const word = name.slice(1);
  return `${
    join(directory, `${word}.md`)
  } is not used, because ${name} is a command of the program: rename the file, for example to my-${word}.md`;
}
