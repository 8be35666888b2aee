/**
 * `/execute`: carries out the plan after its approval, with an agent of its own.
 *
 * @module
 */

import type { Agent, Cost, Usage } from "../../../mod.ts";
import { extractText } from "../../../src/core/messages/content.ts";
import { addCost, addUsage, zeroCost, zeroUsage } from "../../../src/core/models/usage.ts";
import type { PlanDecision, PlanOutcome, PlanReview } from "../../../src/tools/plan/mod.ts";
import { importLate } from "../../host/import_late.ts";
import { formatUsage } from "../../render/usage_line.ts";
import { toVisibleText } from "../../render/visible_text.ts";
import { createPlanMetadata, PLAN_NOTE } from "../../sessions/user_notes.ts";
import type { CommandContext, SessionControl } from "../command/command_context.ts";
import { defineCommand } from "../command/conversation_command.ts";
import { openPlanFile, requirePlanMode } from "../command/plan_mode.ts";
import { PLAN_AGENT_ID, recordExecution } from "../command/record_execution.ts";
import { toLine, toMessage } from "../view/lines.ts";

const NO_PLAN_ADVICE = "In plan mode, which /plan turns on, the model writes one.";

type PlanModule = typeof import("../../../src/tools/plan/mod.ts");

/** `/execute`. */
export const execute = defineCommand({
  names: ["/execute"],
  summary: "Shows the plan, and carries it out after your approval, step by step",
  async run(_argument, context) {
    const { view, runs, record, setup, settings } = context;
    const file = await openPlanFile(settings.cwd);
    const plans = await importLate<PlanModule>(
      "../../../src/tools/plan/mod.ts",
      import.meta.url,
    );
    const approval = await plans.approvePlan(file, {
      ask: (review) => askAboutPlan(review, context),
    });
    if (approval.type === "refused") {
      const { type } = await file.read();
      const advice = type === "missing" ? `\n${NO_PLAN_ADVICE}` : "";
      return await view.print(toMessage("warning", `${approval.reason}${advice}`, view));
    }
    requirePlanMode(setup).turnOff(setup.agent);
    const { model, tools, systemPrompt } = setup.agent.state;
    const options = setup.controls.createOptions();
    const executor = plans.createPlanExecutor({
      file,
      agent: { ...options, model, tools, systemPrompt },
    });
    const getSpending = countSpending(executor.agent);
    const startedAt = context.host.now();
    runs.startTask("carrying out the plan", async (signal) => {
      await using cleanup = new AsyncDisposableStack();
      cleanup.defer(setup.controls.tools.attach(executor.agent));
      cleanup.use(await recordExecution(executor.agent, context));
      const outcome = await runs.withAgent(
        executor.agent,
        () => executor.start(approval.plan, { signal }),
      );
      const spending = getSpending();
      const durationMs = context.host.now() - startedAt;
      if (spending.turns > 0) {
        record.addPrompt({ label: "/execute", outcome: spending, durationMs });
      }
      await reportOutcome(approval.plan, outcome, { context, spending, durationMs });
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

/** The runs of an agent: their turns, tokens and cost. */
interface Spending {
  readonly turns: number;
  readonly usage: Usage;
  readonly cost: Cost;
}

/** Adds up the runs of an agent, which an outcome has only the last of, as far as they have ended. */
function countSpending(agent: Agent): () => Spending {
  let spending: Spending = { turns: 0, usage: zeroUsage(), cost: zeroCost() };
  agent.subscribe((event) => {
    const { turns, usage, cost } = spending;
    if (event.type === "turn_start") spending = { turns: turns + 1, usage, cost };
    if (event.type !== "agent_end") return;
    spending = { turns, usage: addUsage(usage, event.usage), cost: addCost(cost, event.cost) };
  });
  return () => spending;
}

/** Options for `reportOutcome()`. */
interface ReportOptions {
  readonly context: CommandContext;
  readonly spending: Spending;
  readonly durationMs: number;
}

/** Prints the outcome, and adds it to the conversation of the planner. */
async function reportOutcome(
  { plan: { title } }: PlanReview,
  outcome: PlanOutcome,
  { context: { view, sessions }, spending, durationMs }: ReportOptions,
): Promise<void> {
  const reason = outcome.type === "complete" ? "" : `: ${outcome.reason}`;
  const headline = `Plan ${outcome.type.replace("_", " ")}${reason}`;
  await view.print([toLine(headline, outcome.type === "complete" ? "success" : "warning")]);
  const { result, steps } = outcome;
  if (spending.turns > 0) {
    await view.print([toLine(formatUsage({ ...spending, durationMs }), "faint")]);
  }
  const last = result?.messages.findLast((message) => message.role === "assistant");
  const report = [
    `${PLAN_NOTE}${JSON.stringify(title)}. ${headline}.`,
    ...steps.map((step, index) => `${index + 1}. [${step.state}] ${step.title}`),
    ...(last ? [`Its report:\n${extractText(last.content)}`] : []),
  ];
  if (spending.turns === 0) return await sessions.addText(report.join("\n"));
  await sessions.addText(report.join("\n"), createPlanMetadata({ ...spending, durationMs }));
  await recordSpending(spending, { headline, isError: outcome.type !== "complete", sessions });
}

/** Adds the tokens and the cost of the agent to those of the session, since lists do not show the session of the agent. */
async function recordSpending(
  { usage, cost }: Spending,
  { headline, isError, sessions: { session } }: {
    readonly headline: string;
    readonly isError: boolean;
    readonly sessions: Pick<SessionControl, "session">;
  },
): Promise<void> {
  const result = { type: "sub_agent_result", subAgentId: PLAN_AGENT_ID, result: headline } as const;
  session?.append({ ...result, isError, usage, cost });
  // The next entry reports a failure.
  await session?.flush().catch(() => {});
}
