/** Path of the plan of a run in plan mode, relative to its working directory. */
export const PLAN_PATH = ".swink/plan.md";
