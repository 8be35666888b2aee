/**
 * Model ids in the paths of URLs.
 *
 * @module
 */

import { BadRequestError } from "../../../src/core/errors/errors.ts";
import type { ModelSpec } from "../../../src/core/models/model.ts";

/**
 * Encodes the steps of a path that contains a model id.
 *
 * @throws {BadRequestError} When a step is empty, `.` or `..`, which would lead to another resource, or is not valid
 * Unicode.
 */
export function encodeModelPath(
  steps: readonly string[],
  { modelId, provider }: Pick<ModelSpec, "modelId" | "provider">,
): string {
  if (steps.some((step) => /^\.{0,2}$|\p{Surrogate}/u.test(step))) {
    throw new BadRequestError(`Invalid model id "${modelId}": use one that the provider lists`, {
      provider,
    });
  }
  return steps.map(encodeURIComponent).join("/");
}
