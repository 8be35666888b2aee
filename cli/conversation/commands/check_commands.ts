/**
 * The check of the commands of the user and of the project, for `swink doctor`.
 *
 * @module
 */

import type { CheckResult } from "../../doctor/check.ts";
import type { Host } from "../../host/host.ts";
import { findCurrentSources } from "../../project/open_project.ts";
import { listCommandDirectories } from "./command_directories.ts";
import { loadCommands } from "./load_commands.ts";
import { COMMANDS } from "./table.ts";

const SUBJECT = "commands";

/** Lists the commands that conversations have in the current directory, and the files that are none. */
export async function checkCommands(host: Host): Promise<CheckResult[]> {
  const { directories, programs } = await findCurrentSources(host);
  const project = programs && { root: programs.root, isTrusted: true };
  const places = { directories, project };
  if (listCommandDirectories(places).length === 0) return [];
  const problems: string[] = [];
  const commands = await loadCommands({ ...places, onProblem: (text) => problems.push(text) });
  const names = commands.filter((command) => !COMMANDS.includes(command))
    .map(({ names: [name] }) => name);
  return [
    { type: "ok", subject: SUBJECT, finding: names.length === 0 ? "none" : names.join(", ") },
    ...problems.map((finding): CheckResult => ({ type: "warning", subject: SUBJECT, finding })),
  ];
}
