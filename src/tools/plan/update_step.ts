/**
 * The `update_step` tool, with which the executor of a plan reports its progress.
 *
 * @module
 */

import { type AgentToolResult, errorResult, textResult } from "../../core/messages/tool_result.ts";
import { type AgentTool, defineTool, type ToolContext } from "../../core/tools/tool.ts";
import { catchAsErrorResult } from "../kit/tool_kit.ts";
import type { StepChange } from "./step_progress.ts";

/** The part of an executor that its tool uses. */
export interface StepRecorder {
  /** Changes the state of a step; returns the next action for the model, or the reason why the change is not possible. */
  update(
    change: StepChange,
    context: ToolContext,
  ): Promise<
    | { readonly type: "updated"; readonly text: string }
    | { readonly type: "refused"; readonly reason: string }
  >;
}

/** The states that a model can set, by the name that it uses. */
const STATES: Readonly<Record<string, StepChange["state"]>> = {
  in_progress: "in_progress",
  done: "complete",
  failed: "failed",
};

/** Creates `update_step`. */
export function updateStepTool(recorder: StepRecorder): AgentTool {
  return defineTool({
    name: "update_step",
    label: "Update step",
    description:
      "Records the state of a step of the plan: in_progress when you start it, done when it meets its acceptance " +
      "criteria, failed when it cannot be done, with the reason as note. The steps are done in order.",
    parameters: {
      type: "object",
      properties: {
        step: { type: "integer", minimum: 1, description: "Number of the step" },
        state: { type: "string", enum: Object.keys(STATES) },
        note: { type: "string", maxLength: 2_000, description: "What was done, or the reason" },
      },
      required: ["step", "state"],
      additionalProperties: false,
    },
    requiresApproval: false,
    risk: "read",
    sideEffect: "idempotent",
    sequential: true,
    interruptible: false,
    execute: catchAsErrorResult(
      async ({ step, state, note }, context): Promise<AgentToolResult> => {
        const { [String(state)]: known } = STATES;
        if (!known) return errorResult(`The state is one of ${Object.keys(STATES).join(", ")}`);
        const change = { step: Number(step) - 1, state: known, note };
        const update = await recorder.update(change, context);
        return update.type === "updated" ? textResult(update.text) : errorResult(update.reason);
      },
    ),
  });
}
