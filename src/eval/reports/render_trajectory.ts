/**
 * Renders a run call by call.
 *
 * @module
 */

import { escapeHtml } from "../../core/text/escape_html.ts";
import type { Score } from "../evaluators/score.ts";
import type { CaseResult } from "../run/case_result.ts";
import type { Trajectory, TrajectoryCall, TrajectoryReply } from "../trajectory/trajectory.ts";
import { formatCost, formatCount, formatDuration, formatScore } from "./format_measure.ts";

/** Characters of a text; results of tools can have any length. */
const MAX_TEXT = 20_000;

/** Characters of all texts of a run, which are shorter where it has many calls: a browser cannot show a page of any length. */
const MAX_TEXTS = 20_000_000;

/** Characters that each text may have. */
const MIN_TEXT = 500;

/** Characters of the arguments in the heading of a call. */
const MAX_HEADING = 120;

/** Renders the scores and the trajectory of a run. `userMessages` are those of its case. */
export function renderResult(result: CaseResult, userMessages: readonly string[]): string {
  const { scores, trajectory, seed, model } = result;
  const facts = [`seed ${seed}`, ...(model === undefined ? [] : [model])];
  return `<p class="facts">${escapeHtml(facts.join(" · "))}</p>${renderScores(scores)}${
    trajectory ? renderTrajectory(trajectory, userMessages) : ""
  }`;
}

function renderScores(scores: readonly Score[]): string {
  const rows = scores.map(({ metric, value, passed, reason = "", rawValue }) => {
    const raw = rawValue === undefined ? "" : ` (returned ${rawValue})`;
    return `<tr><td><span class="mark ${passed ? "passed" : "failed"}">${
      passed ? "✓" : "✗"
    }</span> ${escapeHtml(metric)}</td><td class="number">${formatScore(value)}</td><td>${
      renderText(reason + raw)
    }</td></tr>`;
  });
  return `<table class="scores"><thead><tr><th>Metric</th><th class="number">Score</th><th>Reason</th></tr></thead>` +
    `<tbody>${rows.join("")}</tbody></table>`;
}

function renderTrajectory(trajectory: Trajectory, userMessages: readonly string[]): string {
  const { calls, replies, turns, stopReason = "none", error, stoppedBy } = trajectory;
  const byTurn = groupByTurn(calls);
  // Each call has arguments and a result.
  const length = Math.floor(MAX_TEXTS / (2 * countCalls(calls) + replies.length + 1));
  const maxText = Math.min(MAX_TEXT, Math.max(MIN_TEXT, length));
  const renderCalls = (made: readonly TrajectoryCall[]) =>
    made.map((call) => renderCall(call, maxText)).join("");
  const parts = replies.map((reply, index) => {
    const isFirst = replies[index - 1]?.prompt !== reply.prompt;
    const message = isFirst ? renderUserMessage(userMessages[reply.prompt - 1]) : "";
    const made = byTurn.get(reply.turn) ?? [];
    byTurn.delete(reply.turn);
    return message + renderReply(reply) + renderCalls(made);
  });
  // Calls without a reply.
  const others = [...byTurn.values()].flat();
  const end = [
    `${turns} turns`,
    `stop reason ${stopReason}`,
    ...(error === undefined ? [] : [`error: ${error}`]),
    ...(stoppedBy === undefined ? [] : [`policy: ${stoppedBy}`]),
  ];
  return `<h3>Trajectory</h3>${parts.join("")}${renderCalls(others)}` +
    `<p class="facts">${escapeHtml(end.join(" · "))}</p>`;
}

/** Returns the number of calls with those of sub-agents. */
function countCalls(calls: readonly TrajectoryCall[]): number {
  return calls.reduce((sum, call) => sum + 1 + countCalls(call.calls), 0);
}

function groupByTurn(calls: readonly TrajectoryCall[]): Map<number, TrajectoryCall[]> {
  const groups = new Map<number, TrajectoryCall[]>();
  for (const call of calls) {
    const group = groups.get(call.turn);
    if (group) group.push(call);
    else groups.set(call.turn, [call]);
  }
  return groups;
}

function renderUserMessage(message: string | undefined): string {
  if (message === undefined) return "";
  return `<div class="user"><small>User</small>${renderText(message)}</div>`;
}

function renderReply({ turn, text, tokens, cost, durationMs }: TrajectoryReply): string {
  const facts = [
    `Turn ${turn}`,
    `${formatCount(tokens)} tokens`,
    formatCost(cost),
    formatDuration(durationMs),
  ];
  return `<div class="reply"><small>${escapeHtml(facts.join(" · "))}</small>${
    renderText(text)
  }</div>`;
}

function renderCall(call: TrajectoryCall, maxText: number): string {
  const { tool, arguments: args, outcome, result, durationMs, calls } = call;
  const json = JSON.stringify(args);
  const heading = [
    `${tool} ${cut(json, MAX_HEADING)}`,
    outcome,
    ...(durationMs === undefined ? [] : [formatDuration(durationMs)]),
  ].join(" · ");
  const inner = calls.map((other) => renderCall(other, maxText)).join("");
  const nested = inner === "" ? "" : `<h3>Calls</h3>${inner}`;
  return `<details class="call ${escapeHtml(outcome)}"><summary>${escapeHtml(heading)}</summary>` +
    `<h3>Arguments</h3>${renderCode(JSON.stringify(args, null, 2), maxText)}` +
    `<h3>Result</h3>${renderCode(result, maxText)}${nested}</details>`;
}

function renderText(text: string): string {
  return `<div class="text">${escapeHtml(cut(text.trim(), MAX_TEXT))}</div>`;
}

function renderCode(text: string, maxText: number): string {
  return `<pre>${escapeHtml(cut(text, maxText))}</pre>`;
}

function cut(text: string, length: number): string {
  if (text.length <= length) return text;
  return `${text.slice(0, length)}… (${formatCount(text.length - length)} more characters)`;
}
