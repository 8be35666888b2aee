/**
 * The lines of the file with the results of an evaluation: JSON with the hash of the result.
 *
 * @module
 */

import { isJsonObject } from "../../core/json.ts";
import { hashCanonical } from "../results/audit_trail.ts";
import type { CaseResult } from "../run/case_result.ts";
import { isCaseResult } from "../run/is_case_result.ts";

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
