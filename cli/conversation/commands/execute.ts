/**
 * `/execute`: carries out the plan after its approval, with an agent of its own.
 *
 * @module
 */

import type { PlanDecision, PlanOutcome, PlanReview } from "../../../src/tools/plan/mod.ts";
import { extractText } from "../../../src/core/content.ts";
import { importLate } from "../../host/import_late.ts";
import { formatUsage } from "../../render/usage_line.ts";
import { toVisibleText } from "../../render/visible_text.ts";
import type { CommandContext } from "../command/command_context.ts";
import { defineCommand } from "../command/conversation_command.ts";
import { openPlanFile, requirePlanMode } from "../command/plan_mode.ts";
import { recordExecution } from "../command/record_execution.ts";
import { toLine, toMessage } from "../view/lines.ts";

type PlanModule = typeof import("../../../src/tools/plan/mod.ts");

/** `/execute`. */
export const execute = defineCommand({
  names: ["/execute"],
  summary: "Shows the plan, and carries it out after your approval, step by step",
  async run(_argument, context) {
    const { view, runs, setup, settings } = context;
    const file = await openPlanFile(settings.cwd);
    const plans = await importLate<PlanModule>(
      "../../../src/tools/plan/mod.ts",
      import.meta.url,
    );
    const approval = await plans.approvePlan(file, {
      ask: (review) => askAboutPlan(review, context),
    });
    if (approval.type === "refused") {
      return await view.print(toMessage("warning", approval.reason, view));
    }
    requirePlanMode(setup).turnOff(setup.agent);
    const { model, tools, systemPrompt } = setup.agent.state;
    const options = setup.controls.createOptions();
    const executor = plans.createPlanExecutor({
      file,
      agent: { ...options, model, tools, systemPrompt },
    });
    const startedAt = context.host.now();
    runs.startTask("carrying out the plan", async (signal) => {
      await using _recording = await recordExecution(executor.agent, context);
      const outcome = await runs.withAgent(
        executor.agent,
        () => executor.start(approval.plan, { signal }),
      );
      await reportOutcome(approval.plan, outcome, { context, startedAt });
    });
  },
});

/** Shows the complete plan and asks whether to carry it out. */
async function askAboutPlan(
  { text, hash }: PlanReview,
  { view }: CommandContext,
): Promise<PlanDecision> {
  const { signal } = new AbortController();
  const answer = await view.askChoice({
    details: toVisibleText(text).trimEnd().split("\n").map((line) => ({
      text: line,
      paint: (row) => row,
      mark: "  | ",
    })),
    message: "Carry out this plan? [y]es / [n]o",
    answers: ["yes", "no"],
  }, signal);
  return answer === "yes"
    ? { type: "approved", hash }
    : { type: "refused", reason: "The plan was not approved; /edit-plan changes it" };
}

/** Prints the outcome, and adds it to the conversation of the planner. */
async function reportOutcome(
  { plan: { title } }: PlanReview,
  outcome: PlanOutcome,
  { context, startedAt }: { readonly context: CommandContext; readonly startedAt: number },
): Promise<void> {
  const { view, setup: { agent }, host } = context;
  const reason = outcome.type === "complete" ? "" : `: ${outcome.reason}`;
  const headline = `Plan ${outcome.type.replace("_", " ")}${reason}`;
  await view.print([toLine(headline, outcome.type === "complete" ? "success" : "warning")]);
  const { result, steps } = outcome;
  if (result) {
    const { usage, cost } = result;
    const turns = result.messages.filter(({ role }) => role === "assistant").length;
    const durationMs = host.now() - startedAt;
    await view.print([toLine(formatUsage({ turns, usage, cost, durationMs }), "faint")]);
  }
  const last = result?.messages.findLast((message) => message.role === "assistant");
  const report = [
    `Another agent has carried out the plan ${JSON.stringify(title)}. ${headline}.`,
    ...steps.map((step, index) => `${index + 1}. [${step.state}] ${step.title}`),
    ...(last ? [`Its report:\n${extractText(last.content)}`] : []),
  ];
  agent.appendMessages([{
    role: "user",
    content: [{ type: "text", text: report.join("\n") }],
    timestamp: host.now(),
  }]);
}
