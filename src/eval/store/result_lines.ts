/**
 * The lines of the file with the results of an evaluation: JSON with the hash of the result.
 *
 * @module
 */

import { isJsonObject } from "../../core/json.ts";
import { hashCanonical } from "../results/audit_trail.ts";
import type { CaseResult } from "../run/case_result.ts";

/** The results in a file, and the lines that could not be read. */
export interface ReadLines {
  /** The results, in the order of the file; of several ones of a run, the last one. */
  readonly results: readonly CaseResult[];
  /** Numbers of the damaged lines, from 1. */
  readonly damaged: readonly number[];
  /** Whether the last line is incomplete, as a process leaves it that is killed while it writes. */
  readonly isCut: boolean;
}

/** Formats the line of a result. */
export async function formatResultLine(result: CaseResult): Promise<string> {
  const json = JSON.stringify(result);
  const hash = await hashCanonical(JSON.parse(json));
  return `{"hash":"${hash}","result":${json}}\n`;
}

/** Reads the lines of a file. */
export async function readResultLines(text: string): Promise<ReadLines> {
  const lines = text.split("\n");
  const isCut = lines.pop() !== "";
  const results = new Map<string, CaseResult>();
  const damaged: number[] = [];
  for (const [index, line] of lines.entries()) {
    const result = await parseResultLine(line);
    if (result) results.set(`${result.caseId} ${result.repetition}`, result);
    else damaged.push(index + 1);
  }
  return { results: [...results.values()], damaged, isCut };
}

async function parseResultLine(line: string): Promise<CaseResult | undefined> {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    return undefined;
  }
  if (!isJsonObject(value) || !isCaseResult(value["result"])) return undefined;
  return value["hash"] === await hashCanonical(value["result"]) ? value["result"] : undefined;
}

/** Whether a value has the parts of a result that reports read; its hash protects the others. */
function isCaseResult(value: unknown): value is CaseResult {
  if (!isJsonObject(value)) return false;
  const { caseId, repetition, seed, outcome, scores, trajectory, durationMs } = value;
  return typeof caseId === "string" && typeof repetition === "number" &&
    typeof seed === "number" && typeof durationMs === "number" &&
    (outcome === "passed" || outcome === "failed" || outcome === "skipped") &&
    Array.isArray(scores) && scores.every(isScore) &&
    (trajectory === undefined || isTrajectory(trajectory));
}

function isScore(value: unknown): boolean {
  if (!isJsonObject(value)) return false;
  const { metric, value: amount, passed, reason } = value;
  return typeof metric === "string" && typeof amount === "number" &&
    typeof passed === "boolean" && (reason === undefined || typeof reason === "string");
}

function isTrajectory(value: unknown): boolean {
  if (!isJsonObject(value)) return false;
  const { calls, replies, response, usage, cost } = value;
  return isArrayWith(calls, isCall) && isArrayWith(replies, isReply) &&
    typeof response === "string" && isJsonObject(usage) && typeof usage["total"] === "number" &&
    isJsonObject(cost) && isAmount(cost["total"]);
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
    typeof text === "string" && isAmount(cost);
}

function isAmount(value: unknown): boolean {
  return value === null || typeof value === "number";
}

function isArrayWith(value: unknown, isItem: (item: unknown) => boolean): boolean {
  return Array.isArray(value) && value.every(isItem);
}
