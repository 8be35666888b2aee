/**
 * The tools of servers as tools of an agent.
 *
 * @module
 */

import type { RiskClass } from "../../core/approval/risk.ts";
import { AuthError, NetworkError } from "../../core/errors/errors.ts";
import type { JsonObject } from "../../core/json/json.ts";
import { type AgentToolResult, errorResult } from "../../core/messages/tool_result.ts";
import type { AgentTool, ToolContext } from "../../core/tools/tool.ts";
import type { ProtocolProgress } from "../protocol/client_package.ts";
import type { ServerTool } from "../protocol/server_lists.ts";
import { isUnauthorized } from "../server/open_session.ts";
import type { ServerConnection } from "../server/server_connection.ts";
import { isSessionUnknown, type Session } from "../server/session.ts";
import { hasRejectedCredentials } from "../transport/token_fetch.ts";
import { toToolResult } from "./to_tool_result.ts";
import { createToolName } from "./tool_names.ts";

/** Maximum number of characters of a message about the progress of a call. */
const MAX_PROGRESS = 1_000;

/** Options for {@linkcode createServerTool}. */
export interface ServerToolOptions {
  /** Whether the program knows that the tool changes nothing. */
  readonly readOnly: boolean;
}

/**
 * Creates a tool that calls a tool of a server. A call requires approval and must not be repeated, unless the program knows
 * that the tool is read-only. It has the highest risk class, `network`, unless the server is a program without network,
 * which executes only. The hints of the server are not trusted: one that it reaches other systems raises the class, and
 * none lowers it.
 */
export function createServerTool(
  connection: ServerConnection,
  tool: ServerTool,
  { readOnly }: ServerToolOptions,
): AgentTool {
  const title = tool.title ?? tool.annotations?.title ?? tool.name;
  return {
    name: createToolName(connection.name, tool.name),
    label: `${title} (${connection.name})`,
    description: tool.description ?? title,
    parameters: tool.inputSchema,
    readOnly,
    requiresApproval: !readOnly,
    risk: readOnly ? "read" : () => getServerRisk(connection, tool),
    sideEffect: readOnly ? "none" : "once",
    timeoutMs: connection.timeoutMs,
    traceAttributes: () => connection.traceAttributes,
    execute: (args, context) => new ServerToolCall(connection, tool).execute(args, context),
  };
}

function getServerRisk({ isOffline }: ServerConnection, { annotations }: ServerTool): RiskClass {
  return isOffline && annotations?.openWorldHint !== true ? "execute" : "network";
}

/** One call of a tool. */
class ServerToolCall {
  readonly #connection: ServerConnection;
  readonly #tool: ServerTool;

  constructor(connection: ServerConnection, tool: ServerTool) {
    this.#connection = connection;
    this.#tool = tool;
  }

  async execute(args: JsonObject, context: ToolContext): Promise<AgentToolResult> {
    try {
      const session = await this.#connection.getSession(context.signal);
      return await this.#callInSession(session, args, context);
    } catch (error) {
      context.signal.throwIfAborted();
      return errorResult(this.#connection.describeFailure(error));
    }
  }

  /** Calls the tool, again only if the server has certainly not executed the call. */
  async #callInSession(
    session: Session,
    args: JsonObject,
    context: ToolContext,
  ): Promise<AgentToolResult> {
    try {
      return await this.#call(session, args, context);
    } catch (error) {
      if (!isSessionUnknown(error, session)) throw this.#toCallError(error, session);
      const other = await this.#connection.replaceSession(session, context.signal);
      return await this.#call(other, args, context);
    }
  }

  async #call(session: Session, args: JsonObject, context: ToolContext): Promise<AgentToolResult> {
    const { signal, onUpdate, traceHeaders, pauseTimeout } = context;
    const onProgress = (progress: ProtocolProgress) => onUpdate(formatProgress(progress));
    const result = await session.callTool({
      tool: this.#tool,
      arguments: args,
      traceHeaders,
      signal,
      onProgress,
      pauseTimeout,
    });
    return this.#redactError(await toToolResult(result, this.#tool));
  }

  /** Removes secrets of the configuration, which a server may repeat when it refuses them, from an error result. */
  #redactError(result: AgentToolResult): AgentToolResult {
    if (!result.isError) return result;
    const redact = (text: string) => this.#connection.redact(text);
    const content = result.content.map((block) =>
      block.type === "text" ? { ...block, text: redact(block.text) } : block
    );
    const { details } = result;
    if (details === undefined) return { ...result, content };
    const redacted: unknown = JSON.parse(
      JSON.stringify(details),
      (_name, value) => typeof value === "string" ? redact(value) : value,
    );
    return { ...result, content, details: redacted };
  }

  #toCallError(error: unknown, session: Session): unknown {
    const subject = `The MCP server "${this.#connection.name}"`;
    if (isUnauthorized(error) || hasRejectedCredentials(error)) {
      // Where the user was sent to the authorization server, the session continues after that.
      if (!session.isRefused) void this.#connection.restartAfter(session);
      return new AuthError(`${subject} requires an authorization by the user. Try again later`);
    }
    if (!session.isClosed) return error;
    return new NetworkError(
      `${subject} ended during the call, which may have been executed or not`,
    );
  }
}

function formatProgress({ progress, total, message }: ProtocolProgress): string {
  const amount = total === undefined ? `${progress}` : `${progress} of ${total}`;
  return message === undefined ? amount : `${message.slice(0, MAX_PROGRESS)} (${amount})`;
}
