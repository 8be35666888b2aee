/**
 * Compares the files of a run with the expected ones.
 *
 * @module
 */

import { join } from "../../platform/paths.ts";
import { readUntrustedFile } from "../../platform/untrusted_file.ts";
import type { UntrustedRead } from "../../platform/untrusted_read.ts";
import { compilePattern } from "../case/compile_expectation.ts";
import type { ExpectedFile } from "../case/eval_case.ts";
import type { Evaluator } from "./evaluator.ts";

const MAX_BYTES = 16_000_000;

/** Port: reads a file that the agent could have made. */
export type ReadCaseFile = (
  path: string,
  options: { readonly directory: string; readonly signal: AbortSignal },
) => Promise<UntrustedRead>;

const readLocalFile: ReadCaseFile = (path, { directory, signal }) =>
  readUntrustedFile(join(directory, path), { within: directory, maxBytes: MAX_BYTES, signal });

/**
 * Creates the evaluator `files`, which applies to cases with `expectedFiles`. Its score is the part of the expectations
 * that are met. Files outside of the directory of the case, also by links, are not read.
 */
export function createFilesEvaluator(readFile: ReadCaseFile = readLocalFile): Evaluator {
  const name = "files";
  return {
    name,
    optionNames: [],
    evaluate: async ({ evalCase: { expectedFiles }, directory, signal }) => {
      if (!expectedFiles || expectedFiles.length === 0) return undefined;
      if (directory === undefined) throw new Error("The run has no directory");
      const problems: string[] = [];
      for (const expected of expectedFiles) {
        const read = await readFile(expected.path, { directory, signal });
        const problem = await findProblem(expected, read);
        if (problem) problems.push(`${expected.path} ${problem}`);
      }
      const value = 1 - problems.length / expectedFiles.length;
      const passed = problems.length === 0;
      return { metric: name, value, passed, ...(!passed && { reason: problems.join("; ") }) };
    },
  };
}

/** Returns the difference between a file and its expectation, as a fragment after its path. */
async function findProblem(
  expected: ExpectedFile,
  read: UntrustedRead,
): Promise<string | undefined> {
  if (expected.type === "missing" && read.type !== "refused") {
    return read.type === "missing" ? undefined : "exists";
  }
  if (read.type === "missing") return "does not exist";
  if (read.type === "refused") return read.reason;
  const text = decodeText(read.bytes);
  if (text === undefined && expected.type !== "exists" && expected.type !== "missing") {
    return "is not a text in UTF-8";
  }
  return text === undefined ? undefined : await compareText(text, expected);
}

/** Returns the complete text, also a byte order mark; `undefined` if it is not UTF-8. */
function decodeText(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

async function compareText(text: string, expected: ExpectedFile): Promise<string | undefined> {
  switch (expected.type) {
    case "exists":
    case "missing":
      return undefined;
    case "equals":
      return text === expected.text ? undefined : "has another content";
    case "contains":
      return text.includes(expected.text)
        ? undefined
        : `does not contain ${JSON.stringify(expected.text)}`;
    case "regex":
      return (await compilePattern(expected.pattern)).test(text)
        ? undefined
        : `does not match /${expected.pattern}/`;
  }
}
