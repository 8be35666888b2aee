/**
 * The programs that a shell command runs, also through `env`, `xargs`, `sh -c`, `find -exec` and similar wrappers.
 *
 * @module
 */

import type { ShellRedirect, ShellWord, SimpleCommand } from "../../kit/simple_command.ts";
import { EVALUATED_VARIABLES, isPlainValue, MAKE_FUNCTION } from "../shell/evaluated_variables.ts";
import { createOtherVariables } from "../shell/numeric_variables.ts";
import { parseShell } from "../shell/shell_syntax.ts";
import { getFileName } from "./file_name.ts";
import { findCommandsOfFind } from "./find_commands.ts";
import { isHarmlessCommand } from "./harmless_commands.ts";
import { isOpaque, OPAQUE_PROGRAMS } from "./opaque_programs.ts";
import { isPlainSed } from "./plain_sed.ts";
import { listShellArguments } from "./shell_arguments.ts";

/** The commands that a script runs. */
export interface ExecutedCommands {
  /** The commands; those inside a wrapper follow it. Where it is not clear which word begins one, all that may. */
  readonly commands: readonly SimpleCommand[];
  /** The commands of shells that another program may start, such as those in `uv run bash -c 'script'`. */
  readonly launched: readonly SimpleCommand[];
  /** All words, including those inside expansions. */
  readonly words: readonly ShellWord[];
  /** Whether there may be other commands that cannot be determined. */
  readonly opaque: boolean;
  /** Whether a part was not analyzed, so that its commands and words are missing. */
  readonly incomplete: boolean;
  /** Whether the script consists of simple commands in lists, pipes, groups, conditions and loops over conditions. */
  readonly plain: boolean;
  /** Whether a loop or a function may run its commands more than once. */
  readonly repeats: boolean;
  /** Whether a function starts itself more than once. */
  readonly multiplies: boolean;
}

interface Wrapper {
  /** Letters of options without a value. */
  readonly flags?: string;
  /** Letters of options with a value. */
  readonly valued?: string;
  /** Letters of options that may have a value in the same word. */
  readonly optional?: string;
  /** Long options without a value in the next word. */
  readonly longFlags?: ReadonlySet<string>;
  /** Long options with a value in the next word. */
  readonly longValued?: ReadonlySet<string>;
  /** Number of arguments before the command. Default: 0. */
  readonly operands?: number;
  /** Matches the words before the command that assign variables. */
  readonly assigns?: RegExp;
}

/** Programs that run another program. */
const OWN_WRAPPERS: readonly (readonly [name: string, wrapper: Wrapper])[] = [
  ["env", { flags: "i0v", valued: "uC", assigns: /=/ }],
  ["nohup", {}],
  ["setsid", { flags: "cfw" }],
  ["nice", { flags: "0123456789", valued: "n" }],
  ["ionice", { flags: "t", valued: "cn" }],
  ["chrt", { flags: "bfior", operands: 1 }],
  ["taskset", { flags: "ac", operands: 1 }],
  ["stdbuf", { valued: "ioe" }],
  ["timeout", { flags: "fpv", valued: "ks", operands: 1 }],
  ["time", { flags: "pvaq", valued: "fo" }],
  ["command", { flags: "p" }],
  ["builtin", {}],
  ["exec", { flags: "cl", valued: "a" }],
  ["busybox", {}],
  ["toybox", {}],
  ["chroot", { operands: 1 }],
  ["unshare", {}],
  ["nsenter", {}],
  ["setpriv", {}],
  ["strace", { flags: "fqvy", valued: "eo" }],
  ["ltrace", { flags: "f", valued: "eo" }],
  ["caffeinate", { flags: "dimsu", valued: "t" }],
  ["systemd-run", {}],
  ["fakeroot", {}],
  ["pkexec", {}],
  ["sudo", { flags: "AbEeHiKklnPSVv", valued: "ughpCTrtUDR", assigns: /^\w+=/ }],
  ["doas", { flags: "Lns", valued: "uC", assigns: /^\w+=/ }],
  ["ssh", { flags: "46AaCfGgKkMNnqsTtVvXxYy", valued: "BbcDEeFIiJLlmOopQRSWw", operands: 1 }],
  ["xargs", {
    flags: "0prtxo",
    valued: "adEIJLnPRSs",
    optional: "eil",
    longFlags: new Set(
      ("--null --no-run-if-empty --verbose --exit --open-tty --replace --eof --max-lines").split(
        " ",
      ),
    ),
    longValued: new Set("--arg-file --delimiter --max-args --max-chars --max-procs".split(" ")),
  }],
];

