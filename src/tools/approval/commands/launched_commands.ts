/**
 * The commands that programs such as `npx`, `docker run` and `python -m` start, which are among their arguments.
 *
 * @module
 */

import type { ShellWord, SimpleCommand } from "../../kit/simple_command.ts";
import {
  type ExecutedCommands,
  getProgram,
  runsArguments,
  UNKNOWN_ARGUMENTS,
} from "./executed_commands.ts";
import { startsNone } from "./known_programs.ts";
import { getFileName } from "./file_name.ts";
import { hasHarmlessForms } from "./harmless_commands.ts";
import { findStartedArguments } from "./inline_code.ts";

/** Programs that start the program in their arguments, behind options that are not known. */
const LAUNCHERS =
  /^(?:setarch|linux32|linux64|i[3-6]86|x86_64|prlimit|numactl|runcon|bwrap|proot|firejail|ssh-agent|dbus-run-session|dbus-launch|valgrind|perf|gdb|unbuffer|rlwrap|ip|cgexec|chpst|eatmydata|faketime|torsocks|torify|proxychains4?|xvfb-run|tmux|screen|npx|bunx|pnpx|uvx|cross-env|dotenv|direnv|hyperfine|ld(?:\.so|-linux.*|-musl.*)|logsave|choom|uclampset|sshpass|dtach|abduco|daemonize|tini|dumb-init|gosu|su-exec|catchsegv|chronic|ifne|systemd-inhibit|systemd-cat|aa-exec|mpirun|mpiexec|cpulimit|softlimit|setuidgid|envdir|corepack|watchexec|mosh|pdsh|sem|ts|retry|rr|run-one|setlock|shx|lockrun|s6-[\w-]+|xcrun|arch|dtruss|wsl|env-cmd|wait-for-it(?:\.sh)?|machinectl|k3s|minikube|microk8s)$/;

/** Programs that do so after one of these sub-commands. */
const LAUNCHERS_WITH_COMMAND =
  /^(?:npm|pnpm|yarn|bun|uv|poetry|bundle|pipx|(?:docker|podman)(?:-compose)?|nerdctl|kubectl|oc|nix|conda|mamba|micromamba|pixi|mise|cmake|rustup|pyenv|rbenv|nodenv|asdf|pipenv|pdm|hatch|rye|volta|fnm|op|doppler|dotenvx|infisical|aws-vault|chamber|devbox|flatpak|distrobox|toolbox|foreman|honcho|heroku|railway|limactl|adb|mix|vagrant)$/;
const LAUNCHING_COMMANDS =
  /^(?:exec|x|rsh|run|dlx|shell|develop|enter|-E|local:run|debug|ssh|cmd)$/;

/** Launchers that start the first word which is no option. */
const RUNNERS =
  /^(?:npx|bunx|pnpx|uvx|npm|pnpm|yarn|bun|uv|poetry|bundle|pipx|pipenv|pdm|hatch|rye)$/;

/** Launchers that start the second one: the first is a container, or what it is made of. */
const CONTAINER_LAUNCHERS = /^(?:(?:docker|podman)(?:-compose)?|nerdctl|kubectl|oc)$/;

/** Package managers that start a program of the project by its name, as in `yarn eslint`. */
const DIRECT_RUNNERS = /^(?:pnpm|yarn|bun)$/;

/** Their sub-commands with the names of programs. */
const MANAGER_COMMANDS =
  /^(?:create|deploy|env|fetch|import|info|init|install|link|list|ls|patch|rm|rebuild|set|test|unlink|up|update|upgrade|x)$/;

/** Their options with a value in the next word. */
const MANAGER_OPTIONS = /^(?:-[CF]|--(?:filter|filter-prod|dir|cwd|prefix|config))$/;

/** Words for packages of npm that Deno starts, and for programs of the packages of a project. */
const PACKAGE_PROGRAM =
  /^(?:npm|jsr):(?:\/?@[^/]+\/)?([^/@]+)|(?:^|\/)node_modules\/\.bin\/([^/]+)$/;

