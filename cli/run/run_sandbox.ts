/**
 * The confinement of the commands of a run, as its start reports it.
 *
 * @module
 */

import type { SandboxReport } from "../../src/tools/mod.ts";
import type { RunSandbox } from "../render/reporter.ts";
import type { RunSettings } from "./settings.ts";

/** Returns the confinement of commands; `mode` is the value of `--sandbox`. */
export function toRunSandbox(
  mode: RunSettings["sandbox"],
  { status, rules }: Pick<SandboxReport, "status" | "rules">,
): RunSandbox {
  if (mode === "off") return { status: "off", mechanisms: [] };
  const enforced = rules.filter(({ enforcedBy }) => enforcedBy === "kernel");
  return { status, mechanisms: [...new Set(enforced.map(({ how }) => how))] };
}
