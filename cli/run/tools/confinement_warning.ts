/**
 * The warning about commands that the kernel does not fully confine.
 *
 * @module
 */

import type { SandboxReport } from "../../../src/tools/mod.ts";
import { ConfigurationError } from "../../host/cli_error.ts";
import type { RunSettings } from "../settings/settings.ts";

/**
 * Creates the warning; `undefined` when commands are confined, or the user has turned the confinement off.
 *
 * @throws {ConfigurationError} When confinement is required and incomplete.
 */
export function createConfinementWarning(
  mode: RunSettings["sandbox"],
  { status, summary }: Pick<SandboxReport, "status" | "summary">,
): string | undefined {
  if (status === "confined" || mode === "off") return undefined;
  if (mode === "auto") return `Sandbox: ${summary}`;
  throw new ConfigurationError(
    `The sandbox is required, but incomplete: ${summary}`,
    "Use --sandbox auto to run commands that the kernel does not fully confine.",
  );
}
