/**
 * The lines of the file with the results of an evaluation: JSON with the hash of the result.
 *
 * @module
 */

import { isJsonObject } from "../../core/json/json.ts";
import { toCanonicalText } from "../../core/json_schema/canonical_text.ts";
import { hashCanonical, hashText } from "../results/audit_trail.ts";
import type { CaseResult } from "../run/case_result.ts";
import { isCaseResult } from "../run/is_case_result.ts";
import { omitCalls } from "../run/omit_calls.ts";

/** A result in a file. */
export interface StoredResult {
  /** The result. */
  readonly result: CaseResult;
  /** Hash of the complete result. */
  readonly hash: string;
}

/** The results in a file, and the lines that could not be read. */
export interface ReadLines {
  /** The results, in the order of the file; of several ones of a run, the last one. */
  readonly results: readonly StoredResult[];
  /** Numbers of the damaged lines, from 1. */
  readonly damaged: readonly number[];
  /** Whether the last line is incomplete, as a process leaves it that is killed while it writes. */
  readonly isCut: boolean;
}

/** Options for `readResultLines()`. */
export interface ReadLinesOptions {
  /** Omits the calls, the replies and the answers of the results, after their hashes have been compared. */
  readonly omitCalls: boolean;
}

/** Formats the line of a result. */
export async function formatResultLine(result: CaseResult): Promise<string> {
  const text = toCanonicalText(result);
  return `{"hash":"${await hashText(text)}","result":${text}}\n`;
}

/** Reads the lines of a file. */
export async function readResultLines(
  lines: AsyncIterable<string>,
  options: ReadLinesOptions,
): Promise<ReadLines> {
  const results = new Map<string, StoredResult>();
  const damaged: number[] = [];
  let number = 0;
  for await (const line of lines) {
    number++;
    if (!line.endsWith("\n")) return { results: [...results.values()], damaged, isCut: true };
    const stored = await parseResultLine(line);
    if (!stored) {
      damaged.push(number);
      continue;
    }
    const { result, hash } = stored;
    const kept = options.omitCalls ? omitCalls(result) : result;
    results.set(`${result.caseId} ${result.repetition}`, { result: kept, hash });
  }
  return { results: [...results.values()], damaged, isCut: false };
}

async function parseResultLine(line: string): Promise<StoredResult | undefined> {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    return undefined;
  }
  if (!isJsonObject(value) || !isCaseResult(value["result"])) return undefined;
  const { result, hash } = value;
  return hash === await hashCanonical(result) ? { result, hash } : undefined;
}
