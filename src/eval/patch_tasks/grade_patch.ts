/**
 * Grades a patch by the tests of its task.
 *
 * @module
 */

import { getErrorMessage } from "../../core/errors/errors.ts";
import type { OpenCommandSandbox } from "../command/command_sandbox.ts";
import { runCommand } from "../command/run_command.ts";
import { createLocalDirectory } from "../run/case_directory.ts";
import { applyPatch, checkOutTask, prepareTests } from "./check_out_task.ts";
import type { PatchTask } from "./patch_task.ts";

/** Default time limit of the tests. */
const DEFAULT_TIMEOUT_MS = 30 * 60_000;

/** Options for `gradePatch()`. */
export interface GradePatchOptions {
  /** Opens the sandbox of the tests, such as `createSandbox` of `@swink/agent/tools`, or `openUnconfined`. */
  readonly openSandbox: OpenCommandSandbox;
  /** Ends the tests. Default: none. */
  readonly signal?: AbortSignal | undefined;
}

/** The grade of a patch. */
export interface PatchGrade {
  /**
   * `resolved`: the tests pass. `unresolved`: they fail, or do not end in time. `empty`: there is no patch. `invalid`: the
   * patch cannot be applied. `error`: the task cannot be checked out, or its own patch cannot be applied.
   */
  readonly type: "resolved" | "unresolved" | "empty" | "invalid" | "error";
  /** Details, such as the end of the output of the tests; empty if there are none. */
  readonly details: string;
}

/** Applies a patch to a new checkout of its task, and runs the tests. */
export async function gradePatch(
  task: PatchTask,
  patch: string,
  options: GradePatchOptions,
): Promise<PatchGrade> {
  if (patch.trim() === "") return { type: "empty", details: "" };
  const directory = await createLocalDirectory(undefined);
  try {
    const { path } = directory;
    const failure = await prepare(task, patch, path);
    return failure ?? await runTests(task, path, options);
  } finally {
    await directory.remove();
  }
}

async function prepare(
  task: PatchTask,
  patch: string,
  directory: string,
): Promise<PatchGrade | undefined> {
  try {
    await checkOutTask(task, directory);
  } catch (error) {
    return { type: "error", details: getErrorMessage(error) };
  }
  try {
    await applyPatch(patch, { cwd: directory });
  } catch (error) {
    return { type: "invalid", details: getErrorMessage(error) };
  }
  try {
    await prepareTests(task, directory);
    return undefined;
  } catch (error) {
    return { type: "error", details: `The tests of the task: ${getErrorMessage(error)}` };
  }
}

async function runTests(
  { testCommand: command, testTimeoutMs: timeoutMs = DEFAULT_TIMEOUT_MS }: PatchTask,
  directory: string,
  { openSandbox, signal = new AbortController().signal }: GradePatchOptions,
): Promise<PatchGrade> {
  const { type, code, output } = await runCommand({
    command,
    directory,
    timeoutMs,
    signal,
    openSandbox,
  });
  signal.throwIfAborted();
  if (type === "exited" && code === 0) return { type: "resolved", details: "" };
  const end = type === "exited"
    ? `The tests exited with code ${code}`
    : `The tests did not end within ${timeoutMs} ms`;
  return { type: "unresolved", details: `${end}\n${output.trim()}`.trim() };
}
