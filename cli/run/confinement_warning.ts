/**
 * The warning about commands that the kernel does not fully confine.
 *
 * @module
 */

import type { SandboxReport } from "../../src/tools/mod.ts";
import { ConfigurationError } from "../host/cli_error.ts";

/**
 * Creates the warning; `undefined` when commands are confined.
 *
 * @throws {ConfigurationError} When confinement is required and incomplete.
 */
export function createConfinementWarning(
  mode: "auto" | "required",
  { status, summary }: Pick<SandboxReport, "status" | "summary">,
): string | undefined {
  if (status === "confined") return undefined;
  if (mode === "auto") return `Sandbox: ${summary}`;
  throw new ConfigurationError(
    `The sandbox is required, but incomplete: ${summary}`,
    "Use --sandbox auto to run commands that the kernel does not fully confine.",
  );
}
