/**
 * Work on many files at the same time.
 *
 * @module
 */

import { finishAll } from "../../core/ports/finish_all.ts";

/** Maximum number of files worked on in parallel, which hides disk latency. */
const MAX_PARALLEL = 16;

/** Maps values in parallel. The results are in the order of the values. */
export async function mapParallel<T, R>(
  values: readonly T[],
  run: (value: T, index: number) => Promise<R>,
): Promise<R[]> {
  const results: R[] = [];
  let next = 0;
  const runWorker = async () => {
    for (let index = next++; index < values.length; index = next++) {
      results[index] = await run(values[index] as T, index);
    }
  };
  await finishAll(Array.from({ length: MAX_PARALLEL }, runWorker));
  return results;
}
