/**
 * Recognizes results, which are read from files and passed by programs without types.
 *
 * @module
 */

import { isJsonObject } from "../../core/json/json.ts";
import type { CaseResult } from "./case_result.ts";

/**
 * Whether a value has the parts of a result that gates and reports read, with values in their ranges: a score above 1 or a
 * negative cost would hide those of other runs.
 */
export function isCaseResult(value: unknown): value is CaseResult {
  if (!isJsonObject(value)) return false;
  const { caseId, repetition, seed, model, outcome, scores, trajectory, durationMs } = value;
  return typeof caseId === "string" && Number.isInteger(repetition) && Number(repetition) >= 1 &&
    typeof seed === "number" && isAmount(durationMs) &&
    (model === undefined || typeof model === "string") &&
    (outcome === "passed" || outcome === "failed" || outcome === "skipped") &&
    Array.isArray(scores) && scores.every(isScore) &&
    // A run without a score meets no expectation.
    (outcome !== "passed" || (scores.length > 0 && scores.every(({ passed }) => passed))) &&
    (trajectory === undefined || isTrajectory(trajectory));
}

function isScore(value: unknown): boolean {
  if (!isJsonObject(value)) return false;
  const { metric, value: amount, passed, reason, weight = 1, cost = 0 } = value;
  return typeof metric === "string" && isAmount(amount) && amount <= 1 &&
    typeof passed === "boolean" && (reason === undefined || typeof reason === "string") &&
    isAmount(weight) && weight > 0 && isCost(cost);
}

function isTrajectory(value: unknown): boolean {
  if (!isJsonObject(value)) return false;
  const { calls, replies, response, usage, cost } = value;
  return isArrayWith(calls, isCall) && isArrayWith(replies, isReply) &&
    typeof response === "string" && isJsonObject(usage) && typeof usage["total"] === "number" &&
    isJsonObject(cost) && isCost(cost["total"]);
}

const OUTCOMES: readonly unknown[] = ["completed", "failed", "denied", "unfinished"];

function isCall(value: unknown): boolean {
  if (!isJsonObject(value)) return false;
  const { tool, arguments: args, turn, outcome, result, durationMs = 0, calls } = value;
  return typeof tool === "string" && isJsonObject(args) && typeof turn === "number" &&
    OUTCOMES.includes(outcome) && typeof result === "string" && typeof durationMs === "number" &&
    isArrayWith(calls, isCall);
}

function isReply(value: unknown): boolean {
  if (!isJsonObject(value)) return false;
  const { prompt, turn, text, tokens, cost, durationMs } = value;
  return [prompt, turn, tokens, durationMs].every((number) => typeof number === "number") &&
    typeof text === "string" && isCost(cost);
}

function isCost(value: unknown): boolean {
  return value === null || isAmount(value);
}

function isAmount(value: unknown): value is number {
  return typeof value === "number" && value >= 0 && value < Infinity;
}

function isArrayWith(value: unknown, isItem: (item: unknown) => boolean): boolean {
  return Array.isArray(value) && value.every(isItem);
}
