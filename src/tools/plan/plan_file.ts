/**
 * The file of a plan, at a place that the host decides. A person may edit it, and other programs may replace it, so that
 * nothing in its place is followed, waited for or trusted.
 *
 * @module
 */

import { checkNames } from "../../core/checks/check_names.ts";
import { BadRequestError } from "../../core/errors/errors.ts";
import type { FileStatus } from "../../platform/file_calls.ts";
import { basename, dirname, getRelativePath, isAbsolute, join } from "../../platform/paths.ts";
import { system } from "../../platform/system.ts";
import { getSystemErrorCode } from "../../platform/system_error.ts";
import { describeSpecialFile, readUntrustedFile } from "../../platform/untrusted_file.ts";
import { resolveCanonicalPath } from "../files/canonical_path.ts";
import { openDirectoryHandle } from "../files/directory_handle.ts";
import { quotePath, toFileError } from "../files/file_error.ts";
import { isWithin } from "../files/file_rules.ts";
import { PLAN_LIMITS } from "./plan.ts";

/** The content of a plan file, or the reason why it was not read, as a sentence without a period. */
export type PlanFileRead =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "missing" }
  | { readonly type: "refused"; readonly reason: string };

/** The file of a plan; `planFile()` creates one. */
export interface PlanFile {
  /** Absolute path. */
  readonly path: string;
  /** Reads the file. Links out of its directory, special files and files that are too large are refused. */
  read(signal?: AbortSignal): Promise<PlanFileRead>;
  /**
   * Replaces the content atomically, and creates missing directories.
   *
   * Rejects with a `BadRequestError` if the place is a link or a special file, or outside of its directory.
   */
  write(text: string): Promise<void>;
}

/** Options for {@linkcode planFile}. */
export interface PlanFileOptions {
  /**
   * Directory that the file must be in after all links are followed. Default: the current directory if the path is in it,
   * otherwise the directory of the path.
   */
  readonly within?: string | undefined;
}

const OPTION_NAMES: Readonly<Record<keyof PlanFileOptions, true>> = { within: true };

/**
 * Names the place of a plan. Nothing is read or written yet.
 *
 * @example
 * ```ts
 * import { planFile } from "@swink/agent/plan";
 *
 * const directory = await Deno.makeTempDir();
 * const file = planFile(`${directory}/.swink/plan.md`, { within: directory });
 * (await file.read()).type; // "missing"
 * ```
 */
export function planFile(path: string, options: PlanFileOptions = {}): PlanFile {
  checkNames(options, Object.keys(OPTION_NAMES), "planFile()");
  const { within } = options;
  if (typeof path !== "string" || path === "" || path.includes("\0")) {
    throw new BadRequestError("The path of a plan file must be a text that is not empty");
  }
  const cwd = system.cwd();
  const absolute = isAbsolute(path) ? path : join(cwd, path);
  const isInside = getRelativePath(cwd, absolute) !== undefined;
  const place = { path: absolute, within: within ?? (isInside ? cwd : dirname(absolute)) };
  return {
    path: absolute,
    read: (signal) => readPlanFile(place, signal),
    write: (text) => writePlanFile(place, new TextEncoder().encode(text)),
  };
}

interface PlanPlace {
  readonly path: string;
  readonly within: string;
}

async function readPlanFile(
  { path, within }: PlanPlace,
  signal: AbortSignal | undefined,
): Promise<PlanFileRead> {
  const special = await findSpecialFile(path);
  if (special !== undefined) return { type: "refused", reason: special };
  const limits = { within, maxBytes: PLAN_LIMITS.bytes, ...(signal && { signal }) };
  const read = await readUntrustedFile(path, limits);
  switch (read.type) {
    case "missing":
      return read;
    case "refused":
      return { type: "refused", reason: `${quotePath(path)} ${read.reason}: correct or remove it` };
    case "content":
      return decode(path, read.bytes);
  }
}

function decode(path: string, bytes: Uint8Array): PlanFileRead {
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    return { type: "text", text };
  } catch {
    return {
      type: "refused",
      reason: `${quotePath(path)} is not UTF-8 text: correct or remove it`,
    };
  }
}

async function writePlanFile({ path, within }: PlanPlace, bytes: Uint8Array): Promise<void> {
  if (bytes.length > PLAN_LIMITS.bytes) {
    throw new BadRequestError(`The plan is larger than ${PLAN_LIMITS.bytes} bytes: shorten it`);
  }
  try {
    const directory = await resolveCanonicalPath(dirname(path), system.cwd());
    if (!isWithin(directory, await resolveCanonicalPath(within, system.cwd()))) {
      throw new BadRequestError(`${quotePath(path)} is a link to a file outside of its directory`);
    }
    const special = await findSpecialFile(path);
    if (special !== undefined) throw new BadRequestError(special);
    const existing = await findEntry(join(directory, basename(path)));
    await using handle = await openDirectoryHandle(directory, { create: true });
    await handle.replaceFile(basename(path), { bytes, ...keepMode(existing) });
  } catch (error) {
    throw toFileError(path, error);
  }
}

/** Returns the reason why the place of a file cannot be used: a link could lead the planner to a secret of the project. */
async function findSpecialFile(path: string): Promise<string | undefined> {
  const existing = await findEntry(path);
  const kind = existing && describeSpecialFile(existing);
  return kind && `${quotePath(path)} is ${kind}, not a regular file: remove it`;
}

async function findEntry(path: string): Promise<FileStatus | undefined> {
  try {
    return await system.lstat(path);
  } catch (error) {
    if (["ENOENT", "ENOTDIR"].includes(getSystemErrorCode(error) ?? "")) return undefined;
    throw error;
  }
}

function keepMode(existing: FileStatus | undefined): { readonly mode?: number } {
  const mode = existing?.mode;
  return mode === null || mode === undefined ? {} : { mode: mode & 0o7777 };
}
