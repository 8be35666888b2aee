/**
 * The process in which one call of an isolated tool runs. It is started with the permissions of that tool and no others.
 *
 * @module
 */

import { isJsonObject } from "../../core/json.ts";
import { type AgentTool, textResult } from "../../core/tool.ts";
import {
  ANSWER_MARK,
  type IsolatedAnswer,
  type IsolatedDescription,
  type IsolatedRequest,
} from "./isolated_protocol.ts";

/** Answers the one request on the standard input with what the tool does, and ends the process. */
export async function serveIsolatedTool(
  load: () => Promise<{ readonly default?: unknown }>,
): Promise<never> {
  try {
    const request: IsolatedRequest = JSON.parse(await readInput());
    say(await answer((await load()).default, request));
  } catch (error) {
    say({ type: "error", message: wordsOf(error) });
  }
  // Timers and sockets that the tool left open shall not keep its process.
  Deno.exit(0);
}

async function answer(exported: unknown, request: IsolatedRequest): Promise<IsolatedAnswer> {
  if (!isTool(exported)) {
    return {
      type: "error",
      message: "The module's default export is no tool: export a defineTool()",
    };
  }
  if (request.type === "describe") return { type: "description", description: describe(exported) };
  const { toolCallId, idempotencyKey } = request;
  const result = await exported.execute(request.arguments, {
    toolCallId,
    idempotencyKey,
    signal: new AbortController().signal,
    onUpdate: (update) => say({ type: "update", update }),
  });
  return { type: "result", result: typeof result === "string" ? textResult(result) : result };
}

function isTool(value: unknown): value is AgentTool {
  return isJsonObject(value) && typeof value.name === "string" &&
    typeof value.execute === "function";
}

function describe(
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

function say(answer: IsolatedAnswer): void {
  const bytes = new TextEncoder().encode(`\n${ANSWER_MARK}${JSON.stringify(answer)}\n`);
  for (let at = 0; at < bytes.length;) at += Deno.stdout.writeSync(bytes.subarray(at));
}

async function readInput(): Promise<string> {
  return await new Response(Deno.stdin.readable).text();
}

function wordsOf(error: unknown): string {
  const words = error instanceof Error ? error.message : String(error);
  return error instanceof Deno.errors.NotCapable
    ? `The tool was not granted this: ${words.replace(/, run again with .*$/, "")}`
    : words;
}
