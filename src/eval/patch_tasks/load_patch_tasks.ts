/**
 * Files with tasks.
 *
 * @module
 */

import { checkMisspellings } from "../../core/checks/check_names.ts";
import { BadRequestError, getErrorMessage } from "../../core/errors/errors.ts";
import type { JsonSchema } from "../../core/json/json.ts";
import { compileSchema, runCompiled } from "../../core/schemas/compile_schema.ts";
import { dirname, isAbsolute, join } from "../../platform/paths.ts";
import { type EvalFiles, localEvalFiles } from "../case/eval_files.ts";
import { CASE_ID_PATTERN } from "../case/eval_set_schema.ts";
import { isOuterPath } from "../case/outer_path.ts";
import type { PatchTask } from "./patch_task.ts";

/** A task as it is written in a file; further properties, such as those of SWE-bench, are ignored. */
interface WrittenTask {
  readonly instance_id: string;
  readonly repository: string;
  readonly base_commit: string;
  readonly problem_statement: string;
  readonly test_command: string;
  readonly test_patch?: string | null;
  readonly test_files?: readonly string[];
  readonly test_timeout_ms?: number;
}

const TEXT = { type: "string", minLength: 1 };

const TASK_SCHEMA: JsonSchema = {
  type: "object",
  properties: {
    instance_id: { type: "string", pattern: CASE_ID_PATTERN.source },
    repository: TEXT,
    // A commit that begins with a dash would be an option of git.
    base_commit: { type: "string", pattern: "^[A-Za-z0-9_]" },
    problem_statement: TEXT,
    // A blank command would succeed.
    test_command: { type: "string", pattern: "\\S" },
    test_patch: { type: ["string", "null"] },
    test_files: { type: "array", items: TEXT },
    test_timeout_ms: { type: "number", exclusiveMinimum: 0 },
  },
  required: ["instance_id", "repository", "base_commit", "problem_statement", "test_command"],
};

/** Options for `loadPatchTasks()`. */
export interface LoadPatchTasksOptions {
  /** File access. Default: the file system. */
  readonly files?: Pick<EvalFiles, "read"> | undefined;
}

/**
 * Reads tasks from a file with one JSON object in each line, with a JSON array, or with one object on several lines. The
 * properties of a task have the names of SWE-bench: `instance_id`, `base_commit`, `problem_statement` and `test_patch`;
 * in addition `repository`, the path of a Git repository relative to the file, `test_command`, `test_files` and
 * `test_timeout_ms`.
 *
 * @throws {BadRequestError} If the file does not exist, or a task is invalid or occurs twice. The message names the file and
 * the line, or the index, of each problem.
 */
export async function loadPatchTasks(
  path: string,
  { files = localEvalFiles }: LoadPatchTasksOptions = {},
): Promise<PatchTask[]> {
  const text = await readTasks(path, files);
  if (text === undefined) throw new BadRequestError(`The file of tasks "${path}" does not exist`);
  const values = parseTasks(text, path);
  if (values.length === 0) throw new BadRequestError(`"${path}" has no task`);
  const problems = await findProblems(values);
  if (problems.length > 0) throw createError(problems);
  return values.map(({ value }) => toTask(value as WrittenTask, dirname(path)));
}

/** Number of problems that an error lists: each task of a benchmark can lack the same property. */
const MAX_PROBLEMS = 10;

function createError(problems: readonly string[]): BadRequestError {
  const shown = problems.slice(0, MAX_PROBLEMS);
  const rest = problems.length - shown.length;
  return new BadRequestError([...shown, ...rest > 0 ? [`and ${rest} more`] : []].join("\n"));
}

async function readTasks(
  path: string,
  files: Pick<EvalFiles, "read">,
): Promise<string | undefined> {
  try {
    return await files.read(path);
  } catch (cause) {
    const reason = getErrorMessage(cause);
    throw new BadRequestError(`Cannot read the file of tasks "${path}": ${reason}`, { cause });
  }
}

interface PlacedValue {
  readonly value: unknown;
  /** File with the line or the index. */
  readonly place: string;
}

function parseTasks(written: string, path: string): PlacedValue[] {
  const text = written.replace(/^\ufeff/, "");
  if (text.trimStart().startsWith("[")) {
    const values: unknown = parse(text, path);
    return (values as unknown[]).map((value, index) => ({ value, place: `${path}[${index}]` }));
  }
  const lines = text.split("\n").map((line, index) => ({ line, place: `${path}:${index + 1}` }))
    .filter(({ line }) => line.trim() !== "");
  const [first] = lines;
  // An object on several lines is no task in each line, but a file with one task.
  if (first?.line.trim() === "{") return [{ value: parse(text, first.place), place: first.place }];
  return lines.map(({ line, place }) => ({ value: parse(line, place), place }));
}

function parse(text: string, place: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new BadRequestError(`${place}: ${getErrorMessage(error)}`);
  }
}

async function findProblems(values: readonly PlacedValue[]): Promise<string[]> {
  const compiled = await compileSchema(TASK_SCHEMA);
  const ids = new Set<string>();
  return values.flatMap(({ value, place }) => {
    const errors = runCompiled(compiled, value).map(({ path, message }) =>
      `${place}: ${path.slice(1) || "the task"} ${message}`
    );
    if (errors.length > 0) return errors;
    const misspelling = findMisspelling(value as WrittenTask);
    if (misspelling !== undefined) return [`${place}: ${misspelling}`];
    const { instance_id: id, test_files: testFiles = [] } = value as WrittenTask;
    const outer = testFiles.find((path) => isOuterPath(path) || /^\.?[/\\]*$/.test(path));
    if (outer !== undefined) {
      return [
        `${place}: test_files must be relative paths inside of the repository, not "${outer}"`,
      ];
    }
    const isRepeated = ids.has(id.toLowerCase());
    ids.add(id.toLowerCase());
    return isRepeated ? [`${place}: instance_id "${id}" is used by another task`] : [];
  });
}

/** Without its tests a task could be resolved by any patch. */
function findMisspelling(task: WrittenTask): string | undefined {
  try {
    checkMisspellings(task, Object.keys(TASK_SCHEMA["properties"] as object), "the task");
    return undefined;
  } catch (error) {
    return getErrorMessage(error);
  }
}

function toTask(task: WrittenTask, directory: string): PatchTask {
  const {
    repository,
    test_patch: testPatch,
    test_files: testFiles,
    test_timeout_ms: testTimeoutMs,
  } = task;
  return {
    instanceId: task.instance_id,
    repository: isAbsolute(repository) ? repository : join(directory, repository),
    baseCommit: task.base_commit,
    problemStatement: task.problem_statement,
    testCommand: task.test_command,
    ...(typeof testPatch === "string" && testPatch !== "" && { testPatch }),
    ...(testFiles && { testFiles }),
    ...(testTimeoutMs !== undefined && { testTimeoutMs }),
  };
}
