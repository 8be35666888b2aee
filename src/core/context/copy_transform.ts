/**
 * Copies of transforms that keep state for the history of one agent.
 *
 * @module
 */

import type { TransformContext } from "./context.ts";

/** Creates transforms with the options of another one, for the histories of other agents. */
export interface TransformCopies {
  /** Returns a copy. */
  readonly create: () => TransformContext;
  /** Returns a copy of the parts that compact a history; `undefined` if there are none. */
  readonly createCompaction: () => TransformContext | undefined;
}

const copies = new WeakMap<TransformContext, TransformCopies>();

/** Registers how a transform that keeps state is copied. */
export function registerTransformCopies(
  transform: TransformContext,
  transformCopies: TransformCopies,
): void {
  copies.set(transform, transformCopies);
}

/** Returns a copy of a transform that keeps state, and any other transform itself. */
export function copyTransform(transform: TransformContext): TransformContext {
  return copies.get(transform)?.create() ?? transform;
}

/** Returns a copy of the parts of a transform that compact a history; `undefined` if there are none. */
export function copyCompaction(
  transform: TransformContext | undefined,
): TransformContext | undefined {
  return transform && copies.get(transform)?.createCompaction();
}
