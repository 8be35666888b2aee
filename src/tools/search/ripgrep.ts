/**
 * `rg`, where it is installed, says quickly which files may have a match. What is shown is found in those files by
 * the same code as without it, so that the answers are the same.
 *
 * @module
 */

import { startTrustedProgram } from "../sandbox/local_sandbox.ts";
import type { Sandbox } from "../sandbox/sandbox.ts";
import { watchProcess } from "../process/watch_process.ts";

/** Tells whether a file, or anything in a folder, may have a match; both by their canonical paths. */
export type CandidateFilter = (path: string) => boolean;

/** What {@linkcode findCandidates} looks for. */
export interface RipgrepQuery {
  /** What a line must fit. */
  readonly expression: RegExp;
  /** Canonical path of the folder to search. */
  readonly start: string;
  /** Cancels. */
  readonly signal: AbortSignal;
}

const ACCEPT_ALL: CandidateFilter = () => true;

/** Past this the list of files is longer than a walk. */
const MAX_LIST_BYTES = 5_000_000;

/** Longer than that it is of no help. */
const TIMEOUT_MS = 20_000;

/** Asks `rg` for the files with a match; without `rg`, or where it might miss one, every file may have one. */
export async function findCandidates(
  sandbox: Sandbox,
  query: RipgrepQuery,
): Promise<CandidateFilter> {
  const { expression, start, signal } = query;
  const pattern = toRipgrepPattern(expression);
  if (pattern === undefined) return ACCEPT_ALL;
  const args = [
    ...["--files-with-matches", "--null", "--no-config", "--no-messages", "--color=never"],
    ...[
      "--hidden",
      "--no-require-git",
      "--no-ignore-global",
      "--no-ignore-dot",
      "--crlf",
      "--text",
    ],
    ...(expression.ignoreCase ? ["--ignore-case"] : []),
    ...["--regexp", pattern, "--", start],
  ];
  let list = "";
  const decoder = new TextDecoder();
  try {
    const process = startTrustedProgram(sandbox, "rg", args);
    if (!process) return ACCEPT_ALL;
    const outcome = await watchProcess(process, {
      signal,
      timeoutMs: TIMEOUT_MS,
      onOutput: (chunk) => {
        if (list.length < MAX_LIST_BYTES) list += decoder.decode(chunk, { stream: true });
      },
    });
    // 0: some; 1: none; anything else: it could not, or not everywhere.
    const isSure = outcome.type === "exited" && outcome.exit.code <= 1;
    if (!isSure || list.length >= MAX_LIST_BYTES) return ACCEPT_ALL;
  } catch {
    return ACCEPT_ALL;
  }
  const paths = addParentDirectories(list.split("\0"));
  return (path) => paths.has(path);
}

function addParentDirectories(paths: readonly string[]): Set<string> {
  const all = new Set<string>();
  for (let path of paths) {
    while (path !== "" && !all.has(path)) {
      all.add(path);
      path = path.slice(0, path.lastIndexOf("/"));
    }
  }
  return all;
}

/**
 * A pattern in `rg`'s dialect that fits at least what the expression fits; `undefined` when that is not certain.
 *
 * The dialects agree on the plain parts. Word boundaries depend on what counts as a letter, so they are left out;
 * whatever else could differ is not tried.
 */
function toRipgrepPattern(expression: RegExp): string | undefined {
  const pattern = expression.source.replace(/\\b/g, "");
  const isPlain =
    /^(?:[\w\s"'#%&,:;<=>@`~!/-]|\\[.*+?^$|()[\]{}\\/-]|\\[dwst]|[.*+?|^$]|\((?:\?:)?|\)|\[\^?[\w\s.,:;<=>@"'-]+\])+$/
      .test(pattern);
  return isPlain && !/[^\x20-\x7e]/.test(pattern) ? pattern : undefined;
}
