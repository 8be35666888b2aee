/**
 * Options of a model on this device.
 *
 * @module
 */

import { checkNames } from "../core/checks/check_names.ts";
import { BadRequestError } from "../core/errors/errors.ts";
import type { Sleep } from "../core/ports/ports.ts";
import { LLAMA_GPUS, type LlamaGpu, type LlamaModule } from "./llama/llama_runtime.ts";
import type { LocalModelState } from "./model_state.ts";
import {
  type ModelPlace,
  type ModelStoreOptions,
  STORE_OPTION_NAMES,
} from "./store/model_store.ts";

/** Options for `new LocalModel()`. */
export interface LocalModelOptions extends ModelStoreOptions {
  /**
   * The model: a preset (`qwen3-4b`), the path of a GGUF file, the name of an imported model, a file of the hub
   * (`hf:OWNER/REPOSITORY/FILE.gguf`), or its place.
   */
  readonly model: string | ModelPlace;
  /**
   * Number of tokens of a prompt and its reply. Default: up to 16,384, as many as the model was trained on and as fit into
   * memory.
   */
  readonly contextSize?: number | undefined;
  /** Number of requests that run at the same time, each with a context of its own. Default: 1. */
  readonly parallel?: number | undefined;
  /** Graphics processor. Default: `"auto"`, which uses one if a prebuilt binary finds it. */
  readonly gpu?: LlamaGpu | undefined;
  /** Number of threads. Default: the number of processor cores for computing. */
  readonly threads?: number | undefined;
  /** Memory that the model may take, in bytes. Default: the free memory; `Infinity` takes the risk. */
  readonly memoryLimit?: number | undefined;
  /** Time without use after which the model is unloaded, in milliseconds. Default: 300,000; `Infinity` keeps it. */
  readonly idleMs?: number | undefined;
  /** Called with each new state. Default: none. */
  readonly onState?: ((state: LocalModelState) => void) | undefined;
  /** The package `node-llama-cpp`. Default: the installed one, else that of npm. */
  readonly llama?: LlamaModule | undefined;
  /**
   * Waits until an unused model is unloaded, and before a download is continued whose connection was lost. Default: timers,
   * of which the first one does not keep the process running.
   */
  readonly sleep?: Sleep | undefined;
}

const OPTION_NAMES: Record<keyof LocalModelOptions, true> = {
  ...STORE_OPTION_NAMES,
  model: true,
  contextSize: true,
  parallel: true,
  gpu: true,
  threads: true,
  memoryLimit: true,
  idleMs: true,
  onState: true,
  llama: true,
};

/** The use that a model is loaded for. */
export type ModelPurpose = "chat" | "embedding";

/**
 * Checks the options of a model.
 *
 * @throws {BadRequestError} If one is unknown or invalid.
 */
export function checkModelOptions(options: LocalModelOptions): void {
  const { model, contextSize, parallel, threads, gpu, memoryLimit, idleMs } = options ?? {};
  if (!isName(model) && !isName(model?.path)) {
    throw new BadRequestError(
      'Name a model, such as { model: "qwen3-4b" } or { model: "./model.gguf" }',
    );
  }
  checkNames(options, Object.keys(OPTION_NAMES), "a model on this device");
  for (const [name, value] of Object.entries({ contextSize, parallel, threads })) {
    if (value === undefined || Number.isSafeInteger(value) && value > 0) continue;
    throw new BadRequestError(`${name} must be a positive integer, not ${value}`);
  }
  for (const [name, value] of Object.entries({ memoryLimit, idleMs })) {
    if (value === undefined || typeof value === "number" && value >= 0) continue;
    throw new BadRequestError(`${name} must be a number from 0 to Infinity, not ${value}`);
  }
  if (gpu === undefined || LLAMA_GPUS.includes(gpu)) return;
  throw new BadRequestError(`gpu must be one of ${LLAMA_GPUS.join(", ")}, not ${gpu}`);
}

function isName(value: unknown): value is string {
  return typeof value === "string" && value !== "";
}
