// deno-lint-ignore-file swink/portable -- runs only in Deno

/**
 * Entry point of the process that runs one call of an isolated tool, with the permissions of that tool only.
 *
 * @module
 */

import { isJsonObject } from "../../core/json/json.ts";
import { toToolResult } from "../../core/messages/to_tool_result.ts";
import type { AgentTool } from "../../core/tools/tool.ts";
import {
  type IsolatedDescription,
  type IsolatedRequest,
  type IsolatedResponse,
  RESPONSE_PREFIX,
} from "./isolated_protocol.ts";

/** Handles the request on standard input, writes the responses to standard output and exits. */
export async function serveIsolatedTool(
  load: () => Promise<{ readonly default?: unknown }>,
): Promise<never> {
  try {
    const request: IsolatedRequest = JSON.parse(
      await new Response(Deno.stdin.readable).text(),
    );
    writeResponse(await handleRequest((await load()).default, request));
  } catch (error) {
    writeResponse({ type: "error", message: formatToolError(error) });
  }
  // Open timers and sockets of the tool must not keep the process running.
  Deno.exit(0);
}

async function handleRequest(
  exported: unknown,
  request: IsolatedRequest,
): Promise<IsolatedResponse> {
  if (!isTool(exported)) {
    return {
      type: "error",
      message: "The default export of the module is not a tool: export the result of defineTool()",
    };
  }
  if (request.type === "describe") {
    return { type: "description", description: describeTool(exported) };
  }
  const { toolCallId, idempotencyKey } = request;
  const runId = idempotencyKey.slice(0, idempotencyKey.lastIndexOf(":"));
  const result = await exported.execute(request.arguments, {
    toolCallId,
    idempotencyKey,
    runId,
    run: { runId, depth: 0, background: refuseBackground },
    turn: 0,
    context: undefined,
    messages: [],
    signal: new AbortController().signal,
    onUpdate: (update) => writeResponse({ type: "update", update }),
    onEvent: () => Promise.resolve(),
  });
  return { type: "result", result: toToolResult(result) };
}

function refuseBackground(): never {
  throw new TypeError("A tool in a process of its own starts no background work: the process ends");
}

function isTool(value: unknown): value is AgentTool {
  return isJsonObject(value) && typeof value.name === "string" &&
    typeof value.execute === "function";
}

function describeTool(
  { name, label, description, parameters, readOnly }: AgentTool,
): IsolatedDescription {
  return {
    name,
    description,
    parameters,
    ...(label !== undefined && { label }),
    ...(readOnly !== undefined && { readOnly }),
  };
}

function writeResponse(response: IsolatedResponse): void {
  const bytes = new TextEncoder().encode(`\n${RESPONSE_PREFIX}${JSON.stringify(response)}\n`);
  for (let offset = 0; offset < bytes.length;) {
    offset += Deno.stdout.writeSync(bytes.subarray(offset));
  }
}

function formatToolError(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  return error instanceof Deno.errors.NotCapable
    ? `The tool lacks a permission: ${message.replace(/, run again with .*$/, "")}`
    : message;
}