/** Options of runners and containers without a value in the next word. */
const FLAGS =
  /^(?:--|-[AyqTtidsD]+|--(?:yes|quiet|silent|rm|tty|stdin|interactive|detach|release|bun|(?:no|allow)-[\w-]+)|--[\w-]+=.*)$/s;

/** Options of containers whose value is the next word, and no program. */
const CONTAINER_OPTIONS =
  /^(?:-[veupwhlmcnf]|--(?:volume|env|env-file|user|publish|workdir|name|network|mount|platform|hostname|label|memory|cpus|gpus|namespace|container|file|profile|project-name|add-host))$/;

/** These and those of runners. */
const PROGRAM_OPTIONS = new RegExp(
  `${CONTAINER_OPTIONS.source}|^(?:-p|--(?:package|python|with|from|extra|group|directory|project))$`,
);

/**
 * Returns the words of the commands that a program may start: those from each word that may name a program of interest or
 * have any value.
 *
 * @param mayBegin Whether a program is of interest.
 */
export function findLaunched(
  command: SimpleCommand,
  mayBegin: (program: string) => boolean,
): (readonly ShellWord[])[] {
  const words = command.words.slice(1);
  const launcher = getProgram(command);
  const start = findLaunchStart(launcher, words);
  // The word behind it names a script of the project.
  const isScript = launcher === "npm" && words[start - 1]?.text === "run" &&
    words[start]?.quoted === true;
  const unknown = new Set(
    listUnknownStarts(launcher, words.slice(start), mayBegin).map((index) => index + start)
      .filter((index) => !(isScript && index === start)),
  );
  const { kind, words: [program, ...rest] = [] } = findLaunchedProgram(command) ?? {};
  const isNameTaker = kind !== "other" && program !== undefined && startsNone(program.text);
  const end = isNameTaker ? words.length - rest.length : words.length;
  const starts: number[] = [];
  for (let index = start; index < words.length && starts.length < MAX_STARTS; index++) {
    const { text = "", literal = true, replaced = false } = words[index] ?? {};
    const mayBeginHere = literal && !replaced
      ? index < end && mayBegin(getFileName(text))
      : unknown.has(index);
    if (mayBeginHere) starts.push(index);
  }
  return [
    ...starts.map((index) => words.slice(index)),
    ...findModule(command),
    ...findDirectStarts(launcher, words),
    ...findPackage(launcher, words),
    ...findEntrypoint(launcher, words),
  ];
}

/** The program that a launcher starts. */
export interface LaunchedProgram {
  /** `container`: in a container; `package`: of a package or an environment; `script`: of the project; `other`: unclear. */
  readonly kind: "container" | "package" | "script" | "other";
  /** The program with its arguments; `undefined` if it is not certain which word it is, or there is none. */
  readonly words: readonly ShellWord[] | undefined;
}

/** Finds the program that a launcher starts; `undefined` if a command is none. */
export function findLaunchedProgram(command: SimpleCommand): LaunchedProgram | undefined {
  const launcher = getProgram(command);
  const words = command.words.slice(1);
  const start = findLaunchStart(launcher, words);
  const isContainer = CONTAINER_LAUNCHERS.test(launcher);
  if (start === words.length && !isContainer) return undefined;
  if (/^(?:npm|pnpm|yarn|bun)$/.test(launcher) && words[start - 1]?.text === "run") {
    return { kind: "script", words: words.slice(start) };
  }
  if (isContainer) {
    return { kind: "container", words: findCertainProgram(words.slice(start), { operands: 1 }) };
  }
  if (!RUNNERS.test(launcher)) return { kind: "other", words: words.slice(start) };
  return { kind: "package", words: findCertainProgram(words.slice(start), { operands: 0 }) };
}

/** Returns the words from the program; `undefined` if a word before it may be one, or a value of an option. */
function findCertainProgram(
  words: readonly ShellWord[],
  { operands }: { readonly operands: number },
): readonly ShellWord[] | undefined {
  let remaining = operands;
  for (const [index, { text }] of words.entries()) {
    const before = words[index - 1]?.text ?? "";
    if (text.startsWith("-") || PROGRAM_OPTIONS.test(before)) continue;
    if (before.startsWith("-") && !FLAGS.test(before)) return undefined;
    if (remaining-- === 0) return words.slice(index);
  }
  return undefined;
}

