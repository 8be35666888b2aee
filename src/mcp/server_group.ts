/**
 * The servers of a configuration, and their tools.
 *
 * @module
 */

import { BadRequestError, getErrorMessage, NetworkError } from "../core/errors/errors.ts";
import type { Policy } from "../core/hooks/policy.ts";
import type { JsonObject } from "../core/json/json.ts";
import type { ContentBlock } from "../core/messages/content.ts";
import { resolvePorts } from "../core/ports/ports.ts";
import type { AgentTool } from "../core/tools/tool.ts";
import type { McpOptions, McpServerOptions } from "./config/options.ts";
import type { ParsedServer } from "./config/parse_config.ts";
import type { NamedServer } from "./config/resolve_server.ts";
import type { McpServerStatus } from "./config/status.ts";
import type {
  McpConnection,
  McpPrompt,
  McpPromptRequest,
  McpPromptResult,
  McpRequestOptions,
  McpResource,
  McpResourceRequest,
  McpResourceTemplate,
  McpToolSelection,
} from "./connection.ts";
import { limitReports } from "./limit_reports.ts";
import { importClientPackage } from "./protocol/client_package.ts";
import type {
  ServerPrompt,
  ServerPromptMessage,
  ServerResource,
  ServerResourceContents,
  ServerResourceTemplate,
} from "./protocol/server_lists.ts";
import { ServerConnection } from "./server/server_connection.ts";
import { isSessionUnknown, type ListMethod, type Session } from "./server/session.ts";
import { type AttachedAgent, AttachedAgents } from "./tools/attached_agents.ts";
import { toContentBlocks, toResourceBlocks } from "./tools/to_content_blocks.ts";
import { ToolCollection } from "./tools/tool_collection.ts";
import { createToolSearchPolicy } from "./tools/tool_search.ts";

const START_TIMEOUT_MS = 60_000;
const MAX_MESSAGE_BYTES = 16 * 1024 * 1024;
/** The name and version that servers get by default. */
export const CLIENT_INFO = { name: "@swink/agent", version: "0.1.0" };

/** The servers of a configuration. */
export class ServerGroup implements McpConnection {
  readonly policy: Policy;
  readonly #options: McpOptions;
  readonly #servers: ReadonlyMap<string, ServerConnection>;
  readonly #tools: ToolCollection;
  readonly #agents = new AttachedAgents();

