/**
 * Protects a run from failures of what observes it.
 *
 * @module
 */

import type {
  Instrumentation,
  InstrumentedRun,
  RunObserver,
} from "../../core/hooks/instrumentation.ts";

/**
 * Starts to observe a run; returns an observer that does not throw, and whose work is done exactly once. Failures of an
 * observer are ignored, since tracing must not change what it traces.
 */
export function startObserver(
  instrumentation: Instrumentation | undefined,
  run: InstrumentedRun,
): RunObserver | undefined {
  const observer = attempt(() => instrumentation?.observeRun(run));
  if (!observer) return undefined;
  return {
    onEvent(event) {
      // Without a closure, since it is called for every event.
      try {
        observer.onEvent(event);
      } catch {
        // An error of the observer must not end the run.
      }
    },
    callModel: (request, call) => doOnce((once) => observer.callModel(request, once), call),
    executeTool: (id, execute) => doOnce((once) => observer.executeTool(id, once), execute),
    onCancel: (id, code) => attempt(() => observer.onCancel(id, code)),
    getTraceHeaders: (id) => attempt(() => observer.getTraceHeaders(id)) ?? {},
  };
}

function attempt<Result>(observe: () => Result): Result | undefined {
  try {
    return observe();
  } catch {
    return undefined;
  }
}

/** Passes work to an observer, and does it here if the observer fails before it has. */
function doOnce<Result>(observe: (once: () => Result) => void, work: () => Result): Result {
  let outcome: { readonly get: () => Result } | undefined;
  const once = (): Result => (outcome ??= settle(work)).get();
  attempt(() => observe(once));
  return once();
}

function settle<Result>(work: () => Result): { readonly get: () => Result } {
  try {
    const result = work();
    return { get: () => result };
  } catch (thrown) {
    return {
      get: () => {
        throw thrown;
      },
    };
  }
}
