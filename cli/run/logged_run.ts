/**
 * `--debug-file`: a run whose settings, requests and events are logged.
 *
 * @module
 */

import type { AgentEvent } from "../../mod.ts";
import { AbortedError } from "../../src/core/errors/errors.ts";
import { DebugLog } from "../debug/debug_log.ts";
import { logRequests } from "../debug/log_requests.ts";
import { CliError } from "../host/cli_error.ts";
import { ExitCode } from "../host/exit_code.ts";
import type { Host } from "../host/host.ts";
import { VERSION } from "../host/version.ts";
import type { AgentRun } from "./run_prompt.ts";
import type { ProjectRunSettings } from "./settings/settings.ts";

/** Returns a function that logs a run to a file. */
export function logRun(file: string, run: AgentRun): AgentRun {
  return async (settings, dependencies) => {
    const { host, interrupt } = dependencies;
    using log = await openLog(file, host, interrupt.signal);
    if (!log) return interrupt.exitCode ?? ExitCode.failed;
    log.write({ type: "start", ...describeRun(settings) });
    const onEvent = (event: AgentEvent) => {
      // A reply follows as a whole.
      if (event.type !== "message_update") log.write({ type: "event", event });
    };
    try {
      const exitCode = await run(settings, {
        ...dependencies,
        host: { ...host, fetch: logRequests(host.fetch, log) },
        onAgent: (agent) => {
          agent.subscribe(onEvent);
          dependencies.onAgent?.(agent);
        },
      });
      log.write({ type: "end", exitCode });
      return exitCode;
    } catch (error) {
      log.write({ type: "end", ...describeError(error) });
      throw error;
    }
  };
}

/** Opens the log; returns `undefined` when a signal ends the wait for the reader of a pipe. */
async function openLog(
  file: string,
  { now, terminal }: Pick<Host, "now" | "terminal">,
  signal: AbortSignal,
): Promise<DebugLog | undefined> {
  const onFailure = (reason: string) =>
    void terminal.messages.write(`warning: the debug file cannot be written: ${reason}\n`);
  try {
    return await DebugLog.open(file, { now, onFailure, signal });
  } catch (error) {
    if (error instanceof AbortedError) return undefined;
    throw error;
  }
}

/** Returns the settings that explain a run, without those that may hold a secret. */
function describeRun(
  { cwd, model, net, sandbox, permissionMode, tools, project, session }: ProjectRunSettings,
): Record<string, unknown> {
  const { os, arch } = Deno.build;
  return {
    version: VERSION,
    runtime: `Deno ${Deno.version.deno}`,
    system: `${os} ${arch} ${Deno.osRelease()}`,
    cwd,
    model,
    net,
    sandbox,
    permissionMode,
    tools,
    session,
    project: { root: project.root, loaded: project.loaded, ignored: project.ignored },
  };
}

function describeError(error: unknown): Record<string, unknown> {
  if (error instanceof CliError) return { exitCode: error.exitCode, error: error.message };
  return { error: error instanceof Error ? error.stack : String(error) };
}
