/**
 * The notice of undone changes to the settings of git.
 *
 * @module
 */

import { formatNumber } from "../../core/text/output_limit.ts";
import type { SandboxFiles } from "../sandbox/sandbox_files.ts";

/** Maximum number of paths that are named: a command may change thousands of files. */
const MAX_NAMES = 20;

/** Formats the notice for the model; no lines if nothing was undone. */
export function formatRestoredFiles(
  paths: readonly string[],
  files: Pick<SandboxFiles, "toDisplayPath">,
): string[] {
  if (paths.length === 0) return [];
  const shown = paths.slice(0, MAX_NAMES).map((path) => files.toDisplayPath(path)).join(", ");
  const others = paths.length - MAX_NAMES;
  const names = others > 0 ? `${shown} and ${formatNumber(others)} others` : shown;
  return [
    `[Sandbox: undid the changes to ${names}, because git would run programs that they name. Ask the user to make them.]`,
  ];
}
