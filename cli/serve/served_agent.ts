/**
 * The agents of a server: those of `swink run`, whose calls clients approve.
 *
 * @module
 */

import type { UserMessage } from "../../mod.ts";
import { BadRequestError, getErrorMessage } from "../../src/core/errors/errors.ts";
import type { SessionStore } from "../../src/memory/mod.ts";
import type { CreateAgent } from "../../src/server/mod.ts";
import { startHooks } from "../hooks/start_hooks.ts";
import type { StartedHooks } from "../hooks/started_hooks.ts";
import { ConfigurationError } from "../host/cli_error.ts";
import type { Host } from "../host/host.ts";
import { overrideTerminal } from "../host/override_terminal.ts";
import { setUpAgent } from "../run/agent/setup_agent.ts";
import type { ModelConnection } from "../run/model/model_connection.ts";
import { checkContinuedSession } from "../run/model/session_connection.ts";
import type { ProjectRunSettings } from "../run/settings/settings.ts";
import { findStoredServer } from "../sessions/session_server.ts";

/** Options for `createServedAgents()`. */
export interface ServedAgentOptions {
  /** The connection to the model. */
  readonly connection: ModelConnection;
  /** Kills hooks, and ends the wait for a key. */
  readonly signal: AbortSignal;
  /** The sessions. */
  readonly store: SessionStore;
  /** Called with each warning of an agent. */
  readonly onWarning: (warning: string) => void;
}

/** Returns a function that creates the agent of a run, with its own tools and hooks. */
export function createServedAgents(
  settings: ProjectRunSettings,
  { connection, signal, store, onWarning }: ServedAgentOptions,
  host: Host,
): CreateAgent {
  const known = new Set<string>();
  const warn = (warnings: readonly string[]) => {
    for (const warning of warnings) if (!known.has(warning)) onWarning(warning);
    for (const warning of warnings) known.add(warning);
  };
  // Nothing asks at the terminal of the server.
  const agentHost = overrideTerminal({ ...host, fetch: connection.fetch }, { keyboard: undefined });
  return async ({ id, model }) => {
    await using cleanup = new AsyncDisposableStack();
    const server = await findStoredServer(store, id);
    nameSession(
      id,
      () => checkContinuedSession({ server, ...(model && { model }) }, settings, host),
    );
    const hooks = cleanup.use(await startHooks({ ...settings, signal }, host));
    const selected = settings.isModelGiven ? settings.model : model ?? settings.model;
    const setup = cleanup.use(
      await setUpAgent({
        ...settings,
        sharesBudget: true,
        ...hooks,
        ...(selected && { model: selected }),
        ask: () => ({ type: "pending" }),
        keepsGrants: true,
        today: connection.today,
        signal,
      }, agentHost),
    );
    warn(setup.warnings);
    const { agent } = setup;
    agent.subscribe(() => warn([...hooks.takeWarnings(), ...setup.takeWarnings()]));
    const owned = cleanup.move();
    return {
      agent,
      preparePrompt: (message) => submitPrompt(message, hooks),
      [Symbol.asyncDispose]: () => owned.disposeAsync(),
    };
  };
}

/** Names the session in an error of the configuration, of which only the log of the server has the text. */
function nameSession(id: string, check: () => void): void {
  try {
    check();
  } catch (error) {
    if (!(error instanceof ConfigurationError)) throw error;
    const { message, advice } = error;
    const named = `Session ${id}: ${message}`;
    throw new ConfigurationError(named, advice);
  }
}

/** Runs the hooks of a prompt; throws a `BadRequestError` if one of them blocks it, so that it is not stored. */
async function submitPrompt(message: UserMessage, hooks: StartedHooks): Promise<UserMessage> {
  try {
    return await hooks.submitMessage(message);
  } catch (error) {
    throw new BadRequestError(getErrorMessage(error));
  }
}
