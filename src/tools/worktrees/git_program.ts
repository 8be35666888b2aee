/**
 * Runs git for the program itself, not for a model.
 *
 * @module
 */

import { getErrorMessage } from "../../core/errors/errors.ts";
import { pathExists } from "../../platform/path_exists.ts";
import { dirname, join } from "../../platform/paths.ts";
import { spawnProcess } from "../../platform/spawn_process.ts";
import { system } from "../../platform/system.ts";
import { getTrustedPath } from "../../platform/trusted_path.ts";
import { createCommandEnvironment } from "../process/command_environment.ts";

/** Longest error of git in a message, in characters. */
const MAX_ERROR_LENGTH = 500;

/** Time between SIGTERM and SIGKILL for a cancelled git. */
const GRACE_MS = 500;

/**
 * Time after which a call is ended. Git waits for pipes that an agent has made in the place of files, such as an ignore
 * file.
 */
const TIMEOUT_MS = 120_000;

/**
 * Settings of every call. None of the programs that a repository can configure runs, apart from the filters of its
 * attributes, which a checkout needs.
 */
const SETTINGS: Readonly<Record<string, string>> = {
  "core.hooksPath": "/dev/null",
  "core.fsmonitor": "false",
  "core.quotePath": "true",
  "commit.gpgSign": "false",
  "diff.ignoreSubmodules": "all",
  "gc.auto": "0",
  "maintenance.auto": "false",
  "submodule.recurse": "false",
};

/** A git repository, and the program that reads it. */
export interface GitPlace {
  /** The program: a path, or a name that is looked up in the directories of `PATH` outside of the repository. */
  readonly program: string;
  /** Working directory of the calls. */
  readonly cwd: string;
  /** Arguments that come before the subcommand. Default: none. */
  readonly globalArgs?: readonly string[];
  /** Time limit of a call in milliseconds; `null` for none. Default: two minutes. */
  readonly timeoutMs?: number | null;
}

/** The output of a call of git, or the reason why it failed. */
export type GitOutcome =
  | { readonly type: "done"; readonly output: string }
  | { readonly type: "failed"; readonly reason: string; readonly isMissing: boolean };

/** Calls git. Never rejects. */
export async function runGit(
  { program, cwd, globalArgs = [], timeoutMs = TIMEOUT_MS }: GitPlace,
  args: readonly string[],
  signal?: AbortSignal,
): Promise<GitOutcome> {
  const settings = Object.entries(SETTINGS).flatMap(([name, value]) => ["-c", `${name}=${value}`]);
  const set = { LC_ALL: "C", GIT_LITERAL_PATHSPECS: "1" };
  const { PATH = "", ...variables } = createCommandEnvironment({ set });
  try {
    signal?.throwIfAborted();
    const env = { ...variables, PATH: getTrustedPath(PATH, [findTop(system.realPathSync(cwd))]) };
    const allArgs = [...settings, ...globalArgs, ...args];
    const process = await spawnProcess({ program, args: allArgs, cwd, env });
    let termination: Promise<void> | undefined;
    const cancel = (): void => {
      termination ??= process.terminate(GRACE_MS);
    };
    signal?.addEventListener("abort", cancel, { once: true });
    let isLate = false;
    const timer = timeoutMs === null ? undefined : setTimeout(() => {
      isLate = true;
      cancel();
    }, timeoutMs);
    const [output, errors, { code }] = await Promise.all([
      readText(process.stdout),
      readText(process.stderr),
      process.exited,
      process.stdin.close().catch(() => {}),
    ]);
    clearTimeout(timer);
    signal?.removeEventListener("abort", cancel);
    await termination;
    if (isLate) return createFailure(`it took longer than ${timeoutMs} ms`);
    if (signal?.aborted) return createFailure("it was cancelled");
    if (code === 0) return { type: "done", output };
    const text = errors.trim().slice(0, MAX_ERROR_LENGTH);
    return createFailure(text || `git ${args[0] ?? ""} ended with the exit code ${code}`);
  } catch (thrown) {
    const isMissing = isNotFound(thrown);
    return { type: "failed", reason: getErrorMessage(thrown), isMissing };
  }
}

/** Returns the top of the repository that contains a directory; the directory itself outside of one. */
function findTop(directory: string): string {
  for (let top = directory; top !== dirname(top); top = dirname(top)) {
    if (pathExists(join(top, ".git"))) return top;
  }
  return directory;
}

function createFailure(reason: string): GitOutcome {
  return { type: "failed", reason, isMissing: false };
}

async function readText(stream: ReadableStream<Uint8Array>): Promise<string> {
  return await new Response(stream as ReadableStream<Uint8Array<ArrayBuffer>>).text();
}

/** Whether the program, or the working directory, does not exist. */
function isNotFound(thrown: unknown): boolean {
  if (!(thrown instanceof Error)) return false;
  return thrown.name === "NotFound" || (thrown as { readonly code?: unknown }).code === "ENOENT";
}
