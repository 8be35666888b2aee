/**
 * The notice of undone changes to the settings of git.
 *
 * @module
 */

import type { SandboxFiles } from "../sandbox/sandbox_files.ts";

/** Formats the notice for the model; no lines if nothing was undone. */
export function formatRestoredFiles(
  paths: readonly string[],
  files: Pick<SandboxFiles, "toDisplayPath">,
): string[] {
  if (paths.length === 0) return [];
  const names = paths.map((path) => files.toDisplayPath(path)).join(", ");
  return [
    `[Sandbox: undid the changes to ${names}, because git would run programs that they name. Ask the user to make them.]`,
  ];
}
