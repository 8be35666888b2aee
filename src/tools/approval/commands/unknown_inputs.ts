/**
 * Whether a program that is no known interpreter may run a text in its input.
 *
 * @module
 */

import type { ShellWord, SimpleCommand } from "../../kit/simple_command.ts";
import { isScript, takesData, testsOnly } from "./known_programs.ts";
import { getProgram, runsArguments } from "./executed_commands.ts";
import { isHarmlessCommand } from "./harmless_commands.ts";
import { createProgramTest, isInterpreter } from "./interpreters.ts";
import { findLaunchedProgram } from "./launched_commands.ts";

/** Whether a program starts others in containers. */
export const isContainerTool = createProgramTest(
  "(?:docker|podman)(?:-compose)? kubectl nerdctl oc",
);

/** Whether a command, or the program that it starts, may run its input: it is not known to take it as data. */
export function mayRunText(command: SimpleCommand): boolean {
  const [name, ...args] = command.words;
  const program = getProgram(command);
  // The commands of wrappers and shells are others.
  if (!name || runsArguments(program) || command.isFunction || isHarmlessCommand(command)) {
    return false;
  }
  const texts = args.map(({ text }) => text);
  if (isContainerTool(program)) return mayRunInContainer(command, texts);
  const launched = findLaunchedProgram(command);
  switch (launched?.kind) {
    case "script":
      return false;
    case "package":
      return mayRunLaunched(launched.words);
    case "other":
      return STARTS_SHELL.test(program) ||
        !isInterpreter(program) && !(launched.words ?? []).some(mayTakeData);
    default:
      return !isInterpreter(program) && !takesData(name.text, texts);
  }
}

/** Whether a program that another one starts, with its arguments, may run its input: it is not certain, or another wrapper. */
function mayRunLaunched(words: readonly ShellWord[] | undefined): boolean {
  if (words === undefined) return true;
  const [, ...args] = words;
  const program = getProgram({ words });
  if (runsArguments(program)) return program === "xargs" || !args.some(mayTakeData);
  return mayRunText(toCommand(words));
}

/**
 * Returns the arguments of a command that may be a command which its program runs: those of a program that is not known, or
 * behind a launcher.
 */
export function listUnknownArguments(command: SimpleCommand): readonly ShellWord[] {
  const [name, ...args] = command.words;
  const program = getProgram(command);
  if (!name || runsArguments(program) || command.isFunction || isContainerTool(program)) return [];
  if (STARTS_GIT.test(program)) return args.filter(({ text }) => !/\s/.test(text));
  const launched = findLaunchedProgram(command);
  if (launched?.kind === "other") {
    const { words = [] } = launched;
    const end = words.findIndex(({ text }) => testsOnly(text) || isScript(text));
    return words.slice(0, end === -1 ? undefined : end);
  }
  const isKnown = launched !== undefined || isInterpreter(program) || isHarmlessCommand(command) ||
    takesData(name.text, args.map(({ text }) => text));
  return isKnown ? [] : args;
}

/** Programs that start git with their arguments, but run no text among them, such as a message. */
const STARTS_GIT = /^(?:gt|jj|sl)$/;

/** Programs that start a shell on another machine, also behind words that are no programs. */
const STARTS_SHELL = /^(?:mosh|pdsh|sshpass)$/;

function toCommand(words: readonly ShellWord[]): SimpleCommand {
  return { assignments: [], words, redirects: [] };
}

/** The number of arguments that decide how a program takes its input. */
const MAX_ARGUMENTS = 8;

/** Whether a word may be a program that takes its input as data, or an interpreter, about which others decide. */
function mayTakeData(word: ShellWord, index: number, words: readonly ShellWord[]): boolean {
  const command = toCommand(words.slice(index, index + MAX_ARGUMENTS));
  return word.literal && !/^(?:[-\d]|\.$)/.test(word.text) &&
    (isInterpreter(getProgram(command)) ||
      takesData(word.text, command.words.slice(1).map(({ text }) => text)));
}

/** Sub-commands of containers with a description of what they run, which may be the input. */
const DESCRIBED = /^(?:apply|build|buildx|create|replace|patch|run|up)$/;

/** Those with which a container gets the input. */
const ATTACHED = /^(?:attach|debug|rsh)$/;

function mayRunInContainer(command: SimpleCommand, args: readonly string[]): boolean {
  const [program = ""] = args.filter((text) => /^\w/.test(text));
  if (/^(?:config|cp|import|load|login|secret)$/.test(program)) return false;
  const isInput = args.some((text) =>
    text === "-" || text.endsWith("=-") || /^\/dev\/stdin$/.test(text)
  );
  const isData = args.some((text) => /^(?:cm|configmap|secret)s?$/.test(text));
  if (isInput && !isData && args.some((text) => DESCRIBED.test(text))) return true;
  if (args.some((text) => ATTACHED.test(text))) return true;
  const isCompose = args.includes("compose") || getProgram(command).endsWith("-compose");
  const isInteractive = isCompose && args.some((text) => /^(?:exec|run)$/.test(text)) ||
    args.some((text) => /^(?:-[a-z]*i[a-z]*|--interactive(?:=.*)?|--stdin(?:=.*)?)$/.test(text));
  if (!isInteractive) return false;
  return mayRunLaunched(findLaunchedProgram(command)?.words);
}
