/**
 * Whether a command may read files whose names are not in its text, such as those that an expansion or a search finds. One
 * of them may have secrets.
 *
 * @module
 */

import { compileGlob, expandBraces } from "../../../core/ignore/glob.ts";
import { compileSecretGlobs, PROTECTED_FILES } from "../../../platform/secret_places.ts";
import type { ShellRedirect, ShellWord, SimpleCommand } from "../../kit/simple_command.ts";
import { passesInputAsCode, runsCode } from "../commands/code_arguments.ts";
import { type ExecutedCommands, getProgram } from "../commands/executed_commands.ts";
import { mayBeOption } from "../commands/find_commands.ts";
import { isHarmlessCommand, WITHOUT_FILES } from "../commands/harmless_commands.ts";
import { listStartedCommands } from "../commands/launched_commands.ts";
import { mayOverlap } from "../patterns/pattern_overlap.ts";
import { readsFoundFiles } from "./found_names.ts";
import { readsOnlyBelow } from "./inner_reads.ts";

/** Programs that show names and other data of files, but not their content, besides those that read no files. */
export const WITHOUT_CONTENT: ReadonlySet<string> = new Set([
  ...WITHOUT_FILES,
  ..."[[ basename chmod cksum declare df dirname du export find ls md5sum mkdir pushd popd read readlink readonly realpath rm"
    .split(" "),
  ..."rmdir set sha1sum sha256sum sha512sum stat touch tree unset wc".split(" "),
]);

/**
 * Whether a script may read files with secrets whose names are not in its text.
 *
 * @param options `hidesSecrets` is whether its sandbox hides those below the working directory. Default: `false`.
 */
export function mayReadUnknownFiles(
  script: ExecutedCommands,
  { hidesSecrets = false }: { readonly hidesSecrets?: boolean } = {},
): boolean {
  if (hidesSecrets && readsOnlyBelow(script)) return false;
  try {
    return script.opaque || passesInputAsCode(script) ||
      (listStartedCommands(script).some(readsUnknownFiles) &&
        !readsFoundFiles(script, mayMatchName));
  } catch {
    return true; // A pattern has too many alternatives, or is too long.
  }
}

function readsUnknownFiles(command: SimpleCommand): boolean {
  const { words: [, ...args], redirects } = command;
  const program = getProgram(command);
  // `find` and `xargs` replace it by names.
  const isPlaceholder = args.some(({ text }) => text.includes("{}"));
  if (isPlaceholder && !WITHOUT_CONTENT.has(program)) return true;
  if (setsSearchOptions(command)) return true;
  if (/^g?find$/.test(program) && args.some(mayBeOption)) return true;
  if (isHarmlessCommand(command)) return false;
  if (redirects.some(hasUnknownInput)) return true;
  const texts = args.map(({ text }) => text);
  if (texts.some((text) => NAME_LISTS.test(text)) || runsCode(program, texts)) return true;
  if (WITHOUT_CONTENT.has(program)) return false;
  return searchesWidely(program, texts) || args.some(isUnknown);
}

/** Whether a command sets the variable for the file with further options of `rg`. */
function setsSearchOptions({ words, assignments }: SimpleCommand): boolean {
  return assignments.includes("RIPGREP_CONFIG_PATH") ||
    words.some(({ text }) => /^RIPGREP_CONFIG_PATH(?:=|$)/.test(text));
}

/** Options for a list of the files to read. */
const NAME_LISTS = /^(?:--?files0?-from|--null-files)/;

function hasUnknownInput({ operator, target }: ShellRedirect): boolean {
  return /^<>?$/.test(operator) && target !== undefined && isUnknown(target);
}