/** With the names that GNU programs have on macOS, such as `gtimeout`. */
const WRAPPERS: ReadonlyMap<string, Wrapper> = new Map(
  OWN_WRAPPERS.flatMap(([name, wrapper]) => [[name, wrapper], [`g${name}`, wrapper]]),
);

/** Those that without a program run a shell, which reads its commands from their input. */
const SHELL_STARTERS: ReadonlySet<string> = new Set(
  "sudo doas ssh chroot unshare nsenter fakeroot pkexec".split(" "),
);

/** Whether a program that starts a shell starts none: it only shows something, forwards ports or signs in to a server of git. */
function startsNoShell(program: string, args: readonly ShellWord[]): boolean {
  const texts = args.map(({ text }) => text);
  if (program === "sudo") {
    return texts.length > 0 && texts.every((text) => /^-n?[vlkKVh]?$/.test(text));
  }
  const isValue = (index: number) => /^-\w*[BbcDEeFIiJLlmOopQRSWw]$/.test(texts[index - 1] ?? "");
  return program === "ssh" &&
    texts.some((text, index) =>
      /^-[46AaCfgKkMnqTtvXxYy]*[VNOQG]|^git@[\w.-]+$/.test(text) && !isValue(index)
    );
}

/** Shells of the syntax that is parsed. */
const SHELLS: ReadonlySet<string> = new Set(["sh", "bash", "dash", "ksh", "ash", "rbash"]);

/** Maximum nesting depth of scripts and wrappers; anything deeper is opaque. */
const MAX_DEPTH = 10;

/** Maximum number of words of commands in wrappers, and of characters in scripts within scripts. */
const MAX_WRAPPED_WORDS = 10_000;
const MAX_NESTED_CHARACTERS = 128 * 1024;

/** Finds the commands that a script runs. */
export function findExecutedCommands(script: string): ExecutedCommands {
  const finder = new CommandFinder();
  finder.findInScript(script, 0);
  return finder;
}

/** Returns the program of a command without its directory; empty for assignments only. */
export function getProgram({ words }: Pick<SimpleCommand, "words">): string {
  return getFileName(words[0]?.text ?? "");
}

/** Whether a program runs its arguments, or commands in them. */
export function runsArguments(program: string): boolean {
  return SHELLS.has(program) || WRAPPERS.has(program) || OPAQUE_PROGRAMS.has(program) ||
    /^(?:eval|g?find)$/.test(program);
}

/**
 * Whether the name of a program is certain; its directory does not change it, such as the home directory in `~/bin/program` or a
 * variable in `"$DIR/program"`. A number may be a descriptor of a file.
 */
export function isKnownProgram(
  { text, literal, quoted = false, replaced = false }: ShellWord,
): boolean {
  return literal && !replaced || /^~\/[\w@.+/-]*\w$/.test(text) ||
    quoted && /\/[\w@.+-]*[A-Za-z][\w@.+-]*$/.test(text) && /\w$/.test(text);
}

/** Returns the text that a script passes to a command as its input. */
export function getInputText({ operator, target, document }: ShellRedirect): string {
  return document ?? (operator === "<<<" ? target?.text ?? "" : "");
}

/** How a script within another one runs. */
interface ScriptPlace extends Pick<SimpleCommand, "readsText"> {
  /** The shell: one of the syntax that is parsed, or one that may differ from it. Default: `"bash"`. */
  readonly shell?: "bash" | "other";
}

class CommandFinder implements ExecutedCommands {
  readonly commands: SimpleCommand[] = [];
  readonly launched: SimpleCommand[] = [];
  readonly words: ShellWord[] = [];
  opaque = false;
  incomplete = false;
  plain = true;
  repeats = false;
  multiplies = false;
  readonly #others = createOtherVariables();
  #wrappedWords = 0;
  #nestedCharacters = 0;

