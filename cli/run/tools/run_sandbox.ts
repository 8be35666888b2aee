/**
 * The confinement of the commands of a run, as its start reports it.
 *
 * @module
 */

import type { SandboxReport } from "../../../src/tools/mod.ts";
import type { RunSandbox } from "../../render/reporter.ts";
import type { RunSettings } from "../settings/settings.ts";

/** Returns the confinement of commands; `mode` is the value of `--sandbox`. */
export function toRunSandbox(
  mode: RunSettings["sandbox"],
  { status, mechanisms }: Pick<SandboxReport, "status" | "mechanisms">,
): RunSandbox {
  return mode === "off" ? { status: "off", mechanisms: [] } : { status, mechanisms };
}