/** Whether a word may be the name of a file with secrets that it does not show. */
function isUnknown({ text, literal }: ShellWord): boolean {
  // The commands of a substitution of a process are those of the script.
  if (literal || /^[<>]\(/.test(text)) return false;
  const path = text.replace(KNOWN_VARIABLE, "");
  if (/[$`]/.test(path) || KERNEL_FILES.test(path)) return true;
  return expandBraces(path.replace(/\{[^{},]*\.\.[^{},]*\}/g, "*")).some(mayMatchSecret);
}

/** A variable whose value is not that of a command. */
const KNOWN_VARIABLE = /^(?:\$(?:\{(?:HOME|PWD)\}|HOME|PWD)|~)\/(?=.)/;

const KERNEL_FILES = /^\/+(?:proc|dev)\//;

function mayMatchSecret(pattern: string): boolean {
  if (!/[*?[]/.test(pattern)) return false;
  const segments = pattern.split("/").filter((name) => name !== "" && name !== ".");
  if (/^\*+$/.test(segments.at(-1) ?? "")) return true;
  const start = pattern.startsWith("/") ? "root" : "directory";
  return PROTECTED_FILES.some((glob) =>
    !glob.startsWith("!") && mayOverlap(glob, { segments, start })
  );
}

/** Whether a pattern with which a program finds names, or a name, is that of a file with secrets in some directory. */
function mayMatchName(pattern: string): boolean {
  const name = pattern.replaceAll("\\", "").toLowerCase();
  if (mayMatchSecret(name) || compileSecretGlobs(PROTECTED_FILES)(name)) return true;
  const last = name.slice(name.lastIndexOf("/") + 1);
  return /[*?[]/.test(last) && HIDDEN_SECRETS.some(compileGlob(last));
}

/**
 * Hidden files with secrets: a wildcard of a program, unlike one of the shell, also matches the dot at their beginning. Those
 * in YAML are left out, since a pattern for all files of this format is in many commands.
 */
const HIDDEN_SECRETS: readonly string[] = [
  ...PROTECTED_FILES.map((glob) => glob.slice(glob.lastIndexOf("/") + 1))
    .filter((name) => /^\.[^*?[{]+$/.test(name) && !name.endsWith(".yml")),
  ...["local", "production", "prod", "development", "dev", "staging", "test"]
    .map((name) => `.env.${name}`),
];

/** Programs that read all files of a directory. */
const ARCHIVERS = /^(?:tar|bsdtar|zip|7z[ar]?|cpio|pax|rsync|rgrep|ack)$/;

const COMPRESSORS = /^(?:gzip|gunzip|g?zcat|pigz|unpigz|zstd|unzstd|zstdcat|lz4|lz4cat)$/;

/** Whether a program reads all files of the working directory, or of one outside it, whatever they are called. */
function searchesWidely(program: string, args: readonly string[]): boolean {
  if (ARCHIVERS.test(program)) return true;
  // With a directory, they follow links to others.
  if (COMPRESSORS.test(program)) return args.some((text) => /^-(?!-)\w*r|^--rec/.test(text));
  if (/^(?:color|g|ic)?diff$/.test(program)) {
    // Without a substitution `diff` is one of two directories, or has other options.
    return args.some((text) => /^-(?!-)\w*[rN]|^--(?:rec|new)/.test(text)) ||
      /^g?diff$/.test(program) && !args.some((text) => text.startsWith("<("));
  }
  if (program === "git") {
    // Git takes abbreviated options.
    const wide = args.includes("grep") ? /^--(?:un|no-(?:ind|ex))/ : /^--no-ind/;
    return args.some((text) => wide.test(text));
  }
  if (/^(?:rga?|ag|ug|ugrep)$/.test(program)) {
    const follows = program === "ag" ? /^-(?!-)\w*f/ : /^-(?!-)\w*[RS]|^--deref/;
    return (!program.startsWith("r") && args.some((text) => follows.test(text))) ||
      args.some((text) =>
        /^-(?!-)\w*[uzL.]|^--(?:hidden|follow|no-ig|unr|skip-v|all|text|type-add|ignore-file(?:=|$))/
          .test(
            text,
          )
      ) || listGlobs(args).some(mayMatchName);
  }
  if (/^pcre2?grep$/.test(program)) return args.some((text) => /^-(?!-)\w*[dr]|^--rec/.test(text));
  return /^(?:bz|xz|z|zst)?g?[ef]?grep$/.test(program) && searchesDirectory(args);
}

/** Returns the globs of the files that `rg` searches, also if they are hidden or ignored. */
function listGlobs(args: readonly string[]): readonly string[] {
  return args.flatMap((text, index) => {
    const [, glob] = /^(?:--i?glob(?:=|$)|-(?!-)\w*g)(.*)$/s.exec(text) ?? [];
    if (glob === undefined) return [];
    return expandBraces(glob || args[index + 1] || "").filter((name) => !name.startsWith("!"));
  });
}

/** Options with which `grep` follows the links that a repository contains; `-S` is that of macOS. */
const FOLLOWS_LINKS = /^-[EFGHILPTUVZabchilnopqrsuvwxyz]*[RS]|^--de?r/;

/** Whether `grep` searches the working directory, or one outside it, for other files than those of `--include`. */
function searchesDirectory(args: readonly string[]): boolean {
  const isRecursive = args.some((text) => /^-(?!-)\w*[rR]|^--(?:der|rec|di)|^-\w*d/.test(text));
  if (!isRecursive) return false;
  const included = args.flatMap((text) => /^--include=(.+)/.exec(text)?.[1] ?? []);
  if (included.length > 0) return included.some(mayMatchName);
  if (args.some((text) => FOLLOWS_LINKS.test(text))) return true;
  const operands = args.filter((text, index) =>
    !text.startsWith("-") && !/^-(?!-)\w*[efABCm]$/.test(args[index - 1] ?? "")
  );
  const hasPattern = args.some((text) => /^-(?!-)\w*[ef]|^--(?:reg|file)/.test(text));
  const directories = hasPattern ? operands : operands.slice(1);
  return directories.length === 0 ||
    directories.some((path) => /^(?:\.\/*)*$|^[/~]|(?:^|\/)\.\.(?:\/|$)/.test(path));
}
