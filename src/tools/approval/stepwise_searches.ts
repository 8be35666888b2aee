/**
 * Searches outside the directories of a sandbox, where the steps of a script show in which directory each of them runs.
 *
 * @module
 */

import { isDirectory } from "../../platform/is_directory.ts";
import { type ExecutedCommands, findExecutedCommands, getProgram } from "./executed_commands.ts";
import { findWorkingDirectory } from "./path_rules.ts";
import { listSteps, type ScriptStep } from "./script_steps.ts";
import {
  findWideSearch,
  listMoved,
  type ScriptPlace,
  setsPlace,
  type WideSearch,
} from "./wide_searches.ts";
import type { ShellWord } from "../kit/simple_command.ts";

/** Commands that move the shell, or decide what others do. */
const MOVERS = /^(?:cd|pushd|popd|eval|source|\.|trap|alias|shopt|enable)$/;

/** Maximum number of directories in which a step may run. */
const MAX_PLACES = 20;

/** Where the commands of a script run, and its text. */
export interface SourcePlace extends ScriptPlace {
  readonly source: string;
}

/** Finds how a script may show all files of a directory, as `findWideSearch()`, if need be step by step. */
export async function findStepwiseSearch(
  script: ExecutedCommands,
  place: SourcePlace,
): Promise<WideSearch | undefined> {
  const found = await findWideSearch(script, place);
  const isMoved = script.commands.some((command) => getProgram(command) === "cd");
  if (found !== "outside" || !isMoved || script.opaque) return found;
  if ((place.earlier ?? []).length > 0 || script.commands.some(setsPlace)) return found;
  const steps = listSteps(place.source);
  return steps ? await findInSteps(steps, place) : found;
}

async function findInSteps(
  steps: readonly ScriptStep[],
  { files, directories }: ScriptPlace,
): Promise<WideSearch | undefined> {
  const root = await findWorkingDirectory(files);
  // The directories in which a step may run, and those in which the shell is if it does not.
  let places: ReadonlySet<string> = new Set(directories ?? (root === undefined ? [] : [root]));
  let others: ReadonlySet<string> = new Set();
  for (const [index, { text, kind, isChained }] of steps.entries()) {
    if (!isChained) places = new Set([...places, ...others]);
    if (!isChained) others = new Set();
    if (places.size > MAX_PLACES) return "outside";
    others = new Set([...others, ...places]);
    const script = findExecutedCommands(text);
    const target = kind === "command" ? getTarget(script) : undefined;
    if (target) {
      // Nothing before the first step can have closed the directory.
      if (index === 0 && [...places].every((place) => canEnter(place, target.text))) {
        others = new Set();
      }
      places = await listMoved(places, target);
      continue;
    }
    const isMover = script.commands.some((command) => MOVERS.test(getProgram(command)));
    if (isMover && kind !== "subshell") return "outside";
    const search = await findWideSearch(script, { files, directories: [...places] });
    if (search) return search;
  }
  return undefined;
}

/** Whether a shell can move from a directory into another one. The path `.` in it is found only with the right to enter. */
function canEnter(place: string, target: string): boolean {
  return isDirectory(`${target.startsWith("/") ? "" : `${place}/`}${target}/.`);
}

/** Returns the directory of a command that does nothing but move the shell into it; `undefined` for another one. */
function getTarget({ commands: [command, ...others] }: ExecutedCommands): ShellWord | undefined {
  if (!command || getProgram(command) !== "cd" || others.length > 0) return undefined;
  const [target, ...rest] = command.words.slice(1).filter(({ text }) => text !== "--");
  const isPlain = target?.literal === true && /^[^-]/.test(target.text) && rest.length === 0;
  return isPlain ? target : undefined;
}
