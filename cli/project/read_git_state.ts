/**
 * The state of a Git repository, as the system prompt describes it.
 *
 * @module
 */

import { isExactPath } from "../../src/platform/paths.ts";
import { getTrustedPath } from "../../src/platform/trusted_path.ts";
import { MAX_OUTPUT, type ProgramResult, runProgram } from "../host/run_program.ts";
import { toVisibleText } from "../render/visible_text.ts";

const MAX_CHANGES = 20;
const MAX_LINE_LENGTH = 160;

/** Variables that select another repository, which the hooks of Git have. */
const REPOSITORY_VARIABLES = [
  "GIT_ALTERNATE_OBJECT_DIRECTORIES",
  "GIT_COMMON_DIR",
  "GIT_DIR",
  "GIT_GRAFT_FILE",
  "GIT_IMPLICIT_WORK_TREE",
  "GIT_INDEX_FILE",
  "GIT_NAMESPACE",
  "GIT_NO_REPLACE_OBJECTS",
  "GIT_OBJECT_DIRECTORY",
  "GIT_PREFIX",
  "GIT_REPLACE_REF_BASE",
  "GIT_SHALLOW_FILE",
  "GIT_WORK_TREE",
];

/**
 * Reads the branch, the changed files and the last commits of a repository. Runs no program that the repository configures,
 * since a command of an agent may have made it.
 *
 * @param root Absolute path of a directory that the user trusts.
 * @param options Time to wait for Git, which large repositories may exceed. Default: one second.
 * @returns Lines of `git status` and `git log`; `undefined` if Git is missing, fails or does not answer in time.
 */
export async function readGitState(
  root: string,
  { timeoutMs = 1_000 }: { readonly timeoutMs?: number } = {},
): Promise<string | undefined> {
  const canonical = await Deno.realPath(root).catch(() => root);
  const path = getTrustedPath(Deno.env.get("PATH") ?? "", [canonical]);
  const run = (...args: readonly string[]) =>
    runProgram({
      // Commands of the run may change the index at the same time. A signature would run another program.
      command: ["git", "--no-optional-locks", "-c", "log.showSignature=false", "-C", root, ...args],
      env: { ...GIT_ENVIRONMENT, PATH: path },
      withoutEnv: REPOSITORY_VARIABLES,
      timeoutMs,
      ownsGroup: true,
    });
  // For changes in a submodule, Git would run `git status` there, with the settings of that repository.
  const readStatus = async () => {
    const settings = disablePrograms(await run(...PROGRAM_SETTINGS));
    if (!settings) return undefined;
    return readLines(
      await run(...settings, "status", "--porcelain", "--branch", "--ignore-submodules=dirty"),
    );
  };
  const [status, log] = await Promise.all([
    readStatus(),
    // Fails in a repository without commits.
    run("log", "-5", "--no-color", "--format=%h %s").then(readLines),
  ]);
  if (!status) return undefined;
  const [branch, ...changes] = status;
  const parts = [
    `Branch: ${branch?.replace(/^## /, "")}`,
    formatList("Changed files", changes),
    formatList("Last commits", log ?? []),
  ];
  return parts.join("\n");
}

/** Names of variables with values of settings, for the option `--config-env`. */
const NOTHING = "SWINK_GIT_NOTHING";
const FALSE = "SWINK_GIT_FALSE";

const GIT_ENVIRONMENT: Readonly<Record<string, string>> = {
  GIT_TERMINAL_PROMPT: "0",
  // In other locales, a pattern for settings does not match bytes that are not UTF-8.
  LC_ALL: "C",
  // For a missing object, Git would call the remote with the programs that the repository names for this.
  GIT_NO_LAZY_FETCH: "1",
  // Versions of Git without that variable: no transport is allowed.
  GIT_ALLOW_PROTOCOL: "none",
  [NOTHING]: "",
  [FALSE]: "false",
};

/** Lists the settings of programs that `git status` runs, with their scopes. */
const PROGRAM_SETTINGS = [
  ...["config", "--null", "--show-scope", "--name-only", "--get-regexp"],
  "^(filter\\..*|core\\.fsmonitor)$",
];

/** Exit code of `git config` if no setting matches. */
const NO_SETTINGS = 1;

/** Scopes of the settings of a repository; the others are those of the user and the system. */
const REPOSITORY_SCOPES = ["local", "worktree"];

/**
 * Returns the options of Git that disable the programs among the settings of a repository; `undefined` if not all settings
 * are known.
 */
function disablePrograms(settings: ProgramResult): string[] | undefined {
  if (settings.type !== "ended" || settings.output.length >= MAX_OUTPUT) return undefined;
  if (settings.code !== 0) return settings.code === NO_SETTINGS ? [] : undefined;
  const parts = settings.output.split("\0");
  const disabled = new Set<string>();
  for (let index = 0; index + 1 < parts.length; index += 2) {
    const [scope = "", key = ""] = parts.slice(index, index + 2);
    if (!REPOSITORY_SCOPES.includes(scope)) continue;
    // The name of a filter may have bytes that are not UTF-8, with which no argument can name it.
    if (!isExactPath(key)) return undefined;
    const filter = /^filter\.(.*)\.[^.]*$/s.exec(key)?.[1];
    if (filter === undefined) disabled.add(`core.fsmonitor=${FALSE}`);
    else {
      disabled.add(`filter.${filter}.clean=${NOTHING}`).add(`filter.${filter}.process=${NOTHING}`);
      disabled.add(`filter.${filter}.required=${FALSE}`);
    }
  }
  // The name of a filter may contain `=`, at which the option `-c` would end it.
  return [...disabled].map((setting) => `--config-env=${setting}`);
}

function readLines(result: ProgramResult): string[] | undefined {
  if (result.type !== "ended" || result.code !== 0) return undefined;
  return result.output.split("\n").filter((line) => line !== "").map(toData);
}

/** Returns a line of others without control characters and without the tag that ends it in the prompt. */
function toData(line: string): string {
  return toVisibleText(line).replace(/<(?=\s*\/?\s*git\b)/gi, "<U+003C>");
}

function formatList(title: string, lines: readonly string[]): string {
  if (lines.length === 0) return `${title}: none`;
  const shown = lines.slice(0, MAX_CHANGES).map(shorten);
  const rest = lines.length - shown.length;
  const more = rest > 0 ? [`… and ${rest} more`] : [];
  return [`${title}:`, ...shown, ...more].join("\n");
}

function shorten(line: string): string {
  return line.length > MAX_LINE_LENGTH ? `${line.slice(0, MAX_LINE_LENGTH - 1)}…` : line;
}
