/**
 * The `write_plan` tool, the only one with which a planner writes: to one file, at a place that the host decides.
 *
 * @module
 */

import { type AgentToolResult, errorResult, textResult } from "../../core/messages/tool_result.ts";
import { type AgentTool, defineTool } from "../../core/tools/tool.ts";
import { catchAsErrorResult } from "../kit/tool_kit.ts";
import { formatPlan, normalizePlan, replacePlan } from "./format_plan.ts";
import { findUnreadable, formatProblems, parsePlan } from "./parse_plan.ts";
import { type Plan, PLAN_LIMITS } from "./plan.ts";
import type { PlanFile } from "./plan_file.ts";
import { clearStates } from "./step_state.ts";

/** Options for {@linkcode writePlanTool}. */
export interface WritePlanOptions {
  /** Called after each write with the text of the file and the plan. */
  readonly onWrite: (text: string, plan: Plan) => void;
}

/** Creates `write_plan`. The result has the plan as `details.plan`. */
export function writePlanTool(file: PlanFile, options: WritePlanOptions): AgentTool {
  const writer = new PlanWriter(file, options);
  return defineTool({
    name: "write_plan",
    label: "Write plan",
    description:
      "Writes the plan, the only thing that you can write. Pass the complete plan each time. A person reviews and edits " +
      "it. An agent that does not see this conversation then carries it out: write into the plan what it must know.",
    parameters: PARAMETERS,
    requiresApproval: false,
    risk: "write",
    sideEffect: "idempotent",
    sequential: true,
    execute: catchAsErrorResult((args, { signal }) => writer.write(normalizePlan(args), signal)),
  });
}

const LINE = { type: "string", minLength: 1, maxLength: PLAN_LIMITS.title } as const;
const LIST = { type: "array", items: { type: "string", maxLength: 2_000 }, maxItems: 100 } as const;

const PARAMETERS = {
  type: "object",
  properties: {
    title: { ...LINE, description: "Title of the plan" },
    context: {
      type: "string",
      description: "The goal, the findings and the decisions that the steps depend on, as Markdown",
    },
    steps: {
      type: "array",
      minItems: 1,
      maxItems: PLAN_LIMITS.steps,
      items: {
        type: "object",
        properties: {
          title: { ...LINE, description: "Title of the step, without a number" },
          description: { type: "string", description: "The changes to make, as Markdown" },
          files: { ...LIST, description: "Paths of the files to read or change" },
          criteria: {
            ...LIST,
            minItems: 1,
            description: "Acceptance criteria, which can be checked when the step is done",
          },
        },
        required: ["title", "description", "files", "criteria"],
        additionalProperties: false,
      },
    },
  },
  required: ["title", "context", "steps"],
  additionalProperties: false,
} as const;

/** The text of the file that a plan replaces; `undefined` if there is none. */
type CurrentText =
  | { readonly type: "replaceable"; readonly text: string | undefined }
  | { readonly type: "refused"; readonly reason: string };

/** Formats a plan over a text. */
function formatOver(text: string | undefined, plan: Plan): string {
  if (text === undefined) return formatPlan(plan);
  const current = parsePlan(text);
  return replacePlan(text, current.type === "plan" ? keepStates(current.plan, plan) : plan);
}

/**
 * Returns a plan whose steps have the states of those with the same titles in the current one. A current plan that is done,
 * or has another title, is an earlier one: a step of it, such as "Run the tests", is not one of the new plan.
 */
function keepStates(current: Plan, plan: Plan): Plan {
  const isEarlier = current.title !== plan.title ||
    current.steps.every(({ state }) => state === "complete");
  if (isEarlier) return plan;
  const others = [...current.steps];
  const steps = plan.steps.map((step) => {
    const index = others.findIndex(({ title }) => title === step.title);
    const [same = step] = index === -1 ? [] : others.splice(index, 1);
    return { ...step, state: same.state };
  });
  return { ...plan, steps };
}

/** Writes plans into a file, without overwriting edits that the planner has not seen. */
class PlanWriter {
  readonly #file: PlanFile;
  readonly #options: WritePlanOptions;
  /** The content that the planner has written or read last, without states. */
  #seen: string | undefined;

  constructor(file: PlanFile, options: WritePlanOptions) {
    this.#file = file;
    this.#options = options;
  }

  async write(plan: Plan, signal: AbortSignal): Promise<AgentToolResult> {
    const current = await this.#readCurrent(plan, signal);
    if (current.type === "refused") return errorResult(current.reason);
    const text = formatOver(current.text, plan);
    const parsed = parsePlan(text);
    if (parsed.type === "invalid") {
      return errorResult(`The plan was not written:\n${formatProblems(parsed.problems)}`);
    }
    await this.#file.write(text);
    this.#seen = clearStates(text);
    this.#options.onWrite(text, parsed.plan);
    const count = plan.steps.length === 1 ? "1 step" : `${plan.steps.length} steps`;
    return textResult(`The plan with ${count} is written. A person reviews it next.`, {
      plan: parsed.plan,
    });
  }

  async #readCurrent(plan: Plan, signal: AbortSignal): Promise<CurrentText> {
    const read = await this.#file.read(signal);
    switch (read.type) {
      case "missing":
        return { type: "replaceable", text: undefined };
      case "refused":
        return { type: "refused", reason: `The plan was not written: ${read.reason}` };
      case "text":
        return this.#checkCurrent(read.text, plan);
    }
  }

  #checkCurrent(text: string, plan: Plan): CurrentText {
    if (text.trim() === "") return { type: "replaceable", text: undefined };
    const unreadable = findUnreadable(text);
    if (unreadable) {
      const problem = formatProblems([unreadable]);
      const reason =
        `The plan was not written, because its file has content that it cannot keep. A person must correct it:\n${problem}`;
      return { type: "refused", reason };
    }
    const content = clearStates(text);
    const isSeen = content === this.#seen || clearStates(replacePlan(text, plan)) === content;
    this.#seen = content;
    if (isSeen) return { type: "replaceable", text };
    const reason =
      "The plan was not written, because its file has changed or is older than this conversation. Call the tool again " +
      `with what must stay of its content:\n\n${text}`;
    return { type: "refused", reason };
  }
}
