/**
 * Files with cases.
 *
 * @module
 */

import { BadRequestError, getErrorMessage } from "../../core/errors/errors.ts";
import { compileSchema } from "../../core/schemas/compile_schema.ts";
import { dirname } from "../../platform/paths.ts";
import { findExpectationProblems, type KeyProblem } from "./check_expectations.ts";
import type { EvalSet } from "./eval_case.ts";
import { type EvalFiles, localEvalFiles } from "./eval_files.ts";
import { evalSetSchema } from "./eval_set_schema.ts";
import { type DocumentProblem, type ParsedDocument, parseDocument } from "./parse_document.ts";
import { findSchemaProblems, formatKeys } from "./schema_problems.ts";

/** Number of problems that an error lists. */
const MAX_PROBLEMS = 10;

/** Options for `loadEvalSet()`. */
export interface LoadEvalSetOptions {
  /** File access. Default: the file system. */
  readonly files?: Pick<EvalFiles, "read"> | undefined;
}

/**
 * Reads a set of cases from a YAML or JSON file.
 *
 * @throws {BadRequestError} If the file does not exist, cannot be read or parsed, or does not match
 * {@linkcode evalSetSchema}. The message names the file, the line and the key of each problem.
 */
export async function loadEvalSet(
  path: string,
  { files = localEvalFiles }: LoadEvalSetOptions = {},
): Promise<EvalSet> {
  const text = await readSetFile(path, files);
  const directory = dirname(path);
  return { ...await parseEvalSet(text, path), directory };
}

/**
 * Parses a set of cases in YAML or JSON. `source` names it in errors.
 *
 * @throws {BadRequestError} If the text cannot be parsed or does not match {@linkcode evalSetSchema}.
 *
 * @example
 * ```ts
 * import { parseEvalSet } from "@swink/agent/eval";
 *
 * const set = await parseEvalSet(`
 *   id: greetings
 *   cases:
 *     - id: hello
 *       userMessages: [Greet me]
 *       expectedResponse: { type: contains, text: Hello }
 * `);
 * set.cases.length; // 1
 * ```
 */
export async function parseEvalSet(text: string, source = "cases"): Promise<EvalSet> {
  const document = await parseDocument(text);
  if (document.type === "invalid") throw createError(source, document.problems);
  const problems = await findProblems(document);
  if (problems.length > 0) throw createError(source, problems);
  const { $schema: _, ...set } = document.value as EvalSet & { readonly $schema?: string };
  return set;
}

async function readSetFile(path: string, files: Pick<EvalFiles, "read">): Promise<string> {
  let text: string | undefined;
  try {
    text = await files.read(path);
  } catch (cause) {
    const reason = getErrorMessage(cause);
    throw new BadRequestError(`Cannot read the evaluation set "${path}": ${reason}`, { cause });
  }
  if (text !== undefined) return text;
  throw new BadRequestError(`The evaluation set "${path}" does not exist`);
}

type ValidDocument = Extract<ParsedDocument, { readonly type: "document" }>;

async function findProblems({ value, findLine }: ValidDocument): Promise<DocumentProblem[]> {
  const found = findSchemaProblems(await compileSchema(evalSetSchema), value);
  const problems = found.length > 0 ? found : await findContentProblems(value as EvalSet);
  return problems.map(({ keys, message }) => ({
    line: findLine(keys),
    message: `${formatKeys(keys)} ${message}`,
  }));
}

/** Finds the problems that the schema cannot find. */
async function findContentProblems(set: EvalSet): Promise<KeyProblem[]> {
  return [...findRepeatedIds(set), ...await findExpectationProblems(set.cases)];
}

function findRepeatedIds({ cases }: EvalSet): KeyProblem[] {
  const ids = new Set<string>();
  return cases.flatMap(({ id }, index) => {
    // Ids are names of files, whose case some systems ignore.
    if (!ids.has(id.toLowerCase())) {
      ids.add(id.toLowerCase());
      return [];
    }
    return [{ keys: ["cases", `${index}`, "id"], message: `"${id}" is used by another case` }];
  });
}

function createError(source: string, problems: readonly DocumentProblem[]): BadRequestError {
  const ordered = [...problems].sort((left, right) => left.line - right.line);
  const lines = ordered.slice(0, MAX_PROBLEMS)
    .map(({ line, message }) => `${source}:${line}: ${message}`);
  const rest = ordered.length - lines.length;
  if (rest > 0) lines.push(`and ${rest} more`);
  return new BadRequestError(lines.join("\n"));
}
