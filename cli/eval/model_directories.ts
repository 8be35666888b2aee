/**
 * The directories of the models in a recording.
 *
 * @module
 */

import type { ModelSpec } from "../../mod.ts";
import { modelSpec } from "../../src/core/models/model.ts";
import { pathExists } from "../../src/platform/path_exists.ts";
import { join } from "../../src/platform/paths.ts";
import { UsageError } from "../host/cli_error.ts";
import { getFileProblem } from "../host/file_problem.ts";
import { formatModel } from "../render/format_model.ts";
import { findRecordedUrl } from "../run/model/recorded_model.ts";

/** Returns the directory of a model in a recording. */
export function getModelDirectory(recording: string, model: ModelSpec): string {
  return join(recording, encodeURIComponent(formatModel(model)));
}

/**
 * Returns the URL of a provider to which the recorded runs of a model have sent requests; `undefined` if it is unknown.
 *
 * @param directory Absolute path of the directory of the model.
 * @param provider Name of the provider.
 */
export function findModelUrl(directory: string, provider: string): string | undefined {
  const names = Array.from(Deno.readDirSync(directory), ({ name }) => name);
  const recording = names.sort().find((name) => /\.\d+\.jsonl$/.test(name));
  return recording === undefined
    ? undefined
    : findRecordedUrl(join(directory, recording), provider);
}

/**
 * Returns the models of a recording.
 *
 * @throws {UsageError} If the directory cannot be read, or has no recording.
 */
export async function findRecordedModels(recording: string): Promise<ModelSpec[]> {
  const names: string[] = [];
  try {
    for await (const { name, isDirectory } of Deno.readDir(recording)) {
      if (isDirectory) names.push(name);
    }
  } catch (error) {
    throw new UsageError(
      `Invalid value ${JSON.stringify(recording)} for --replay: ${getFileProblem(error)}`,
    );
  }
  const models = names.sort().flatMap(parseName);
  if (models.length > 0) return models;
  throw new UsageError(
    `Invalid value ${JSON.stringify(recording)} for --replay: the directory has no recording`,
    "Record one with: swink eval run SET --record DIRECTORY",
  );
}

/**
 * Checks that a recording has the runs of some models.
 *
 * @throws {UsageError} If it does not have those of one.
 */
export function checkRecordings(recording: string, models: readonly ModelSpec[]): void {
  const missing = models.find((model) => !pathExists(getModelDirectory(recording, model)));
  if (!missing) return;
  throw new UsageError(
    `The recording ${recording} has no run with ${formatModel(missing)}`,
    "Omit --model and --effort to replay all recorded models.",
  );
}

function parseName(name: string): ModelSpec[] {
  try {
    return [modelSpec(decodeURIComponent(name))];
  } catch {
    return [];
  }
}
