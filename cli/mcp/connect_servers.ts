/**
 * The MCP servers of a run.
 *
 * @module
 */

import type { AgentTool } from "../../mod.ts";
import {
  connectMcp,
  type McpConnection,
  type McpElicit,
  type McpOptions,
} from "../../src/mcp/mod.ts";
import type { Host } from "../host/host.ts";
import { importLate } from "../host/import_late.ts";
import { VERSION } from "../host/version.ts";
import type { ElicitationQuestions } from "./ask_elicitation.ts";
import { describeMissingClient } from "./client_check.ts";
import { readServers, type ServerSources } from "./server_files.ts";

/** Maximum number of problems that are kept until they are shown; a server could cause them without end. */
const MAX_WARNINGS = 100;

/** Maximum time to wait for servers to start; they start in any case. */
const WAIT_MS = 5_000;

/** Options for `connectServers()`. */
export interface ServerOptions extends ServerSources {
  /** Starts the programs of servers. */
  readonly sandbox: NonNullable<McpOptions["sandbox"]>;
  /** Ends the wait for servers that start. */
  readonly signal?: AbortSignal | undefined;
  /** Returns the questions for data that a server requests. Default: it is declined. */
  readonly getQuestions?: (() => Promise<ElicitationQuestions>) | undefined;
}

/** The connected servers. */
export interface ConnectedServers extends AsyncDisposable {
  /** The connection. */
  readonly connection: McpConnection;
  /** The tools at the start of the run. */
  readonly tools: readonly AgentTool[];
  /** Returns the problems of servers since the last call, as sentences without a full stop. */
  takeWarnings(): readonly string[];
}

/**
 * Connects to the configured servers; `undefined` if there are none. A server that does not start is a warning, as is
 * a missing package, without which none starts.
 *
 * @throws {ConfigurationError} If a file is invalid.
 */
export async function connectServers(
  { sandbox, signal, getQuestions, ...sources }: ServerOptions,
  { env, fetch }: Pick<Host, "env" | "fetch">,
): Promise<ConnectedServers | undefined> {
  const { config, environment, problems } = await readServers(sources, env);
  const waiting = new Set(Object.keys(config.mcpServers ?? {}));
  if (waiting.size + problems.length === 0) return undefined;
  const missing = describeMissingClient();
  if (missing !== undefined) waiting.clear();
  const warnings = [...(missing === undefined ? [] : [missing]), ...problems];
  const report = (warning: string) => {
    const isNew = warnings.length < MAX_WARNINGS && !warnings.includes(warning);
    if (isNew) warnings.push(warning);
  };
  const started = Promise.withResolvers<void>();
  if (waiting.size === 0) started.resolve();
  const connection = await connectMcp(missing === undefined ? config : { mcpServers: {} }, {
    sandbox,
    // The wait below ends with the run.
    waitMs: 0,
    onStatus({ name, state }) {
      if (state.type !== "starting") waiting.delete(name);
      if (waiting.size === 0) started.resolve();
    },
    environment,
    fetch,
    clientInfo: { name: "swink", version: VERSION },
    onElicitation: createElicit(getQuestions, report),
    onWarning: ({ server, message }) => report(`MCP server ${server}: ${message}`),
  });
  await Promise.race([started.promise, untilStopped(signal)]);
  for (const { name, state } of connection.servers) {
    if (state.type === "ready") continue;
    const reason = "reason" in state ? state.reason : "it has not started yet";
    report(`MCP server ${name}: ${reason}`);
  }
  return {
    connection,
    tools: connection.tools,
    takeWarnings: () => warnings.splice(0),
    [Symbol.asyncDispose]: () => connection[Symbol.asyncDispose](),
  };
}

/** Waits until the time is over or the signal is aborted. */
function untilStopped(signal: AbortSignal | undefined): Promise<void> {
  const stop = AbortSignal.any([AbortSignal.timeout(WAIT_MS), ...(signal ? [signal] : [])]);
  return new Promise((resolve) => {
    if (stop.aborted) resolve();
    else stop.addEventListener("abort", () => resolve(), { once: true });
  });
}

/** Creates the function that answers the requests of servers for data, whose code is loaded for the first one. */
function createElicit(
  getQuestions: ServerOptions["getQuestions"],
  report: (warning: string) => void,
): McpElicit {
  return async (request) => {
    if (!getQuestions) {
      report(
        `MCP server ${request.server} asked for data, which was declined: this run is not interactive`,
      );
      return { type: "declined" };
    }
    const { askElicitation } = await importLate<typeof import("./ask_elicitation.ts")>(
      "./ask_elicitation.ts",
      import.meta.url,
    );
    const { answer, problem } = await askElicitation(request, await getQuestions());
    if (problem !== undefined) report(problem);
    return answer;
  };
}
