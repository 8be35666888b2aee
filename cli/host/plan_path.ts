/** Path of the plan of a run in plan mode, relative to its working directory. */
export const PLAN_PATH = ".swink/plan.md";

/** Path of an edited plan that could not replace the plan, which had been changed meanwhile. */
export const EDITED_PLAN_PATH = ".swink/plan.edited.md";
