/**
 * The action of `swink serve`.
 *
 * @module
 */

import type { Policy } from "../../mod.ts";
import { getErrorMessage } from "../../src/core/errors/errors.ts";
import { isLoopbackName } from "../../src/core/servers/local_caller.ts";
import { encodeHex } from "../../src/core/text/byte_encoding.ts";
import { FileSessionStore } from "../../src/memory/mod.ts";
import { sharedBudget } from "../../src/policies/mod.ts";
import {
  type AgentServer,
  type Authenticate,
  bearerTokens,
  createAgentServer,
} from "../../src/server/mod.ts";
import type { GivenOptions } from "../command_line/definition.ts";
import { CliError, ConfigurationError, UsageError } from "../host/cli_error.ts";
import { ExitCode } from "../host/exit_code.ts";
import type { Host } from "../host/host.ts";
import { InterruptHandler } from "../host/interrupt.ts";
import { createNoHomeError } from "../host/program_directories.ts";
import { toPlainText } from "../render/plain_text.ts";
import { chooseModel } from "../run/model/model_choice.ts";
import { openConnection } from "../run/model/model_connection.ts";
import { getProviders } from "../run/model/provider_options.ts";
import type { ProjectRunSettings } from "../run/settings/settings.ts";
import { startCommand } from "../run/start_command.ts";
import { getSessionDirectory } from "../sessions/session_directory.ts";
import { createDefaultOptions } from "../settings/default_options.ts";
import { RUN_OPTIONS, type RunOptions } from "../settings/run_options.ts";
import type { ServeOptions } from "../settings/serve_options.ts";
import { selectDirectory } from "./directory_store.ts";
import { explainTokenError, readTokens } from "./read_tokens.ts";
import { createServedAgents } from "./served_agent.ts";

const MAX_PORT = 65_535;

/** Serves sessions until a signal; `"demo"` if a user without a model wants to see that instead. */
export async function runServer(
  { options, given }: GivenOptions<ServeOptions>,
  systemHost: Host,
): Promise<ExitCode | "demo"> {
  const access = parseAccess(options);
  using interrupt = new InterruptHandler(systemHost);
  return await interrupt.catchInterruption(() =>
    serveUntilSignal({ options, given }, { access, interrupt }, systemHost)
  );
}

async function serveUntilSignal(
  { options, given }: GivenOptions<ServeOptions>,
  { access, interrupt }: { readonly access: Access; readonly interrupt: InterruptHandler },
  systemHost: Host,
): Promise<ExitCode | "demo"> {
  const { signal } = interrupt;
  const commandLine = { options: toRunOptions(options), given };
  const started = await startCommand(commandLine, { hasPrompt: true, interrupt, host: systemHost });
  if (started.type === "ended") return started.end;
  const { configured: { directories, options: configured }, host } = started;
  if (!directories) throw createNoHomeError("sessions");
  const project = await started.loadProject();
  const settings: ProjectRunSettings = { ...started.settings, project, session: { type: "none" } };
  await using connection = await openConnection(settings, host);
  // Before the server listens, so that a key command that fails is an error of the command.
  const models = [await chooseModel(settings, host), ...settings.fallbackModels ?? []];
  await getProviders(models, { ...settings, signal }, host);
  const warn = (warning: string) =>
    void host.terminal.messages.write(`warning: ${toPlainText(warning)}\n`);
  const store = new FileSessionStore({ directory: getSessionDirectory(directories) });
  const server = createAgentServer({
    store: selectDirectory(store, await Deno.realPath(settings.cwd)),
    createAgent: createServedAgents(settings, { connection, signal, store, onWarning: warn }, host),
    authenticate: access.authenticate,
    limits: createLimits(options.maxRuns, configured.maxBudgetUsd),
    allowedHosts: options.allowedHost,
    allowedOrigins: options.allowedOrigin,
    onError: (error) => warn(formatError(error)),
  });
  const listening = listen(server, options);
  await announce(listening.addr, { ...access, cwd: settings.cwd }, host);
  await untilAborted(signal);
  return await shutDown(server, { listening, timeoutMs: options.shutdownTimeout * 1000 }, host);
}

function formatError(error: unknown): string {
  const message = getErrorMessage(error);
  return error instanceof CliError && error.advice !== "" ? `${message}. ${error.advice}` : message;
}

/** The tokens of a server. */
interface Access {
  readonly authenticate: Authenticate;
  /** The token that was created for this start, if none was given. */
  readonly createdToken?: string;
}

/**
 * Checks who may call the server.
 *
 * @throws {UsageError} If other machines could call it without a token of the user.
 */
