/**
 * Plan mode of a run: the model explores, and writes nothing but a plan.
 *
 * @module
 */

import { join } from "../../../src/platform/paths.ts";
import {
  createPlanMode,
  type PlanFile,
  planFile,
  type PlanMode,
  type PlanModeOptions,
} from "../../../src/tools/plan/mod.ts";
import { PLAN_PATH } from "../../host/plan_path.ts";

/** Returns the file of the plan in a working directory. */
export function getPlanFile(cwd: string, path: string = PLAN_PATH): PlanFile {
  return planFile(join(cwd, path), { within: cwd });
}

/** Creates plan mode, turned off, with a plan in a working directory. */
export function createRunPlanMode(
  cwd: string,
  options: Pick<PlanModeOptions, "tools"> = {},
): PlanMode {
  return createPlanMode({ ...options, file: getPlanFile(cwd) });
}
