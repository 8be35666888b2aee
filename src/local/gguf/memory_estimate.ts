/**
 * The memory that a model needs, estimated before it is loaded.
 *
 * @module
 */

import { BadRequestError } from "../../core/errors/errors.ts";
import type { ModelProfile } from "./model_profile.ts";

/** The memory that a model needs, in bytes. */
export interface MemoryEstimate {
  /** Weights. */
  readonly weights: number;
  /** Cache of the context. */
  readonly context: number;
  /** Buffers of the computation. */
  readonly overhead: number;
  /** The sum. */
  readonly total: number;
}

/** Tokens of a prompt that are evaluated at once. */
const BATCH_SIZE = 512;
/** Buffers of small models; llama.cpp needs about this much for a batch of this size. */
const BASE_OVERHEAD = 64 * 1024 * 1024;
/** Bytes for each token of a batch and each one of its context, which determine whether the one can see the other. */
const MASK_BYTES = 2;

/** Estimates the memory of a model with contexts of a number of tokens, of which `batchSize` (512) are evaluated at once. */
export function estimateMemory(
  { fileSize, bytesPerToken }: Pick<ModelProfile, "fileSize" | "bytesPerToken">,
  { contextSize, sequences = 1, batchSize = BATCH_SIZE }: {
    readonly contextSize: number;
    readonly sequences?: number;
    readonly batchSize?: number;
  },
): MemoryEstimate {
  const context = bytesPerToken * contextSize * sequences;
  const mask = MASK_BYTES * contextSize * Math.max(0, batchSize - BATCH_SIZE);
  const overhead = BASE_OVERHEAD + Math.ceil(fileSize * 0.05) + mask;
  return { weights: fileSize, context, overhead, total: fileSize + context + overhead };
}

/**
 * Refuses a model for which the memory is too small, since the system would end the process.
 *
 * @throws {BadRequestError} If the estimate exceeds the available memory.
 */
export function checkMemory(
  estimate: MemoryEstimate,
  { available, name, contextSize }: {
    readonly available: number;
    readonly name: string;
    readonly contextSize: number;
  },
): void {
  if (estimate.total <= available) return;
  const smaller = estimate.weights + estimate.overhead < available
    ? `a context smaller than ${contextSize} tokens, or `
    : "";
  throw new BadRequestError(
    `The model ${name} needs about ${formatBytes(estimate.total)} of memory and ` +
      `${formatBytes(available)} are available: use ${smaller}a smaller model`,
  );
}

/** Formats a number of bytes: `1.8 GB`. */
export function formatBytes(bytes: number): string {
  if (bytes >= 1e9) return `${(bytes / 1e9).toFixed(1)} GB`;
  if (bytes >= 1e6) return `${Math.round(bytes / 1e6)} MB`;
  return `${Math.ceil(bytes / 1e3)} KB`;
}
