/**
 * The tools of servers as tools of an agent.
 *
 * @module
 */

import { AuthError, getErrorMessage, NetworkError } from "../../core/errors.ts";
import type { JsonObject } from "../../core/json.ts";
import type { AgentTool, SideEffect, ToolContext } from "../../core/tool.ts";
import { type AgentToolResult, errorResult } from "../../core/tool_result.ts";
import type { McpServerOptions } from "../config/options.ts";
import type { ProtocolProgress } from "../protocol/client_package.ts";
import type { ServerTool } from "../protocol/server_lists.ts";
import { isUnauthorized } from "../server/open_session.ts";
import type { ServerConnection } from "../server/server_connection.ts";
import type { Session } from "../server/session.ts";
import { createToolName } from "./tool_names.ts";
import { toToolResult } from "./to_tool_result.ts";

/** Creates a tool that calls a tool of a server. */
export function createServerTool(
  connection: ServerConnection,
  tool: ServerTool,
  options: McpServerOptions,
): AgentTool {
  const { trustAnnotations = false, requiresApproval } = options;
  const { title, readOnlyHint = false, idempotentHint = false } = tool.annotations ?? {};
  const readOnly = trustAnnotations && readOnlyHint;
  const sideEffect: SideEffect = readOnly
    ? "none"
    : trustAnnotations && idempotentHint
    ? "idempotent"
    : "once";
  const { timeoutMs } = connection;
  return {
    name: createToolName(connection.name, tool.name),
    label: `${tool.title ?? title ?? tool.name} (${connection.name})`,
    description: tool.description ?? tool.title ?? tool.name,
    parameters: tool.inputSchema,
    readOnly,
    requiresApproval: requiresApproval ?? !readOnly,
    sideEffect,
    ...(timeoutMs !== undefined && { timeoutMs }),
    execute: (args, context) => new ServerToolCall(connection, tool).execute(args, context),
  };
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
      return await this.#callOnce(session, args, context);
    } catch (error) {
      context.signal.throwIfAborted();
      return errorResult(getErrorMessage(error));
    }
  }

  /** Calls the tool, again only if the server has certainly not executed the call. */
  async #callOnce(
    session: Session,
    args: JsonObject,
    context: ToolContext,
  ): Promise<AgentToolResult> {
    try {
      return await this.#call(session, args, context);
    } catch (error) {
      if (!isSessionUnknown(error)) throw this.#toCallError(error, session);
      await this.#connection.restart();
      const restarted = await this.#connection.getSession(context.signal);
      return await this.#call(restarted, args, context);
    }
  }

  async #call(session: Session, args: JsonObject, context: ToolContext): Promise<AgentToolResult> {
    const { signal, onUpdate } = context;
    const onProgress = (progress: ProtocolProgress) => onUpdate(formatProgress(progress));
    const call = { tool: this.#tool, arguments: args, signal, onProgress };
    return await toToolResult(await session.callTool(call), this.#tool);
  }

  #toCallError(error: unknown, session: Session): unknown {
    const subject = `The MCP server "${this.#connection.name}"`;
    if (isUnauthorized(error)) {
      void this.#connection.restart(); // The user authorizes this program again.
      return new AuthError(`${subject} requires an authorization by the user. Try again later`);
    }
    if (!session.isClosed) return error;
    return new NetworkError(
      `${subject} ended during the call, which may have been executed or not`,
    );
  }
}

/** Whether a server over HTTP has rejected a request, because it no longer knows the session. */
function isSessionUnknown(error: unknown): boolean {
  return error instanceof Error && "status" in error && error.status === 404;
}

function formatProgress({ progress, total, message }: ProtocolProgress): string {
  const amount = total === undefined ? `${progress}` : `${progress} of ${total}`;
  return message === undefined ? amount : `${message} (${amount})`;
}
