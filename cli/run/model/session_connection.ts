/**
 * The connection of a run that continues a session.
 *
 * @module
 */

import { providerNames } from "../../../adapters/connect.ts";
import type { Agent, ModelSpec } from "../../../mod.ts";
import { ConfigurationError } from "../../host/cli_error.ts";
import type { Host } from "../../host/host.ts";
import { formatModel } from "../../render/format_model.ts";
import type { RunSession } from "../../sessions/run_session.ts";
import { matchesUrl, type SessionServer, toStoredUrl } from "../../sessions/session_server.ts";
import type { ProjectRunSettings } from "../settings/settings.ts";
import { findNamedServer, findProviderUrl, type ProviderUrlSettings } from "./provider_url.ts";

/** The servers that a run can ask. */
export interface SessionConnection extends Pick<ProviderUrlSettings, "providers"> {
  /** The server that an option names. */
  readonly server: SessionServer | undefined;
}

/**
 * Refuses to continue a session as `checkSessionServer()` does, unless an option selects the model, or a recording answers.
 *
 * @throws {ConfigurationError} With the options to add.
 */
export function checkContinuedSession(
  session: Pick<RunSession, "server" | "model">,
  settings: Pick<ProjectRunSettings, "isModelGiven" | "baseUrl" | "replay" | "providers">,
  host: Pick<Host, "env">,
): void {
  const { isModelGiven, replay, providers } = settings;
  if (isModelGiven || replay !== undefined) return;
  checkSessionServer(
    session,
    { server: findNamedServer(settings, session.model), providers },
    host,
  );
}

/**
 * Refuses to continue a session whose server an option named, if the run would send the conversation to another server
 * that no option names.
 *
 * @throws {ConfigurationError} With the options to add.
 */
export function checkSessionServer(
  { server: last, model }: Pick<RunSession, "server" | "model">,
  { server, providers }: SessionConnection,
  { env }: Pick<Host, "env">,
): void {
  if (!last || last.provider !== model?.provider || last.provider === server?.provider) return;
  if (matchesUrl(last, findProviderUrl(last.provider, { providers, env }).url)) return;
  throw new ConfigurationError(
    `The session used the server at ${last.baseUrl}, and no option of this run names it`,
    formatAdvice(last, model),
  );
}

/** Formats the command that continues a session with the same server. */
export function formatResumeCommand(
  id: string,
  { server, agent }: Pick<SessionConnection, "server"> & { readonly agent: Pick<Agent, "state"> },
): string {
  const command = `swink -r ${id}`;
  const url = server?.provider === agent.state.model.provider && toStoredUrl(server.baseUrl);
  return url ? `${command} --base-url ${toShellWord(url)}` : command;
}

function formatAdvice({ baseUrl, provider }: SessionServer, model: ModelSpec): string {
  const advice = `To continue it there, add --base-url ${toShellWord(baseUrl)}`;
  if (!providerNames().includes(provider)) return `${advice}.`;
  return `${advice}; to send it to the provider's own server, add -m ${formatModel(model)}.`;
}

/** Quotes a URL with signs of a shell, such as those of an address of IPv6, or of a session of others. */
function toShellWord(url: string): string {
  return /^[\w:/.@%+=,~-]+$/.test(url) ? url : `'${url.replaceAll("'", "'\\''")}'`;
}
