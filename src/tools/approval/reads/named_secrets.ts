/**
 * Finds words of a shell command that name files with secrets.
 *
 * @module
 */

import { compileGlob } from "../../../core/ignore/glob.ts";
import { join } from "../../../platform/paths.ts";
import { PROTECTED_FILES } from "../../../platform/secret_places.ts";
import { createFileRules } from "../../files/file_rules.ts";
import type { ShellWord } from "../../kit/simple_command.ts";
import { expandWord } from "./search_operands.ts";

/** Names that a pattern of the shell may match. */
const TYPICAL_SECRETS: readonly string[] = [
  ".env",
  ".env.local",
  ".env.production",
  "id_rsa",
  "server.key",
  "cert.pem",
  // Of a process.
  "environ",
  "mem",
];

/** Maximum number of wildcards in a pattern that is compared with names; with more, it may match any. */
const MAX_WILDCARDS = 6;

/** Maximum number of words to make of those with braces; those beyond it may have any name. */
const MAX_ALTERNATIVES = 1_000;

/** Maximum number of segments of a path behind a link of a process; a longer one may lead anywhere. */
const MAX_SEGMENTS = 64;

/** Returns the words that may refer to a protected file, or to the variables and the memory of a process, each once. */
export function findNamedSecrets(
  words: readonly ShellWord[],
  protect: readonly string[],
): string[] {
  const rules = createFileRules({ write: ["/"], read: [] }, protect);
  const isProtected = (path: string) => rules(path, "read") === "protected";
  const candidates = listCandidatePaths(words);
  const namesProcess = candidates.some((paths) => paths.some(reachesProcess));
  const isSecret = (path: string) => {
    const places = listPlaces(join("/", path));
    return places === undefined || places.some(isProtected) ||
      (namesProcess && PROCESS_STATE.test(path));
  };
  const secrets = words.filter((_, index) => candidates[index]?.some(isSecret));
  return [...new Set(secrets.map(({ text }) => text))];
}

/** Whether a path may be the directory of a process, or lead to it. */
function reachesProcess(path: string): boolean {
  return isProcessFile(path) && !PLAIN_FILES.test(join("/", path));
}

/** Matches files about the machine or a process, behind which there are no others. */
const PLAIN_FILES =
  /^\/proc\/(?:(?:cmdline|cpuinfo|diskstats|filesystems|interrupts|loadavg|meminfo|mounts|stat|swaps|uptime|version|vmstat)|(?:self|\d+|\$\$)\/(?:cgroup|cmdline|comm|io|limits|maps|mounts|smaps|stat|statm|status))$/;

/** Matches the files of a process that have its variables and its memory. */
const PROCESS_STATE = /(?:^|\/)(?:environ|mem)$/;

/**
 * Returns a path, and where it may lead through a link such as `/proc/self/cwd` or `/dev/fd`: the path that remains behind
 * each of its names. `undefined` if it has too many.
 */
function listPlaces(path: string): readonly string[] | undefined {
  if (!KERNEL_LINKS.test(path)) return [path];
  const names = path.split("/").slice(2);
  if (names.length > MAX_SEGMENTS) return undefined;
  return [path, ...names.map((_, index) => `/${names.slice(index).join("/")}`)];
}

/** Matches paths in the directories of the kernel that have links to other directories. */
const KERNEL_LINKS = /^\/(?:proc|dev)\//;

/** Whether words may refer to files that are protected by default, or to the variables and the memory of a process. */
export function nameSecrets(words: readonly ShellWord[]): boolean {
  return listCandidatePaths(words).some((paths) => paths.some(isProcessFile)) ||
    findNamedSecrets(words, PROTECTED_FILES).length > 0;
}

function isProcessFile(path: string): boolean {
  return /^\/+proc(?:\/|$)/.test(join("/", path));
}

/** Returns the paths that each word may refer to. */
function listCandidatePaths(words: readonly ShellWord[]): readonly (readonly string[])[] {
  let left = MAX_ALTERNATIVES;
  return words.map((word) => {
    const paths = getCandidatePaths(word);
    if (!hasPathInBraces(word)) return paths;
    const alternatives = expandPaths(word);
    left -= alternatives?.length ?? 0;
    if (!alternatives || left < 0) return [...paths, ...TYPICAL_SECRETS];
    return [...paths, ...alternatives.flatMap(getCandidatePaths)];
  });
}

/** Whether the braces of a word may have paths, so that its last segment is not that of all words that the shell makes of it. */
function hasPathInBraces({ text, literal }: ShellWord): boolean {
  return !literal && text.slice(text.indexOf("{") + 1, text.lastIndexOf("}")).includes("/") &&
    text.includes("{");
}

/** Returns the words that the shell makes of one with braces; `undefined` if they are too many. */
function expandPaths(word: ShellWord): readonly ShellWord[] | undefined {
  try {
    return expandWord(word);
  } catch {
    return undefined;
  }
}

/** Returns the paths that a word may refer to: itself, the value of an option or assignment, and matches of a pattern. */
function getCandidatePaths({ text, literal }: ShellWord): string[] {
  const parts = [text, ...text.split(/[=:@]/).slice(1)].filter((part) => part !== "");
  if (literal || !/[*?[{]/.test(text)) return parts;
  return [...parts, ...TYPICAL_SECRETS.filter((name) => matchesPattern(text, name))];
}

/** Whether a pattern of the shell matches a name; its `*` does not match a leading dot. */
function matchesPattern(pattern: string, name: string): boolean {
  const last = pattern.slice(pattern.lastIndexOf("/") + 1).replace(/\*+/g, "*");
  if (name.startsWith(".") && !/^[.[{]/.test(last)) return false;
  if (last.split(/[*?[{]/).length > MAX_WILDCARDS) return true;
  return last !== "*" && mayMatch(last, name);
}

/** Whether a glob matches a name, or cannot be compared with it, since it is too long or has too many alternatives. */
function mayMatch(glob: string, name: string): boolean {
  try {
    return compileGlob(glob)(name);
  } catch {
    return true;
  }
}
