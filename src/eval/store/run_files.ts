/**
 * The files of an evaluation on disk.
 *
 * @module
 */

import { BadRequestError, getErrorMessage } from "../../core/errors/errors.ts";
import { isJsonObject } from "../../core/json/json.ts";
import { basename, join } from "../../platform/paths.ts";
import type { EvalFiles } from "../case/eval_files.ts";
import { RUN_FILES } from "../case/output_files.ts";
import { hashCanonical } from "../results/audit_trail.ts";
import type { EvalRunHeader } from "./eval_run.ts";

/** The end of an evaluation: the content of `audit.json`. */
export interface RunAudit {
  /** Version of the format. */
  readonly version: typeof AUDIT_VERSION;
  /** End, in milliseconds since the epoch. */
  readonly finishedAt: number;
  /** SHA-256 hash over the header and the hashes of the results in their order, as canonical JSON, in hexadecimal. */
  readonly hash: string;
}

/** Version 1 was a hash over the results themselves, which can be longer than any text. */
const AUDIT_VERSION = 2;

/** Returns the end of a complete evaluation. */
export async function createAudit(
  { id: _, ...header }: EvalRunHeader,
  hashes: readonly string[],
  finishedAt: number,
): Promise<RunAudit> {
  const version = AUDIT_VERSION;
  const hash = await hashCanonical({ version, header, results: hashes, finishedAt });
  return { version, finishedAt, hash };
}

/**
 * Reads the header of an evaluation.
 *
 * @throws {BadRequestError} If the directory has none, or it is damaged.
 */
export async function readHeader(directory: string, files: EvalFiles): Promise<EvalRunHeader> {
  const path = join(directory, RUN_FILES.header);
  const value = await readJson(path, files);
  if (value === undefined) {
    throw new BadRequestError(`There is no evaluation in "${directory}": it has no run.json`);
  }
  if (!isHeader(value)) throw new BadRequestError(`"${path}" is damaged, or of another version`);
  return { ...value, id: basename(directory) };
}

/** Reads the audit of an evaluation; `undefined` if it is not finished, or the file is damaged or of another version. */
export async function readAudit(
  directory: string,
  files: EvalFiles,
): Promise<RunAudit | undefined> {
  const value = await readJson(join(directory, RUN_FILES.audit), files).catch(() => undefined);
  if (!isJsonObject(value)) return undefined;
  const { version, finishedAt, hash } = value;
  return version === AUDIT_VERSION && typeof finishedAt === "number" && typeof hash === "string"
    ? { version, finishedAt, hash }
    : undefined;
}

async function readJson(path: string, files: EvalFiles): Promise<unknown> {
  const text = await files.read(path);
  if (text === undefined) return undefined;
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new BadRequestError(`"${path}" is damaged: ${getErrorMessage(error)}`);
  }
}

function isHeader(value: unknown): value is Omit<EvalRunHeader, "id"> {
  if (!isJsonObject(value)) return false;
  const { version, seed, startedAt, set, model, seeds, fixtures = {} } = value;
  return version === 1 && typeof seed === "number" && isTime(startedAt) &&
    (model === undefined || typeof model === "string") &&
    (seeds === undefined || (Array.isArray(seeds) && seeds.every(Number.isFinite))) &&
    isJsonObject(fixtures) && Object.values(fixtures).every(isText) &&
    isJsonObject(set) && typeof set["id"] === "string" && isOptionalText(set["description"]) &&
    Array.isArray(set["cases"]) && set["cases"].every(isCase);
}

/** More repetitions than any evaluation has; a damaged number must not exhaust the memory. */
const MAX_REPETITIONS = 100_000;

/** Whether a value is a time that a date can have; reports format it. */
function isTime(value: unknown): boolean {
  return typeof value === "number" && !Number.isNaN(new Date(value).getTime());
}

function isOptionalText(value: unknown): boolean {
  return value === undefined || isText(value);
}

function isText(value: unknown): boolean {
  return typeof value === "string";
}

function isCase(value: unknown): boolean {
  if (!isJsonObject(value)) return false;
  const { id, description, userMessages, repetitions = 1 } = value;
  return typeof id === "string" && isOptionalText(description) &&
    Array.isArray(userMessages) && userMessages.every((message) => typeof message === "string") &&
    Number.isInteger(repetitions) && Number(repetitions) >= 1 &&
    Number(repetitions) <= MAX_REPETITIONS;
}
