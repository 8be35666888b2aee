/**
 * A pause in which other tasks run.
 *
 * @module
 */

// The timer of the runtime, also while a test replaces timers by those of a fake clock: the pause measures no time, and a test
// that advances its clock for a deletion by age would otherwise wait for itself.
const startTimer = globalThis.setTimeout;

/** Resolves when timers, streams and other events of the program that are due have been handled. */
export async function runOtherTasks(): Promise<void> {
  await new Promise<void>((resolve) => {
    startTimer(resolve, 0);
  });
}

/** Time after which a series of calls lets other tasks run, in milliseconds. */
const INTERVAL_MS = 15;

/** Returns a function that lets other tasks run, unless they have run less than 15 ms ago. */
export function startPauses(): () => Promise<void> {
  let lastAt = performance.now();
  return async () => {
    if (performance.now() - lastAt < INTERVAL_MS) return;
    await runOtherTasks();
    lastAt = performance.now();
  };
}
