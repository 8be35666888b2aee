/**
 * The commands of a conversation with those of the user and of the project.
 *
 * @module
 */

import { join } from "../../../src/platform/paths.ts";
import type { ProgramDirectories } from "../../host/program_directories.ts";
import type { Project } from "../../project/project.ts";
import type { ConversationCommand } from "../command/conversation_command.ts";
import { readCustomCommands } from "./custom_command.ts";
import { COMMANDS } from "./table.ts";

/** Options for `loadCommands()`. */
export interface LoadCommandsOptions {
  /** The program's directories; undefined for a user without a home directory. */
  readonly directories: ProgramDirectories | undefined;
  /** The project; its commands are loaded if the user trusts it. */
  readonly project: Project | undefined;
  /** Called with problems of files, as sentences without a full stop. */
  readonly onProblem: (problem: string) => void;
}

/** Directory with commands, relative to that of the configuration, and to `.swink` of a project. */
const DIRECTORY = "commands";

/** Loads the commands. Those of the project precede those of the user; neither replaces one of the program. */
export async function loadCommands(
  { directories, project, onProblem }: LoadCommandsOptions,
): Promise<readonly ConversationCommand[]> {
  const places = [
    ...(project?.isTrusted ? [join(project.root, ".swink", DIRECTORY)] : []),
    ...(directories ? [join(directories.config, DIRECTORY)] : []),
  ];
  const commands = [...COMMANDS];
  for (const place of places) {
    for (const command of await readCustomCommands(place, onProblem)) {
      const [name] = command.names;
      const isTaken = commands.some(({ names }) => names.includes(name));
      if (!isTaken) commands.push(command);
      else if (COMMANDS.some(({ names }) => names.includes(name))) {
        onProblem(`the command ${name} of ${place} is not used: the program has another one`);
      }
    }
  }
  return commands;
}
