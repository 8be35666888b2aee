/**
 * Searches outside the directories of a sandbox, where the steps of a script show in which directory each of them runs.
 *
 * @module
 */

import { isDirectory } from "../../../platform/is_directory.ts";
import type { ShellRedirect, ShellWord } from "../../kit/simple_command.ts";
import {
  type ExecutedCommands,
  findExecutedCommands,
  getProgram,
} from "../commands/executed_commands.ts";
import { listSteps, type ScriptStep } from "../commands/script_steps.ts";
import { findWorkingDirectory } from "../patterns/path_rules.ts";
import { listMoved } from "./searched_directories.ts";
import { findWideSearch, type ScriptPlace, setsPlace, type WideSearch } from "./wide_searches.ts";

/** Commands that move the shell, or decide what others do. */
const MOVERS = /^(?:cd|pushd|popd|eval|exec|source|\.|trap|alias|shopt|enable)$/;

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
  try {
    return steps ? await findInSteps(steps, place) : found;
  } catch {
    return found; // A directory is one of the kernel.
  }
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
    if (!isChained) {
      places = new Set([...places, ...others]);
      others = new Set();
    }
    if (places.size > MAX_PLACES) return "outside";
    others = new Set([...others, ...places]);
    const script = findExecutedCommands(text);
    const target = kind === "command" ? getTarget(script) : undefined;
    if (target) {
      // Nothing before the first step can have closed the directory.
      if (index === 0 && [...places].every((place) => canEnter(target, place))) others = new Set();
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

/**
 * Returns the directory into which a step moves the shell; `undefined` for another step. Of a step that may fail for another
 * reason than its directory, such as a redirection of a file that is missing, it is not clear where the shell is.
 */
function getTarget({ commands: [command, ...others] }: ExecutedCommands): ShellWord | undefined {
  if (!command || getProgram(command) !== "cd" || others.length > 0) return undefined;
  if (command.assignments.length > 0 || !command.redirects.every(certainlyOpens)) return undefined;
  const args = command.words.slice(1);
  const [target, ...rest] = args[0]?.text === "--" ? args.slice(1) : args;
  // Of another word behind the directory it is not clear whether the shell takes it.
  const isPlain = target?.literal === true && /^[^-~]/.test(target.text) && rest.length === 0;
  return isPlain ? target : undefined;
}

/** Whether the shell can enter a directory: the path `.` in it is found only with the right to do so. */
function canEnter({ text }: ShellWord, place: string): boolean {
  return isDirectory(`${text.startsWith("/") ? "" : `${place}/`}${text}/.`);
}

function certainlyOpens({ operator, target }: ShellRedirect): boolean {
  const text = target?.literal === true ? target.text : "";
  return /^(?:&?>{1,2})$/.test(operator)
    ? text === "/dev/null"
    : operator === ">&" && /^[12]$/.test(text);
}