  findInScript(
    script: string,
    depth: number,
    { shell = "bash", readsText = false }: ScriptPlace = {},
  ): void {
    if (depth > 0) this.#nestedCharacters += script.length;
    if (depth > MAX_DEPTH || this.#nestedCharacters > MAX_NESTED_CHARACTERS) {
      return this.#markIncomplete();
    }
    const parsed = parseShell(script, { others: this.#others, isOutermost: depth === 0 });
    this.opaque ||= parsed.opaque || (shell === "other" && parsed.bashOnly);
    this.incomplete ||= parsed.incomplete;
    this.plain &&= parsed.plain;
    this.repeats ||= parsed.repeats;
    this.multiplies ||= parsed.multiplies;
    for (const word of parsed.words) this.words.push(word);
    for (const command of parsed.commands) {
      this.#addCommand(readsText ? { ...command, readsText } : command, depth);
    }
  }

  #markOpaque(): void {
    this.opaque = true;
  }

  #markIncomplete(): void {
    this.opaque = true;
    this.incomplete = true;
  }

  #addCommand(written: SimpleCommand, depth: number): void {
    const [first, ...args] = written.words;
    const name = first && this.#replaceHome(first);
    const command = name === undefined ? written : { ...written, words: [name, ...args] };
    this.commands.push(command);
    if (!name) return;
    if (depth > MAX_DEPTH) return this.#markIncomplete();
    if (!isKnownProgram(name)) return this.#markOpaque();
    const program = getProgram(command);
    if (mayBeProcess(name.text)) this.#markOpaque();
    if (isOpaque(program, args)) this.#markOpaque();
    if (SHELLS.has(program)) return this.#findInShell(command, depth);
    if (program === "sed" && !isPlainSed(args)) this.#markOpaque();
    if (program === "command" && /^-[vV]+$/.test(args[0]?.text ?? "")) return;
    if (program === "eval") return this.#findInText(skipOptionsEnd(args), depth, command);
    if (program === "trap") return this.#findInTrap(command, depth);
    if (/^g?find$/.test(program)) {
      return this.#findInFind(command, depth);
    }
    const wrapper = WRAPPERS.get(program);
    if (wrapper) return this.#findInWrapper(command, { wrapper, depth });
    if (!isHarmlessCommand(command)) this.#findLaunched(command, depth);
  }

  /** Writes the home directory before a path as `~`, which is one word, unless the script may change it. */
  #replaceHome(word: ShellWord): ShellWord {
    const { isAny, names } = this.#others;
    const [, path] = /^\$(?:HOME|\{HOME\})(\/[\w@.+/-]*)$/.exec(word.text) ?? [];
    return word.literal || path === undefined || isAny || names.has("HOME")
      ? word
      : { text: `~${path}`, literal: false };
  }

  /**
   * Finds the commands of shells in the arguments of a program. It may not start them, or elsewhere, as in a container, so
   * that what is opaque in them is not opaque here.
   */
  #findLaunched(command: SimpleCommand, depth: number): void {
    for (const script of listShellArguments(getProgram(command), command.words.slice(1))) {
      const finder = new CommandFinder();
      finder.#nestedCharacters = this.#nestedCharacters;
      finder.findInScript(script, depth + 1, command);
      this.#nestedCharacters = finder.#nestedCharacters;
      if (finder.incomplete) return this.#markIncomplete();
      for (const found of [...finder.commands, ...finder.launched]) this.launched.push(found);
    }
  }

  /** Finds the commands of `sh -c 'script'`; a shell that runs a file or its input is opaque. */
  #findInShell(command: SimpleCommand, depth: number): void {
    const args = command.words.slice(1);
    if (args.length === 1 && /^--(?:version|help)$/.test(args[0]?.text ?? "")) return;
    // It only checks the syntax of a file.
    const [first, file, ...rest] = args;
    const isName = file?.literal === true && /^[^-+]/.test(file.text);
    if (first?.text === "-n" && isName && rest.length === 0) return;
    const index = args.findIndex(({ text }) => /^-\w*c\w*$/.test(text));
    const script = index === -1
      ? undefined
      : args.slice(index + 1).find(({ text }) => !/^[-+]/.test(text));
    if (!script) {
      this.#markOpaque();
      return this.#findInInput(command, depth);
    }
    const options = args.slice(0, args.indexOf(script));
    // Other options whose value is a separate word make it unclear which word is the script. With -k, words behind it are
    // variables.
    const isPlain = ({ text, literal }: ShellWord, position: number) =>
      literal &&
      (/^-[a-jl-nr-zA-NP-Z]+$/.test(text) ||
        position < index && isModeOption(args[position], args[position + 1]) ||
        position <= index && isModeOption(args[position - 1], args[position]));
    if (!options.every(isPlain)) this.#markOpaque();
    const isBash = /^r?bash$/.test(getProgram(command));
    const shell = isBash ? "bash" : "other";
    this.#findInText([script], depth, { shell, readsText: command.readsText === true });
  }

  /** Finds the commands in a document that a shell may read as its script. */
  #findInInput({ redirects }: SimpleCommand, depth: number): void {
    for (const redirect of redirects) {
      const text = getInputText(redirect);
      if (text !== "") this.findInScript(text, depth + 1);
    }
  }

  /** Finds the commands of words that are joined to a script. */
  #findInText(args: readonly ShellWord[], depth: number, place?: ScriptPlace): void {
    if (args.some(({ literal }) => !literal)) this.#markOpaque();
    this.findInScript(args.map(({ text }) => text).join(" "), depth + 1, place);
  }

  #findInTrap(command: SimpleCommand, depth: number): void {
    const [script] = skipOptionsEnd(command.words.slice(1));
    // It may run behind each command.
    this.repeats = true;
    if (script && script.text !== "-" && !/^-[lp]+$/.test(script.text)) {
      this.#findInText([script], depth, command);
    }
  }

  /** Finds the commands of `find … -exec command … ;`. */
  #findInFind({ words, readsText }: SimpleCommand, depth: number): void {
    const args = words.slice(1).map((word) => this.#replaceHome(word));
    const { certain, possible, isUnknown } = findCommandsOfFind(args);
    // Paths from a file may begin with a dash, and so be options.
    if (isUnknown || args.some(({ text }) => /^-files0/.test(text))) this.#markOpaque();
    for (const words of certain) this.#addWords(markFound(words), depth, readsText);
    for (const words of possible) {
      const finder = new CommandFinder();
      finder.#wrappedWords = this.#wrappedWords;
      finder.#addWords(markFound(words), depth, readsText);
      this.#wrappedWords = finder.#wrappedWords;
      if (finder.incomplete) return this.#markIncomplete();
      if (finder.opaque) this.#markOpaque();
      for (const found of [...finder.commands, ...finder.launched]) this.launched.push(found);
    }
  }

  #findInWrapper(
    command: SimpleCommand,
    { wrapper, depth }: { readonly wrapper: Wrapper; readonly depth: number },
  ): void {
    const program = getProgram(command);
    const args = command.words.slice(1);
    const starts = findCommandStarts(args, wrapper);
    if (wrapper.assigns && args.slice(0, starts.at(-1)).some(setsEvaluated)) this.#markOpaque();
    if (starts.length === 0 && SHELL_STARTERS.has(program) && !startsNoShell(program, args)) {
      this.#markOpaque();
      this.#findInInput(command, depth);
    }
    for (const start of starts) {
      if (this.incomplete) return;
      const { readsText = false } = command;
      const place = { shell: "other", readsText } as const;
      // The words are joined, and the shell of the other machine parses them again.
      if (program === "ssh") this.#findInText(args.slice(start), depth, place);
      // xargs appends arguments from its input, which are unknown.
      const inner = args.slice(start);
      if (program !== "xargs") this.#addWords(inner, depth, readsText);
      else {
        const placeholders = listPlaceholders(args.slice(0, start));
        const replaced = inner.map((word) =>
          isReplaced(word, placeholders) ? { ...word, literal: false, quoted: true } : word
        );
        this.#addWords([...replaced, UNKNOWN_ARGUMENTS], depth, readsText);
      }
    }
  }

  #addWords(words: readonly ShellWord[], depth: number, readsText = false): void {
    if (words.length === 0) return;
    this.#wrappedWords += words.length;
    if (this.#wrappedWords > MAX_WRAPPED_WORDS) return this.#markIncomplete();
    this.#addCommand({ assignments: [], words, redirects: [], readsText }, depth + 1);
  }
}

