/**
 * Files with predictions: one line of JSON for each task.
 *
 * @module
 */

import { BadRequestError } from "../../core/errors/errors.ts";
import { isJsonObject } from "../../core/json/json.ts";
import { isCutLine } from "../case/cut_line.ts";
import { type EvalFiles, localEvalFiles } from "../case/eval_files.ts";
import { formatPrediction, type PatchPrediction, PREDICTION_START } from "./patch_task.ts";

/** Options for `PredictionsFile`. */
export interface PredictionsFileOptions {
  /** Name of the model or of the agent whose predictions the file has. */
  readonly modelName: string;
  /** File access. Default: the file system. */
  readonly files?: EvalFiles | undefined;
}

/** Options for writing a prediction. */
export interface WritePredictionOptions {
  /** Whether it replaces an earlier prediction of its task; otherwise that is kept. Default: `true`. */
  readonly replaces?: boolean | undefined;
}

/** Time between two attempts to lock the file. */
const WAIT_MS = 20;

/** Longest wait for other processes, which take milliseconds for a change. */
const MAX_WAIT_MS = 30_000;

/**
 * A file with the predictions of one model, as the harness of SWE-bench reads it: one of each task. A new prediction of a
 * task replaces the previous one, and a last line that a killed process left incomplete is removed.
 *
 * @example
 * ```ts
 * import { PredictionsFile } from "@swink/agent/eval";
 *
 * const path = `${await Deno.makeTempDir()}/predictions.jsonl`;
 * const predictions = new PredictionsFile(path, { modelName: "test/model" });
 * await predictions.write({
 *   instance_id: "project__project-1",
 *   model_name_or_path: "test/model",
 *   model_patch: "",
 * });
 * ```
 */
export class PredictionsFile {
  readonly #path: string;
  readonly #modelName: string;
  readonly #files: EvalFiles;
  #writing: Promise<unknown> = Promise.resolve();

  /** Creates access to a file, which is created by the first prediction if it does not exist. */
  constructor(path: string, { modelName, files = localEvalFiles }: PredictionsFileOptions) {
    this.#path = path;
    this.#modelName = modelName;
    this.#files = files;
  }

  /**
   * Reads the file, so that problems are found before a prediction is paid for.
   *
   * @throws {BadRequestError} If a line is no prediction, or one of another model.
   */
  async open(): Promise<void> {
    await this.#change(() => this.#repair());
  }

  /**
   * Writes a prediction. Several processes can write to one file.
   *
   * @throws {BadRequestError} If a line of the file is no prediction, or one of another model.
   */
  async write(
    prediction: PatchPrediction,
    options: WritePredictionOptions = {},
  ): Promise<void> {
    await this.#change(() => this.#write(prediction, options));
  }

  /** Changes the file after earlier changes, while no other process does: each would lose what the other writes. */
  #change(change: () => Promise<unknown>): Promise<void> {
    const changing = this.#writing.then(async () => {
      using _lock = await this.#lock();
      await change();
    });
    // The caller gets the failure; later predictions are written if possible.
    this.#writing = changing.catch(() => {});
    return changing;
  }

  async #lock(): Promise<Disposable> {
    for (let waited = 0; waited < MAX_WAIT_MS; waited += WAIT_MS) {
      const lock = await this.#files.lock(`${this.#path}.lock`);
      if (lock) return lock;
      await new Promise((resolve) => setTimeout(resolve, WAIT_MS));
    }
    throw new BadRequestError(`Another process is writing "${this.#path}": name another file`);
  }

  async #write(
    prediction: PatchPrediction,
    { replaces = true }: WritePredictionOptions,
  ): Promise<void> {
    const id = prediction.instance_id;
    // Another process can have written to the file, or an earlier line is incomplete, as on a full disk.
    const predictions = await this.#repair();
    if (predictions.some((known) => known.instance_id === id)) {
      if (!replaces) return;
      await this.#rewrite((kept) => kept.instance_id !== id);
    }
    await this.#files.append(this.#path, formatPrediction(prediction));
  }

  /** Reads the predictions, and removes an incomplete last line. */
  async #repair(): Promise<readonly PatchPrediction[]> {
    const { predictions, isCut } = await this.#readPredictions();
    const other = predictions.find(({ model_name_or_path: name }) => name !== this.#modelName);
    if (other) {
      throw new BadRequestError(
        `"${this.#path}" has predictions of "${other.model_name_or_path}": name another file for those of "${this.#modelName}"`,
      );
    }
    if (isCut) await this.#rewrite(() => true);
    return predictions;
  }

  /** Replaces the file by some of its predictions. */
  async #rewrite(isKept: (prediction: PatchPrediction) => boolean): Promise<void> {
    const { predictions } = await this.#readPredictions();
    const lines = predictions.filter(isKept).map(formatPrediction);
    await this.#files.write(this.#path, lines.join(""));
  }

  async #readPredictions(): Promise<ReadPredictions> {
    const predictions: PatchPrediction[] = [];
    let number = 0;
    for await (const line of this.#files.readLines(this.#path)) {
      number++;
      const isComplete = line.endsWith("\n");
      const prediction = parsePrediction(line);
      if (prediction) predictions.push(prediction);
      if (!isComplete && (prediction || isCutLine(line, PREDICTION_START))) {
        return { predictions, isCut: true };
      }
      if (!prediction && line.trim() !== "") {
        throw new BadRequestError(
          `${this.#path}:${number}: the line is no prediction: name another file`,
        );
      }
    }
    return { predictions, isCut: false };
  }
}

interface ReadPredictions {
  readonly predictions: readonly PatchPrediction[];
  /** Whether the last line has no line end. */
  readonly isCut: boolean;
}

function parsePrediction(line: string): PatchPrediction | undefined {
  try {
    const value: unknown = JSON.parse(line);
    return isPrediction(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function isPrediction(value: unknown): value is PatchPrediction {
  return isJsonObject(value) && typeof value["instance_id"] === "string" &&
    typeof value["model_name_or_path"] === "string" && typeof value["model_patch"] === "string";
}
