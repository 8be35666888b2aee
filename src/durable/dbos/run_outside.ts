/**
 * Calls outside of any workflow of DBOS.
 *
 * @module
 */

import { getBuiltinModule } from "../../platform/builtin_modules.ts";
import type { RunInContext } from "./dbos_journal.ts";

let outerContext: RunInContext | undefined;

/**
 * Calls a function outside of any workflow: a run that a step starts is not part of its workflow. The context is that of
 * the first engine of the process, since a runtime may pass the context of a workflow on to code that waits for it.
 */
export function runOutside<Value>(call: () => Value): Value {
  outerContext ??= getBuiltinModule("node:async_hooks").AsyncLocalStorage.snapshot();
  return outerContext(call);
}