/** Matches words that are no programs, such as options and the directory `.`, which is also a command of the shell. */
const NO_PROGRAM = /^(?:-.*|\.|source|)$/s;

/** Lists the commands of a script, and those that its programs may start. */
export function listStartedCommands(
  { commands, launched }: ExecutedCommands,
): readonly SimpleCommand[] {
  return [...commands, ...launched].flatMap((command) => [
    command,
    ...findLaunched(command, (name) => !NO_PROGRAM.test(name))
      // Behind the first one, a last word is rather an argument than a program without any.
      .filter((words, index) => index === 0 || words.length > 1)
      .filter((words) => !isArgument(command, words))
      .map((words) => ({
        assignments: [],
        words: getProgram({ words }) === "xargs" ? [...words, UNKNOWN_ARGUMENTS] : words,
        redirects: [],
      })),
  ]);
}

/**
 * Whether words begin with a path or the value of an option behind the program that a runner certainly starts, as in
 * `uv run pytest packages/python -q` and `npx jest --env node --ci`.
 */
function isArgument(command: SimpleCommand, words: readonly ShellWord[]): boolean {
  const launcher = getProgram(command);
  if (!RUNNERS.test(launcher)) return false;
  const [, ...all] = command.words;
  const index = all.length - words.length;
  const { [index]: first, [index - 1]: before } = all;
  if (!first || first !== words[0] || !before) return false;
  const isCertain = ({ text }: ShellWord, at: number) => {
    const option = at === 0 ? "" : all[at - 1]?.text ?? "";
    return !text.startsWith("-") && (!option.startsWith("-") || FLAGS.test(option));
  };
  const start = findLaunchStart(launcher, all);
  const program = all.findIndex((word, at) => at >= start && isCertain(word, at));
  if (program === -1 || program >= index) return false;
  if (isStarter(getFileName(all[program]?.text ?? ""))) return false;
  const isValue = before.text.startsWith("-") && !FLAGS.test(before.text) &&
    !/^--?(?:e?x|exec)$/.test(before.text);
  return isValue || first.text.includes("/");
}

/** Returns the words from each one that may be the program which a package manager starts by its name. */
function findDirectStarts(
  launcher: string,
  words: readonly ShellWord[],
): (readonly ShellWord[])[] {
  if (!DIRECT_RUNNERS.test(launcher)) return [];
  const starts: (readonly ShellWord[])[] = [];
  let operands = words.some(({ text }) => text === "workspace") ? 2 : 0;
  for (const [index, { text, literal }] of words.entries()) {
    const before = words[index - 1]?.text ?? "";
    if (!literal || text.startsWith("-") || MANAGER_OPTIONS.test(before)) continue;
    if (operands === 0 && !MANAGER_COMMANDS.test(text)) starts.push(words.slice(index));
    if (starts.length === MAX_STARTS) break;
    // Behind an option it may be the value of it.
    if (before.startsWith("-") && !FLAGS.test(before)) continue;
    if (operands === 0) break;
    operands--;
  }
  return starts;
}

/** Returns the words of the package that `deno run npm:name` or `node node_modules/.bin/name` runs; none for another command. */
function findPackage(launcher: string, words: readonly ShellWord[]): (readonly ShellWord[])[] {
  const runs = launcher === "deno"
    ? /^(?:run|x)$/.test(words[0]?.text ?? "")
    : /^(?:node|nodejs|bun)$/.test(launcher);
  if (!runs) return [];
  const index = words.findIndex(({ text }) => PACKAGE_PROGRAM.test(text));
  const [, name, program] = PACKAGE_PROGRAM.exec(words[index]?.text ?? "") ?? [];
  const text = name ?? program;
  if (text === undefined) return [];
  const started = [{ text, literal: true }, ...words.slice(index + 1)];
  return [started, ...LAUNCHERS.test(text) ? [started.slice(1)] : []];
}

/**
 * Returns the indices of the words with expansions that may be the program which a launcher starts. They are its arguments
 * behind a word that certainly is the program, unless that starts others.
 */
