/**
 * Starts the hooks of a run: those of the session and of the prompt run at once, the others during the run.
 *
 * @module
 */

import type { Host } from "../host/host.ts";
import { importLate } from "../host/import_late.ts";
import type { HookStartOptions, StartedHooks } from "./started_hooks.ts";

/** Runs the hooks of the start of the session. */
export async function startHooks(
  options: HookStartOptions,
  host: Pick<Host, "terminal" | "now">,
): Promise<StartedHooks> {
  if (options.hooks.length === 0) return createNoHooks(options);
  const { startSessionHooks } = await importLate<typeof import("./session_hooks.ts")>(
    "./session_hooks.ts",
    import.meta.url,
  );
  return await startSessionHooks(options, host);
}

function createNoHooks({ appendedPrompt }: Pick<HookStartOptions, "appendedPrompt">): StartedHooks {
  return {
    policies: [],
    subAgentPolicies: [],
    submit: (prompt) => Promise.resolve(prompt),
    submitMessage: (message) => Promise.resolve(message),
    takeWarnings: () => [],
    ...(appendedPrompt !== undefined && { appendedPrompt }),
    [Symbol.asyncDispose]: () => Promise.resolve(),
  };
}
