/**
 * Calls outside of any workflow of DBOS.
 *
 * @module
 */

import { getBuiltinModule } from "../../platform/builtin_modules.ts";
import type { RunInContext } from "./dbos_journal.ts";

let outerContext: RunInContext | undefined;

/** Returns the context outside of any workflow, which is that of the first call in the process. */
function getOuterContext(): RunInContext {
  return outerContext ??= getBuiltinModule("node:async_hooks").AsyncLocalStorage.snapshot();
}

/**
 * Keeps the context of the caller as the one outside of any workflow, unless there is one. It must be kept early, since a
 * runtime may pass the context of a workflow on to code that waits for it.
 */
export function keepOuterContext(): void {
  getOuterContext();
}

/** Calls a function outside of any workflow: a run that a step starts is not part of its workflow. */
export function runOutside<Value>(call: () => Value): Value {
  return getOuterContext()(call);
}
