/**
 * Keeps `rg` from files that would block it.
 *
 * @module
 */

import { pathExists } from "../../platform/path_exists.ts";
import { dirname } from "../../platform/paths.ts";
import { settlesWithin } from "../../platform/process_group.ts";
import { BLOCKING_CONDITIONS, isBlockingFile } from "../files/blocking_file.ts";
import { isWithin } from "../files/file_rules.ts";
import type { RunningProcess } from "../process/running_process.ts";
import { startTrustedProgram } from "../sandbox/local_sandbox.ts";
import type { Sandbox } from "../sandbox/sandbox.ts";

/** Maximum size of a single file that is searched with `rg`: a larger one would use up the time. */
const MAX_FILE_BYTES = 2_000_000_000;

/** Ignore file that versions of `rg` before 14 apply in any case, and git does not. */
const RG_IGNORE_FILE = ".rgignore";

/** Maximum time to wait for the end of the search for ignore files, in a tree of which `rg` skips most. */
const MAX_FINDER_MS = 500;

/** Options for {@linkcode guardIgnoreFiles}. */
export interface GuardOptions {
  /** Canonical path of the directory or file to search. */
  readonly start: string;
  /** Ends the search. */
  readonly signal: AbortSignal;
}

/**
 * Runs a search with `rg` and looks for such ignore files at the same time. Ends the search and returns `undefined` when
 * there is one.
 */
export async function guardIgnoreFiles<Result>(
  sandbox: Sandbox,
  { start, signal }: GuardOptions,
  search: (signal: AbortSignal) => Promise<Result | undefined>,
): Promise<Result | undefined> {
  if (isBlockingFile(start, MAX_FILE_BYTES) || hasUnsafeParents(sandbox.root, start)) {
    return undefined;
  }
  const unsafe = new AbortController();
  const finder = tryStartFinder(sandbox, start);
  if (!finder) return undefined;
  const finding = findUnsafeFile(finder.output, () => unsafe.abort());
  try {
    const result = await search(AbortSignal.any([signal, unsafe.signal]));
    await settlesWithin(MAX_FINDER_MS, finding);
    return unsafe.signal.aborted ? undefined : result;
  } catch (error) {
    if (signal.aborted || !unsafe.signal.aborted) throw error;
    return undefined;
  } finally {
    await finder.terminate(0);
    await finding;
  }
}

/**
 * Whether an ignore file above the start is unsafe. Outside of a repository, `rg` applies the files above the root of the
 * sandbox too, which git does not.
 */
function hasUnsafeParents(root: string, start: string): boolean {
  let isInRepository = false;
  let hasForeignRules = false;
  for (let directory = start;; directory = dirname(directory)) {
    const path = `${directory}/.gitignore`;
    if (pathExists(`${directory}/${RG_IGNORE_FILE}`)) return true;
    if (isWithin(directory, root)) {
      if (isBlockingFile(path)) return true;
    } else hasForeignRules ||= !isInRepository && pathExists(path);
    isInRepository ||= pathExists(`${directory}/.git`);
    if (dirname(directory) === directory) return hasForeignRules && !isInRepository;
  }
}

/**
 * Starts a search for the ignore files below a directory that are no regular file, or too large, and for those of `rg`
 * itself.
 */
function tryStartFinder(sandbox: Sandbox, start: string): RunningProcess | undefined {
  const conditions = [
    ...["-name", ".git", "-prune", "-o", "-name", RG_IGNORE_FILE, "-print0"],
    ...["-o", "-name", ".gitignore"],
  ];
  try {
    const args = [start, ...conditions, ...BLOCKING_CONDITIONS, "-print0"];
    return startTrustedProgram(sandbox, { program: "find", args });
  } catch {
    return undefined;
  }
}

async function findUnsafeFile(
  output: ReadableStream<Uint8Array>,
  onUnsafe: () => void,
): Promise<void> {
  const text = output.pipeThrough(new TextDecoderStream() as TransformStream<Uint8Array, string>);
  let rest = "";
  for await (const chunk of text) {
    const paths = (rest + chunk).split("\0");
    rest = paths.pop() ?? "";
    if (paths.some((path) => path.endsWith(RG_IGNORE_FILE) || isBlockingFile(path))) onUnsafe();
  }
}
