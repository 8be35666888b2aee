/**
 * The process in which one call of an isolated tool runs. It is started with the permissions of that tool and no others.
 *
 * @module
 */

import { isJsonObject } from "../../core/json.ts";
import { type AgentTool, textResult } from "../../core/tool.ts";
import {
  type IsolatedDescription,
  type IsolatedRequest,
  type IsolatedResponse,
  RESPONSE_PREFIX,
} from "./isolated_protocol.ts";

/** Answers the one request on the standard input with what the tool does, and ends the process. */
export async function serveIsolatedTool(
  load: () => Promise<{ readonly default?: unknown }>,
): Promise<never> {
  try {
    const request: IsolatedRequest = JSON.parse(await readStdin());
    writeResponse(await handleRequest((await load()).default, request));
  } catch (error) {
    writeResponse({ type: "error", message: getErrorMessage(error) });
  }
  // Timers and sockets that the tool left open shall not keep its process.
  Deno.exit(0);
}

async function handleRequest(
  exported: unknown,
  request: IsolatedRequest,
): Promise<IsolatedResponse> {
  if (!isTool(exported)) {
    return {
      type: "error",
      message: "The module's default export is no tool: export a defineTool()",
    };
  }
  if (request.type === "describe") {
    return { type: "description", description: describeTool(exported) };
  }
  const { toolCallId, idempotencyKey } = request;
  const result = await exported.execute(request.arguments, {
    toolCallId,
    idempotencyKey,
    signal: new AbortController().signal,
    onUpdate: (update) => writeResponse({ type: "update", update }),
  });
  return { type: "result", result: typeof result === "string" ? textResult(result) : result };
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

function writeResponse(answer: IsolatedResponse): void {
  const bytes = new TextEncoder().encode(`\n${RESPONSE_PREFIX}${JSON.stringify(answer)}\n`);
  for (let at = 0; at < bytes.length;) at += Deno.stdout.writeSync(bytes.subarray(at));
}

async function readStdin(): Promise<string> {
  return await new Response(Deno.stdin.readable).text();
}

function getErrorMessage(error: unknown): string {
  const words = error instanceof Error ? error.message : String(error);
  return error instanceof Deno.errors.NotCapable
    ? `The tool was not granted this: ${words.replace(/, run again with .*$/, "")}`
    : words;
}