  /** Creates connections to servers that are not started yet. */
  constructor(servers: ReadonlyMap<string, ParsedServer>, options: McpOptions) {
    this.#options = options;
    this.#servers = new Map(
      Array.from(servers, ([name, server]) => [name, this.#createServer({ name, server })]),
    );
    this.#tools = new ToolCollection(
      Array.from(this.#servers.values(), (connection) => ({
        connection,
        options: this.#getServerOptions(connection.name),
      })),
      (server, { name }) => void this.#warn(server, `has two tools with the name ${name}`),
    );
    this.policy = createToolSearchPolicy((tool) => this.#tools.has(tool));
  }

  /** Starts the servers. Resolves when all of them have started or failed. */
  async start(): Promise<void> {
    await Promise.all(this.#list().map((server) => server.start()));
  }

  get tools(): readonly AgentTool[] {
    return this.#tools.tools;
  }

  get servers(): readonly McpServerStatus[] {
    return this.#list().map((server) => this.#getStatus(server));
  }

  attach(
    agent: AttachedAgent,
    select: McpToolSelection = (tools) => tools,
  ): () => void {
    const update = () => {
      const own = agent.state.tools.filter((tool) => !this.#tools.has(tool));
      const names = new Set(own.map(({ name }) => name));
      agent.setTools([...own, ...select(this.tools).filter(({ name }) => !names.has(name))]);
    };
    update();
    return this.#agents.add(agent, update);
  }

  async listPrompts(options: McpRequestOptions = {}): Promise<readonly McpPrompt[]> {
    return await this.#listAll<ServerPrompt>("prompts/list", options);
  }

  async getPrompt(
    { server, name, arguments: args = {} }: McpPromptRequest,
    options: McpRequestOptions = {},
  ): Promise<McpPromptResult> {
    const params = { name, arguments: args };
    const result = await this.#request(server, { method: "prompts/get", params }, options);
    const { description, messages = [] } = result;
    return {
      ...(typeof description === "string" && { description }),
      messages: (messages as readonly ServerPromptMessage[]).map(({ role, content }) => ({
        role,
        content: toContentBlocks([content]),
      })),
    };
  }

  async listResources(options: McpRequestOptions = {}): Promise<readonly McpResource[]> {
    return await this.#listAll<ServerResource>("resources/list", options);
  }

  async listResourceTemplates(
    options: McpRequestOptions = {},
  ): Promise<readonly McpResourceTemplate[]> {
    return await this.#listAll<ServerResourceTemplate>("resources/templates/list", options);
  }

  async readResource(
    { server, uri }: McpResourceRequest,
    options: McpRequestOptions = {},
  ): Promise<readonly ContentBlock[]> {
    const request = { method: "resources/read", params: { uri } };
    const { contents = [] } = await this.#request(server, request, options);
    return toResourceBlocks(contents as readonly ServerResourceContents[]);
  }

  async restart(server: string): Promise<void> {
    await this.#getServer(server).restart();
  }

  async close(): Promise<void> {
    this.#agents.clear();
    await Promise.all(this.#list().map((server) => server.close()));
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #list(): readonly ServerConnection[] {
    return [...this.#servers.values()];
  }

  #createServer(server: NamedServer): ServerConnection {
    const { name } = server;
    const { environment = {}, onElicitation, clientInfo = CLIENT_INFO, clientPackage } =
      this.#options;
    const { startTimeoutMs = START_TIMEOUT_MS, maxMessageBytes = MAX_MESSAGE_BYTES } =
      this.#options;
    const { sandbox = this.#options.sandbox, oauth } = this.#getServerOptions(name);
    const connection: ServerConnection = new ServerConnection(server, {
      environment,
      sandbox,
      oauth,
      onElicitation,
      clientInfo,
      startTimeoutMs,
      maxMessageBytes,
      clock: resolvePorts(this.#options),
      fetch: this.#options.fetch ?? ((input, init) => fetch(input, init)),
      loadClientPackage: () =>
        clientPackage ? Promise.resolve(clientPackage) : importClientPackage(),
      report: limitReports((problem) => void this.#warn(name, problem)),
      onChange: () => this.#onChange(connection),
    });
    return connection;
  }

  #getServerOptions(name: string): McpServerOptions {
    const { servers = {} } = this.#options;
    return Object.hasOwn(servers, name) ? servers[name] ?? {} : {};
  }

  /** An observer that throws must not end the connection. */
  #onChange(server: ServerConnection): void {
    const updates = this.#tools.update() ? this.#agents.list() : [];
    const { onStatus } = this.#options;
    for (const notify of [...updates, () => onStatus?.(this.#getStatus(server))]) {
      void this.#notify(server, notify);
    }
  }

  /** Calls an observer, which may also be an async function that rejects. */
  async #notify({ name }: ServerConnection, notify: () => unknown): Promise<void> {
    try {
      await notify();
    } catch (error) {
      await this.#warn(
        name,
        `changed, which an observer failed to process: ${getErrorMessage(error)}`,
      );
    }
  }

  async #warn(server: string, problem: string): Promise<void> {
    try {
      const text = this.#servers.get(server)?.describeFailure(problem) ?? problem;
      await this.#options.onWarning?.({ server, message: `The MCP server "${server}" ${text}` });
    } catch {
      // There is no other way to report it.
    }
  }

  #getStatus(server: ServerConnection): McpServerStatus {
    return { ...server.status, tools: this.#tools.getNames(server.name) };
  }

  #getServer(name: string): ServerConnection {
    const server = this.#servers.get(name);
    if (server) return server;
    const names = [...this.#servers.keys()].join(", ") || "none";
    throw new BadRequestError(`There is no MCP server "${name}". Servers: ${names}`);
  }

  async #request(
    server: string,
    { method, params }: { readonly method: string; readonly params: JsonObject },
    { signal = new AbortController().signal }: McpRequestOptions,
  ): Promise<JsonObject> {
    const connection = this.#getServer(server);
    try {
      return await requestInSession(
        connection,
        signal,
        (session) => session.request(method, params, signal),
      );
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof NetworkError) throw error; // The server does not run.
      // The error of the client is not its cause: it has texts of the server, which may repeat secrets.
      throw new NetworkError(
        `The MCP server "${server}" failed to answer: ${connection.describeFailure(error)}`,
      );
    }
  }

  /** Returns the items of all servers that are ready; one that fails is reported as a warning. */
  async #listAll<Item extends object>(
    method: ListMethod,
    { signal = new AbortController().signal }: McpRequestOptions,
  ): Promise<readonly (Item & { readonly server: string })[]> {
    const ready = this.#list().filter(({ status }) => status.state.type === "ready");
    const lists = await Promise.all(ready.map(async (server) => {
      try {
        const items = await requestInSession(
          server,
          signal,
          (session) => session.list(method, signal),
        );
        // The transport has repaired them.
        return (items as readonly Item[]).map((item) => ({ ...item, server: server.name }));
      } catch (error) {
        signal.throwIfAborted();
        void this.#warn(server.name, `failed to list: ${getErrorMessage(error)}`);
        return [];
      }
    }));
    return lists.flat();
  }
}

/** Makes a request that changes nothing, once more if the server no longer knows the session. */
async function requestInSession<Result>(
  connection: ServerConnection,
  signal: AbortSignal,
  request: (session: Session) => Promise<Result>,
): Promise<Result> {
  const session = await connection.getSession(signal);
  try {
    return await request(session);
  } catch (error) {
    if (!isSessionUnknown(error, session)) throw error;
    return await request(await connection.replaceSession(session, signal));
  }
}
