/**
 * Finds words of a shell command that name files with secrets.
 *
 * @module
 */

import { compileGlob } from "../../core/ignore/glob.ts";
import { join } from "../../platform/paths.ts";
import { PROTECTED_FILES } from "../../platform/secret_places.ts";
import { createFileRules } from "../files/file_rules.ts";
import type { ShellWord } from "./shell_syntax.ts";

/** Names that a pattern of the shell may match. */
const TYPICAL_SECRETS: readonly string[] = [
  ".env",
  ".env.local",
  ".env.production",
  "id_rsa",
  "server.key",
  "cert.pem",
];

/** Maximum number of wildcards in a pattern that is compared with names; with more, it may match any. */
const MAX_WILDCARDS = 6;

/** Returns the words that may refer to a protected file, each once. */
export function findNamedSecrets(
  words: readonly ShellWord[],
  protect: readonly string[],
): string[] {
  const rules = createFileRules({ write: ["/"], read: [] }, protect);
  const isSecret = (path: string) => rules(join("/", path), "read") === "protected";
  const secrets = words.filter((word) => getCandidatePaths(word).some(isSecret));
  return [...new Set(secrets.map(({ text }) => text))];
}

/** Whether words may refer to files that are protected by default, or to the variables and the memory of a process. */
export function nameSecrets(words: readonly ShellWord[]): boolean {
  return words.some((word) => getCandidatePaths(word).some(isProcessFile)) ||
    findNamedSecrets(words, PROTECTED_FILES).length > 0;
}

function isProcessFile(path: string): boolean {
  return /^\/+proc(?:\/|$)/.test(join("/", path));
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
  return last !== "*" && compileGlob(last)(name);
}
