/**
 * Which programs a shell command runs in the end: through `env`, `xargs`, `sh -c`, `find -exec` and the like.
 *
 * @module
 */

import { parseShell, type ShellWord, type SimpleCommand } from "./shell_parser.ts";

/** What a shell command runs. */
export interface ExecutedCommands {
  /** The commands; those inside of a wrapper stand after it. */
  readonly commands: readonly SimpleCommand[];
  /** Whether there may be others that could not be read. */
  readonly opaque: boolean;
}

/** Wrappers and the options of theirs that take a value of their own. */
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

/** Deeper nesting is nobody's honest command. */
const MAX_DEPTH = 10;

/** Finds all commands that a script runs. */
export function findExecutedCommands(script: string): ExecutedCommands {
  return unwrapScript(script, 0);
}

/** The program of a command without its folder; empty for a command of assignments alone. */
export function getProgram({ words }: Pick<SimpleCommand, "words">): string {
  const name = words[0]?.text ?? "";
  return name.slice(name.lastIndexOf("/") + 1);
}

function unwrapScript(script: string, depth: number): ExecutedCommands {
  if (depth > MAX_DEPTH) return { commands: [], opaque: true };
  const parsed = parseShell(script);
  const found = parsed.commands.map((command) => unwrapCommand(command, depth));
  return mergeCommands(found, parsed.opaque);
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

/** `sh -c 'script'`; a shell that runs a file or its input runs what nobody has read. */
function unwrapShell(words: readonly ShellWord[], depth: number): ExecutedCommands {
  const at = words.findIndex(({ text }) => /^-\w*c\w*$/.test(text));
  const script = at === -1
    ? undefined
    : words.slice(at + 1).find(({ text }) => !/^[-+]/.test(text));
  const isQuery = words.length === 2 && /^--?(?:version|help)$/.test(words[1]?.text ?? "");
  if (!script) return { commands: [], opaque: !isQuery };
  const inside = unwrapScript(script.text, depth + 1);
  return script.literal ? inside : { ...inside, opaque: true };
}

function unwrapEval(words: readonly ShellWord[], depth: number): ExecutedCommands {
  const rest = words.slice(1);
  const inside = unwrapScript(rest.map(({ text }) => text).join(" "), depth + 1);
  return { ...inside, opaque: inside.opaque || rest.some(({ literal }) => !literal) };
}

/** `find … -exec command … ;` */
function unwrapFind(words: readonly ShellWord[], depth: number): ExecutedCommands {
  const found: ExecutedCommands[] = [];
  for (const [index, { text }] of words.entries()) {
    if (!/^-(?:exec|execdir|ok|okdir)$/.test(text)) continue;
    const rest = words.slice(index + 1);
    const end = rest.findIndex((word) => word.text === ";" || word.text === "+");
    found.push(
      unwrapCommand(createSimpleCommand(rest.slice(0, end === -1 ? undefined : end)), depth + 1),
    );
  }
  return mergeCommands(found);
}

function unwrapWrapper(
  { words }: SimpleCommand,
  optionsWithValue: ReadonlySet<string>,
  depth: number,
): ExecutedCommands {
  const program = getProgram({ words });
  let at = 1;
  for (; at < words.length; at++) {
    const text = words[at]?.text ?? "";
    if (program === "env" && /^(?:-S|--split-string)/.test(text)) {
      return { commands: [], opaque: true };
    }
    if (text === "--") {
      at++;
      break;
    }
    if (optionsWithValue.has(text)) at++;
    else if (!text.startsWith("-") && !isEnvAssignment(program, text)) break;
  }
  if (program === "timeout") at++;
  const inner = words.slice(at);
  if (inner.length === 0) return { commands: [], opaque: false };
  const inside = unwrapCommand(createSimpleCommand(inner), depth + 1);
  // What comes from the input becomes arguments that nobody has read.
  return program === "xargs"
    ? { ...inside, commands: inside.commands.map(appendUnknownArguments) }
    : inside;
}

/** Words before the wrapped command that are no options: the assignments of `env`. */
function isEnvAssignment(program: string, text: string): boolean {
  return (program === "env" || program === "sudo") && /^\w+=/.test(text);
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
