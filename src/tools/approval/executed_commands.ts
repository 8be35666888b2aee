/**
 * The programs that a shell command runs, also through `env`, `xargs`, `sh -c`, `find -exec` and similar wrappers.
 *
 * @module
 */

import { parseShell, type ShellWord, type SimpleCommand } from "./shell_parser.ts";

/** The commands that a script runs. */
export interface ExecutedCommands {
  /** The commands; those inside a wrapper follow it. */
  readonly commands: readonly SimpleCommand[];
  /** Whether there may be others that cannot be determined. */
  readonly opaque: boolean;
}

/** Programs that run another program, and their options whose value is a separate argument. */
const WRAPPERS: ReadonlyMap<string, ReadonlySet<string>> = new Map([
  ["env", new Set(["-u", "--unset", "-C", "--chdir"])],
  ["nohup", new Set<string>()],
  ["setsid", new Set<string>()],
  ["nice", new Set(["-n", "--adjustment"])],
  ["ionice", new Set(["-c", "-n"])],
  ["stdbuf", new Set(["-i", "-o", "-e"])],
  ["timeout", new Set(["-k", "--kill-after", "-s", "--signal"])],
  ["time", new Set(["-f", "-o"])],
  ["command", new Set<string>()],
  ["builtin", new Set<string>()],
  ["exec", new Set(["-a"])],
  ["busybox", new Set<string>()],
  ["sudo", new Set(["-u", "-g", "-h", "-p", "-C", "-T", "-r", "-t"])],
  ["doas", new Set(["-u", "-C"])],
  ["xargs", new Set(["-a", "-d", "-E", "-I", "-L", "-n", "-P", "-s", "--delimiter", "--max-args"])],
]);

const SHELLS: ReadonlySet<string> = new Set(["sh", "bash", "dash", "zsh", "ksh", "ash", "fish"]);

/** Maximum nesting depth; anything deeper is opaque. */
const MAX_DEPTH = 10;

/** Finds the commands that a script runs. */
export function findExecutedCommands(script: string): ExecutedCommands {
  return unwrapScript(script, 0);
}

/** Returns the program of a command without its directory; empty for assignments only. */
export function getProgram({ words }: Pick<SimpleCommand, "words">): string {
  const name = words[0]?.text ?? "";
  return name.slice(name.lastIndexOf("/") + 1);
}

function unwrapScript(script: string, depth: number): ExecutedCommands {
  if (depth > MAX_DEPTH) return { commands: [], opaque: true };
  const parsed = parseShell(script);
  const unwrapped = parsed.commands.map((command) => unwrapCommand(command, depth));
  return mergeCommands(unwrapped, parsed.opaque);
}

function unwrapCommand(command: SimpleCommand, depth: number): ExecutedCommands {
  const { words } = command;
  const itself = { commands: [command], opaque: words.length > 0 && words[0]?.literal === false };
  const program = getProgram(command);
  if (depth > MAX_DEPTH) return { ...itself, opaque: true };
  if (SHELLS.has(program)) return mergeCommands([itself, unwrapShell(words, depth)]);
  if (program === "eval") return mergeCommands([itself, unwrapEval(words, depth)]);
  if (program === "find") return mergeCommands([itself, unwrapFind(words, depth)]);
  const options = WRAPPERS.get(program);
  if (options) return mergeCommands([itself, unwrapWrapper(command, options, depth)]);
  return itself;
}

/** Unwraps `sh -c 'script'`; a shell that runs a file or its input is opaque. */
function unwrapShell(words: readonly ShellWord[], depth: number): ExecutedCommands {
  const index = words.findIndex(({ text }) => /^-\w*c\w*$/.test(text));
  const script = index === -1
    ? undefined
    : words.slice(index + 1).find(({ text }) => !/^[-+]/.test(text));
  const isQuery = words.length === 2 && /^--?(?:version|help)$/.test(words[1]?.text ?? "");
  if (!script) return { commands: [], opaque: !isQuery };
  const inside = unwrapScript(script.text, depth + 1);
  return script.literal ? inside : { ...inside, opaque: true };
}

function unwrapEval(words: readonly ShellWord[], depth: number): ExecutedCommands {
  const args = words.slice(1);
  const inside = unwrapScript(args.map(({ text }) => text).join(" "), depth + 1);
  return { ...inside, opaque: inside.opaque || args.some(({ literal }) => !literal) };
}

/** Unwraps `find … -exec command … ;`. */
function unwrapFind(words: readonly ShellWord[], depth: number): ExecutedCommands {
  const unwrapped: ExecutedCommands[] = [];
  for (const [index, { text }] of words.entries()) {
    if (!/^-(?:exec|execdir|ok|okdir)$/.test(text)) continue;
    const following = words.slice(index + 1);
    const end = following.findIndex((word) => word.text === ";" || word.text === "+");
    unwrapped.push(
      unwrapCommand(
        createSimpleCommand(following.slice(0, end === -1 ? undefined : end)),
        depth + 1,
      ),
    );
  }
  return mergeCommands(unwrapped);
}

function unwrapWrapper(
  { words }: SimpleCommand,
  optionsWithValue: ReadonlySet<string>,
  depth: number,
): ExecutedCommands {
  const program = getProgram({ words });
  const takesAssignments = program === "env" || program === "sudo";
  let index = 1;
  for (; index < words.length; index++) {
    const text = words[index]?.text ?? "";
    if (program === "env" && /^(?:-S|--split-string)/.test(text)) {
      return { commands: [], opaque: true };
    }
    if (text === "--") {
      index++;
      break;
    }
    if (optionsWithValue.has(text)) index++;
    // The words before the wrapped command are options, or assignments of `env` and `sudo`.
    else if (!text.startsWith("-") && !(takesAssignments && /^\w+=/.test(text))) break;
  }
  if (program === "timeout") index++;
  const inner = words.slice(index);
  if (inner.length === 0) return { commands: [], opaque: false };
  const inside = unwrapCommand(createSimpleCommand(inner), depth + 1);
  // xargs appends arguments from its input, which are unknown.
  return program === "xargs"
    ? { ...inside, commands: inside.commands.map(appendUnknownArguments) }
    : inside;
}

function appendUnknownArguments(command: SimpleCommand): SimpleCommand {
  const unknown: ShellWord = { text: "$ARGUMENTS", literal: false, isGlob: false };
  return { ...command, words: [...command.words, unknown] };
}

function createSimpleCommand(words: readonly ShellWord[]): SimpleCommand {
  return { assignments: [], words, redirects: [] };
}

function mergeCommands(parts: readonly ExecutedCommands[], opaque = false): ExecutedCommands {
  return {
    commands: parts.flatMap(({ commands }) => commands),
    opaque: opaque || parts.some((part) => part.opaque),
  };
}
