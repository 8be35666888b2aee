/**
 * Plan mode of a run: the model explores, and writes nothing but a plan.
 *
 * @module
 */

import { join } from "../../src/platform/paths.ts";
import { createPlanMode, planFile, type PlanMode } from "../../src/tools/plan/mod.ts";
import { PLAN_PATH } from "../host/plan_path.ts";

/** Creates plan mode, turned off, with a plan in a working directory. */
export function createRunPlanMode(cwd: string): PlanMode {
  return createPlanMode({ file: planFile(join(cwd, PLAN_PATH), { within: cwd }) });
}