function listUnknownStarts(
  launcher: string,
  words: readonly ShellWord[],
  mayBegin: (program: string) => boolean,
): readonly number[] {
  const listRest = (start: number) =>
    words.flatMap(({ literal, replaced = false }, index) =>
      (!literal || replaced) && index >= start ? [index] : []
    );
  const isContainer = CONTAINER_LAUNCHERS.test(launcher);
  if (!isContainer && !RUNNERS.test(launcher)) return listRest(0);
  let operands = isContainer ? 1 : 0;
  const starts: number[] = [];
  for (const [index, { text, literal: isWritten, replaced = false }] of words.entries()) {
    const literal = isWritten && !replaced;
    const before = words[index - 1]?.text ?? "";
    if (text.startsWith("-") || isContainer && CONTAINER_OPTIONS.test(before)) continue;
    const isCertain = !before.startsWith("-") || FLAGS.test(before);
    if (literal && isStarter(getFileName(text))) return [...starts, ...listRest(index)];
    if (isCertain && operands > 0) operands--;
    else if (literal && isCertain) return starts;
    else if (!literal && mayBeProgram(text, mayBegin)) starts.push(index);
  }
  return starts;
}

/** Whether a program may start the ones in its arguments. */
function isStarter(program: string): boolean {
  return runsArguments(program) || LAUNCHERS.test(program) || LAUNCHERS_WITH_COMMAND.test(program);
}

/**
 * Whether a word with expansions may be a program of interest: not a pattern for files with an extension, `A=$A` or
 * `$PWD:/app`.
 */
function mayBeProgram(word: string, mayBegin: (program: string) => boolean): boolean {
  const text = word.replace(/\$(?:\(pwd\)|\{PWD\}|PWD\b)/g, ".");
  if (!/[$`]/.test(text) && /\.\w+$/.test(text)) return false;
  if (/^[^$`]*[=@:]/.test(text)) return false;
  return /[$`*?[{~]/.test(text) || mayBegin(getFileName(text));
}

/** Returns the words of the module that `python -m pip install` runs; none for another command. */
function findModule(command: SimpleCommand): (readonly ShellWord[])[] {
  if (!/^(?:i?python|pypy)[\d.]*$/.test(getProgram(command))) return [];
  const words = command.words.slice(1);
  const index = words.findIndex(({ text }) => /^-[A-Za-z]*m|^[^-]/.test(text));
  const { text = "", literal = true } = words[index] ?? {};
  const [, attached] = /^-[A-Za-z]*?m(.*)$/s.exec(text) ?? [];
  if (attached === undefined) return [];
  const rest = words.slice(index + 1);
  return [attached === "" ? rest : [{ text: attached, literal }, ...rest]];
}

/** Returns the words of the program that a container starts instead of its own; none for another command. */
function findEntrypoint(
  launcher: string,
  words: readonly ShellWord[],
): (readonly ShellWord[])[] {
  if (!CONTAINER_LAUNCHERS.test(launcher)) return [];
  return words.flatMap((word, index) => {
    const [option, text = ""] = /^--entrypoint=(.*)$/s.exec(word.text) ?? [];
    return option === undefined ? [] : [[{ ...word, text }, ...words.slice(index + 1)]];
  });
}

/** Finds the first word behind the sub-command that starts a program; that behind the last word if there is none. */
function findLaunchStart(launcher: string, words: readonly ShellWord[]): number {
  if (LAUNCHERS.test(launcher)) return 0;
  const find = (pattern: RegExp) => words.findIndex(({ text }) => pattern.test(text)) + 1;
  if (launcher === "just") return find(/^(?:-c|--command)$/) || words.length;
  const started = findStartedArguments(launcher, words.map(({ text }) => text));
  if (started !== -1) return started;
  if (LAUNCHERS_WITH_COMMAND.test(launcher)) return find(LAUNCHING_COMMANDS) || words.length;
  const isKnown = launcher === "git" || hasHarmlessForms([{ text: launcher, literal: true }]);
  return (!isKnown && find(/^exec$/)) || words.length;
}

/** Maximum number of words at which the command of a launcher may begin. */
const MAX_STARTS = 32;