/** Whether a path may be that of the program of a process, such as the shell itself. */
function mayBeProcess(path: string): boolean {
  const end = path.indexOf("../../");
  return /(?:^|\/)exe$|^(?:\/+\.)*\/+proc\//.test(path) ||
    end !== -1 && /(?:^|\/)proc\//.test(path.slice(end + "../../".length));
}

/** Whether a word may assign a variable whose value is a command, or decides which programs run. */
function setsEvaluated({ text, literal }: ShellWord): boolean {
  const [, name, value = ""] = /^([^=]*)=(.*)$/s.exec(text) ?? [];
  return name !== undefined && !name.startsWith("-") &&
    (EVALUATED_VARIABLES.test(name) && !isPlainValue(name, value, literal) ||
      /[$`]/.test(name) || MAKE_FUNCTION.test(text));
}

/** Returns the texts that xargs replaces by a line of its input: `{}`, and the values of options such as `-I`. */
function listPlaceholders(options: readonly ShellWord[]): readonly string[] {
  const values = options.flatMap(({ text }, index) => {
    const [option, value] = /^(?:-[0oprtx]*[IJi]|--r[a-z]*=)(.*)$/s.exec(text) ?? [];
    return option === undefined ? [] : value || (options[index + 1]?.text ?? []);
  });
  return ["{}", ...values];
}

/**
 * Marks the words of a command that find changes. Where they decide what runs, they are not known: the name of the program,
 * and all words of one that runs another program or a script.
 */
function markFound(words: readonly ShellWord[]): readonly ShellWord[] {
  const program = getProgram({ words });
  const runsWords = SHELLS.has(program) || WRAPPERS.has(program) || program === "eval";
  return words.map((word, index) => {
    if (!isReplaced(word, ["{}"])) return word;
    return { ...word, ...(index === 0 || runsWords ? { literal: false } : { replaced: true }) };
  });
}

function isReplaced({ text }: ShellWord, placeholders: readonly string[]): boolean {
  return placeholders.some((placeholder) => text.includes(placeholder));
}

/** Whether two words set a mode of a shell, such as `-euo pipefail`. */
function isModeOption(option: ShellWord | undefined, mode: ShellWord | undefined): boolean {
  return /^-[a-bd-jl-nr-z]*o$/.test(option?.text ?? "") &&
    /^(?:pipefail|errexit|nounset|xtrace)$/.test(mode?.text ?? "");
}

function skipOptionsEnd(args: readonly ShellWord[]): readonly ShellWord[] {
  return args[0]?.text === "--" ? args.slice(1) : args;
}

export const UNKNOWN_ARGUMENTS: ShellWord = { text: "$ARGUMENTS", literal: false };

/** Finds the positions at which the command of a wrapper may begin. */
function findCommandStarts(args: readonly ShellWord[], wrapper: Wrapper): number[] {
  let operands = wrapper.operands ?? 0;
  let isOperand = false;
  for (let index = 0; index < args.length; index++) {
    const { text = "", literal = false, quoted = false } = args[index] ?? {};
    if (text === "--" && !isOperand) {
      isOperand = true;
      continue;
    }
    if (!isOperand && text.startsWith("-") && text !== "-") {
      const value = findOptionValue(text, wrapper);
      if (value === "unknown") return findPossibleStarts(args, { after: index, operands });
      if (value === "next") index++;
      continue;
    }
    if ((literal || quoted) && wrapper.assigns?.test(text)) continue;
    // `env -` clears the environment as `env -i` does; no program has this name.
    if (text === "-" && !isOperand && operands === 0) continue;
    if (operands === 0) return [index];
    operands--;
  }
  return [];
}

/**
 * Finds the positions at which a command may begin after an option that is not known: each word up to the first that
 * cannot be the value of an option.
 */
function findPossibleStarts(
  args: readonly ShellWord[],
  { after, operands }: { readonly after: number; readonly operands: number },
): number[] {
  const starts: number[] = [];
  let remaining = operands;
  for (let index = after + 1; index < args.length; index++) {
    if (isOption(args[index])) continue;
    starts.push(index);
    if (!isOption(args[index - 1]) && remaining-- === 0) break;
  }
  return starts;
}

function isOption(word: ShellWord | undefined): boolean {
  return word !== undefined && word.text.startsWith("-");
}

/** Whether the value of an option is the next word. */
function findOptionValue(option: string, wrapper: Wrapper): "none" | "next" | "unknown" {
  const { flags = "", valued = "", optional = "", longFlags, longValued } = wrapper;
  if (option.startsWith("--")) {
    if (longValued?.has(option)) return "next";
    return option.includes("=") || longFlags?.has(option) ? "none" : "unknown";
  }
  for (let index = 1; index < option.length; index++) {
    const letter = option.charAt(index);
    if (optional.includes(letter)) return "none";
    if (valued.includes(letter)) return index === option.length - 1 ? "next" : "none";
    if (!flags.includes(letter)) return "unknown";
  }
  return "none";
}

/** Whether a script may change the working directory, which the next command keeps. */
export function mayChangeDirectory(
  { commands, opaque }: Pick<ExecutedCommands, "commands" | "opaque">,
): boolean {
  return opaque ||
    commands.some((command) => /^(?:cd|pushd|popd|source|\.)$/.test(getProgram(command)));
}
