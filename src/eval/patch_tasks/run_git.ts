/**
 * Runs git.
 *
 * @module
 */

import { getErrorMessage } from "../../core/errors/errors.ts";
import { spawnProcess } from "../../platform/spawn_process.ts";
import { system } from "../../platform/system.ts";
import { getTrustedPath } from "../../platform/trusted_path.ts";

/** Options for `runGit()`. */
export interface GitOptions {
  /** Working directory. */
  readonly cwd: string;
  /** Standard input. Default: empty. */
  readonly input?: string | undefined;
  /** Repository whose files are those of the working directory. Default: that of the working directory. */
  readonly gitDirectory?: string | undefined;
  /** Further settings, such as `safe.directory=/repos/project`. Default: none. */
  readonly settings?: readonly string[] | undefined;
  /** Whether the settings of the user and of the system apply. Default: `false`. */
  readonly hasUserSettings?: boolean | undefined;
}

/**
 * Settings of each call: no settings of the user or of the system, no hooks, and no conversion of line ends, so that
 * patches are applied to the files as they were committed.
 */
const SETTINGS = ["-c", "core.hooksPath=/dev/null", "-c", "core.autocrlf=false"];

/**
 * Runs git, and returns its standard output.
 *
 * @throws {Error} If git is not installed or fails, with its messages.
 */
export async function runGit(
  args: readonly string[],
  { cwd, input = "", gitDirectory, settings = [], hasUserSettings = false }: GitOptions,
): Promise<string> {
  const further = settings.flatMap((setting) => ["-c", setting]);
  if (gitDirectory !== undefined) further.push(`--git-dir=${gitDirectory}`, `--work-tree=${cwd}`);
  const env = hasUserSettings ? readEnvironment(USER_VARIABLES) : createEnvironment();
  const program = await startGit([...SETTINGS, ...further, ...args], { cwd, env });
  const writing = writeInput(program.stdin, input);
  const [output, errors, { code }] = await Promise.all([
    new Response(program.stdout).text(),
    new Response(program.stderr).text(),
    program.exited,
    writing,
  ]);
  if (code === 0) return output;
  throw new Error(`git ${args[0]} failed: ${errors.trim() || output.trim() || `code ${code}`}`);
}

async function startGit(
  args: readonly string[],
  { cwd, env }: { readonly cwd: string; readonly env: Record<string, string> },
): ReturnType<typeof spawnProcess> {
  try {
    // The commands of an agent could have made a git in a directory of PATH.
    const path = env.PATH === undefined ? {} : { PATH: getTrustedPath(env.PATH, []) };
    return await spawnProcess({ program: "git", args, cwd, env: { ...env, ...path } });
  } catch (cause) {
    throw new Error(`git cannot be started: ${getErrorMessage(cause)}`, { cause });
  }
}

const VARIABLES = ["PATH", "SystemRoot"];

/** Variables by which git finds the settings of the user and of the system. */
const USER_VARIABLES = [
  ...VARIABLES,
  ...["HOME", "XDG_CONFIG_HOME", "USERPROFILE", "HOMEDRIVE", "HOMEPATH"],
  ...["GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM"],
];

function readEnvironment(names: readonly string[]): Record<string, string> {
  return Object.fromEntries(names.flatMap((name) => {
    const value = system.env.get(name);
    return value === undefined ? [] : [[name, value]];
  }));
}

function createEnvironment(): Record<string, string> {
  return {
    ...readEnvironment(VARIABLES),
    GIT_CONFIG_GLOBAL: "/dev/null",
    GIT_CONFIG_NOSYSTEM: "1",
    GIT_TERMINAL_PROMPT: "0",
    // Names of files may have brackets and stars.
    GIT_LITERAL_PATHSPECS: "1",
    LC_ALL: "C",
  };
}

async function writeInput(
  stdin: WritableStream<Uint8Array<ArrayBuffer>>,
  input: string,
): Promise<void> {
  const writer = stdin.getWriter();
  try {
    await writer.write(new TextEncoder().encode(input));
    await writer.close();
  } catch {
    // git ended without reading it; its exit code states that.
  }
}
