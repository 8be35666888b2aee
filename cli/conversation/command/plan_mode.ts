/**
 * Plan mode and the file of the plan.
 *
 * @module
 */

import type { PlanFile, PlanMode } from "../../../src/tools/plan/mod.ts";
import { importLate } from "../../host/import_late.ts";
import type { AgentSetup } from "../../run/agent/setup_agent.ts";

/** Returns the plan mode of the agent of a conversation, which always has one. */
export function requirePlanMode({ planMode }: Pick<AgentSetup, "planMode">): PlanMode {
  if (planMode) return planMode;
  throw new Error("The agent has no plan mode");
}

/** Returns the file of the plan, or another one with a relative path. */
export async function openPlanFile(cwd: string, path?: string): Promise<PlanFile> {
  const { getPlanFile } = await importLate<typeof import("../../run/tools/plan_mode.ts")>(
    "../../run/tools/plan_mode.ts",
    import.meta.url,
  );
  return getPlanFile(cwd, path);
}