function parseAccess({ host, port, tokenFile, allowedOrigin = [] }: ServeOptions): Access {
  if (port > MAX_PORT) {
    throw new UsageError(`Invalid value "${port}" for --port: must be at most ${MAX_PORT}`);
  }
  for (const origin of allowedOrigin) checkOrigin(origin);
  if (tokenFile !== undefined) {
    const tokens = readTokens(tokenFile);
    try {
      return { authenticate: bearerTokens(tokens) };
    } catch (error) {
      throw explainTokenError(error, tokenFile);
    }
  }
  if (!isLoopbackName(host)) {
    throw new UsageError(
      `--host ${host} makes the server reachable from other machines: it requires --token-file`,
      "Write tokens to a file, such as: (umask 077; openssl rand -hex 32 > tokens.txt)",
    );
  }
  const createdToken = encodeHex(crypto.getRandomValues(new Uint8Array(32)));
  const token = { token: createdToken, mayReadMetrics: true };
  return { authenticate: bearerTokens([token]), createdToken };
}

function checkOrigin(origin: string): void {
  if (URL.canParse(origin) && new URL(origin).origin === origin) return;
  throw new UsageError(
    `Invalid value ${
      JSON.stringify(origin)
    } for --allowed-origin: must be an origin such as https://app.example.com`,
  );
}

/** Returns the options of a run; those that a server does not have are at their defaults. */
function toRunOptions(options: ServeOptions): RunOptions {
  return { ...createDefaultOptions(RUN_OPTIONS), ...options };
}

/** Returns the limits of a tenant, with one budget for all of its runs. */
function createLimits(
  concurrentRuns: number,
  cost: number | undefined,
): NonNullable<Parameters<typeof createAgentServer>[0]["limits"]> {
  if (cost === undefined) return { concurrentRuns };
  const budgets = new Map<string | undefined, Policy>();
  return ({ tenant }) => {
    const budget = budgets.get(tenant) ?? sharedBudget({ cost, preflight: true });
    budgets.set(tenant, budget);
    return { concurrentRuns, policies: [budget] };
  };
}

/**
 * Listens on the address.
 *
 * @throws {ConfigurationError} If that is not possible.
 */
function listen(
  server: AgentServer,
  { host: hostname, port }: ServeOptions,
): Deno.HttpServer<Deno.NetAddr> {
  try {
    return Deno.serve(
      { hostname, port, onListen() {} },
      (request, connection) => server.fetch(request, connection),
    );
  } catch (error) {
    throw new ConfigurationError(
      `Cannot listen on ${hostname} port ${port}: ${getListenProblem(error)}`,
      "Select another port with --port, or another address with --host.",
    );
  }
}

function getListenProblem(error: unknown): string {
  if (error instanceof Deno.errors.AddrInUse) return "the address is in use";
  if (error instanceof Deno.errors.PermissionDenied) return "permission denied";
  if (error instanceof Deno.errors.AddrNotAvailable) {
    return "this machine does not have the address";
  }
  return getErrorMessage(error);
}

async function announce(
  { hostname, port }: Deno.NetAddr,
  { createdToken, cwd }: Pick<Access, "createdToken"> & { readonly cwd: string },
  { terminal }: Host,
): Promise<void> {
  const url = `http://${hostname.includes(":") ? `[${hostname}]` : hostname}:${port}/`;
  await terminal.messages.write(`Serving the sessions of ${toPlainText(cwd)}\n`);
  if (!isLoopbackName(hostname)) {
    await terminal.messages.write(
      "warning: tokens and conversations are not encrypted on the network: use a reverse proxy with TLS\n",
    );
  }
  // The part after # is not sent to the server, and so in no log of a proxy.
  await terminal.output.write(
    `${url}${createdToken === undefined ? "" : `#token=${createdToken}`}\n`,
  );
}

function untilAborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => signal.addEventListener("abort", () => resolve()));
}

async function shutDown(
  server: AgentServer,
  { listening, timeoutMs }: { readonly listening: Deno.HttpServer; readonly timeoutMs: number },
  { terminal }: Host,
): Promise<ExitCode> {
  await terminal.messages.write("Shutting down: waiting for the active runs\n");
  const { handedOver } = await server.close({ timeoutMs });
  await listening.shutdown();
  if (handedOver > 0) {
    const runs = handedOver === 1 ? "1 run was" : `${handedOver} runs were`;
    await terminal.messages.write(`${runs} stopped, and can be continued\n`);
  }
  return ExitCode.ok;
}
