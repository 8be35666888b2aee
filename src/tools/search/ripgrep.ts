/**
 * Preselects files with `rg` if it is installed. The lines are matched in this program, so that the results do not
 * depend on `rg`.
 *
 * @module
 */

import { startTrustedProgram } from "../sandbox/local_sandbox.ts";
import type { Sandbox } from "../sandbox/sandbox.ts";
import { watchProcess } from "../process/watch_process.ts";

/** Whether a file, or any file below a directory, may have a match. Takes a canonical path. */
export type CandidateFilter = (path: string) => boolean;

/** Query of {@linkcode findCandidates}. */
export interface RipgrepQuery {
  /** The expression that lines are matched against. */
  readonly expression: RegExp;
  /** Canonical path of the directory to search. */
  readonly start: string;
  /** Ends `rg`. */
  readonly signal: AbortSignal;
}

const ACCEPT_ALL: CandidateFilter = () => true;

/** Maximum size of the list of files; with a longer one, `rg` saves no time. */
const MAX_LIST_BYTES = 5_000_000;

/** Timeout of `rg`, after which it saves no time. */
const TIMEOUT_MS = 20_000;

/** Lists the files with a match by `rg`. Accepts every file when `rg` is missing, fails, or could miss a match. */
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
    // Exit code 0: matches; 1: no matches; others: an error, at least for some files.
    const isComplete = outcome.type === "exited" && outcome.exit.code <= 1;
    if (!isComplete || list.length >= MAX_LIST_BYTES) return ACCEPT_ALL;
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
 * Converts an expression to a pattern for `rg` that matches at least the same lines; `undefined` when that is uncertain.
 *
 * Only syntax with the same meaning in both dialects is converted. Word boundaries are removed, since the dialects
 * differ in what a letter is.
 */
function toRipgrepPattern(expression: RegExp): string | undefined {
  const pattern = expression.source.replace(/\\b/g, "");
  const isPlain =
    /^(?:[\w\s"'#%&,:;<=>@`~!/-]|\\[.*+?^$|()[\]{}\\/-]|\\[dwst]|[.*+?|^$]|\((?:\?:)?|\)|\[\^?[\w\s.,:;<=>@"'-]+\])+$/
      .test(pattern);
  return isPlain && !/[^\x20-\x7e]/.test(pattern) ? pattern : undefined;
}
