/**
 * A tool for tests that records its calls.
 *
 * @module
 */

import { checkFunction } from "../core/checks/check_function.ts";
import { checkMisspellings } from "../core/checks/check_names.ts";
import { checkNumber } from "../core/checks/check_number.ts";
import { checkObject } from "../core/checks/check_object.ts";
import { describeValue } from "../core/errors/describe_value.ts";
import { AbortedError, BadRequestError } from "../core/errors/errors.ts";
import type { JsonObject } from "../core/json/json.ts";
import type { AgentToolResult, ToolOutput } from "../core/messages/tool_result.ts";
import { realSleep, type Sleep } from "../core/ports/ports.ts";
import { checkTool } from "../core/tools/check_tool.ts";
import type { AgentTool, ToolContext } from "../core/tools/tool.ts";

/** One call of a {@linkcode FakeTool}. */
export interface FakeToolCall {
  /** Id of the tool call in the assistant message. */
  readonly toolCallId: string;
  /** The validated arguments. */
  readonly arguments: JsonObject;
  /** The context that the tool was called with. */
  readonly context: ToolContext;
  /** `cancelled` if the signal fired first and the tool does not ignore it. */
  readonly state: "running" | "finished" | "failed" | "cancelled";
}

/** A tool that records its calls. */
export interface FakeTool extends AgentTool {
  /** The calls so far, in the order in which they started. */
  readonly calls: readonly FakeToolCall[];
  /** The largest number of calls that ran at the same time. */
  readonly maxConcurrent: number;
}

/**
 * Result of a fake tool: a text, a tool result or another JSON value, an error to throw, or a function that returns one of
 * them.
 */
export type FakeToolResult =
  | FakeToolOutput
  | ((args: JsonObject, context: ToolContext) => FakeToolOutput | Promise<FakeToolOutput>);

/** Return value of the function form of {@linkcode FakeToolResult}; an error is thrown. */
export type FakeToolOutput = ToolOutput | Error;

/** Options for {@linkcode fakeTool}: properties of the tool, and its behaviour. */
export interface FakeToolOptions extends Partial<Omit<AgentTool, "execute">> {
  /** Name by which the model calls it. */
  readonly name: string;
  /** Duration of a call in milliseconds; with `Infinity`, it ends only when it is cancelled. Default: 0. */
  readonly delayMs?: number | undefined;
  /** Result of each call. Default: `"ok"`. */
  readonly result?: FakeToolResult | undefined;
  /** Whether calls continue when their signal fires. Default: `false`. */
  readonly ignoresSignal?: boolean | undefined;
  /** Port: waits. Default: `setTimeout`. */
  readonly sleep?: Sleep | undefined;
}

/** The options that are no properties of the tool. */
const BEHAVIOR: readonly string[] = ["delayMs", "result", "ignoresSignal", "sleep"];

/**
 * Creates a tool that accepts any arguments, returns a fixed or computed result, and records its calls.
 *
 * @throws {BadRequestError} If the name is missing, or another option is invalid or misspelled.
 *
 * @example
 * ```ts
 * import { fakeTool } from "@swink/agent/testing";
 *
 * const slow = fakeTool({ name: "slow", delayMs: 50, result: "done" });
 * const broken = fakeTool({ name: "broken", result: new Error("no such file") });
 * const stuck = fakeTool({ name: "stuck", delayMs: Infinity, ignoresSignal: true });
 * ```
 */
export function fakeTool(options: FakeToolOptions): FakeTool {
  checkObject(options, 'Pass options with a name, such as { name: "search" }');
  const { delayMs = 0, result = "ok", ignoresSignal = false, sleep = realSleep, ...own } = options;
  const { name, description = `The fake tool ${name}.`, parameters = { type: "object" } } = own;
  const subject = `the fake tool ${describeValue(name)}`;
  checkMisspellings(options, BEHAVIOR, subject);
  // One of a real tool, whose properties are copied, is replaced by the result.
  if ("execute" in options && options.execute !== undefined && !("result" in options)) {
    throw new BadRequestError(`Unknown option "execute" of ${subject}: did you mean result?`);
  }
  checkNumber(`delayMs of ${subject}`, delayMs);
  checkFunction(`sleep of ${subject}`, sleep);
  const recorder = new CallRecorder();
  const execute = async (args: JsonObject, context: ToolContext): Promise<FakeToolOutput> => {
    if (delayMs > 0) await sleep(delayMs, ignoresSignal ? undefined : context.signal);
    if (context.signal.aborted && !ignoresSignal) throw new AbortedError("The tool was cancelled");
    return typeof result === "function" ? await result(args, context) : result;
  };
  const tool: FakeTool = {
    ...own,
    description,
    parameters,
    calls: recorder.calls,
    get maxConcurrent(): number {
      return recorder.maxConcurrent;
    },
    // Like the tools of `defineTool()`, it may return any JSON value.
    execute: (args, context) =>
      recorder.run(args, context, execute) as Promise<AgentToolResult | string>,
  };
  checkTool(tool);
  return tool;
}

type Mutable<Value> = { -readonly [Key in keyof Value]: Value[Key] };

class CallRecorder {
  readonly calls: Mutable<FakeToolCall>[] = [];
  maxConcurrent = 0;

  async run(
    args: JsonObject,
    context: ToolContext,
    execute: (args: JsonObject, context: ToolContext) => Promise<FakeToolOutput>,
  ): Promise<ToolOutput> {
    const { toolCallId } = context;
    const call: Mutable<FakeToolCall> = { toolCallId, arguments: args, context, state: "running" };
    this.calls.push(call);
    const running = this.calls.filter(({ state }) => state === "running").length;
    this.maxConcurrent = Math.max(this.maxConcurrent, running);
    try {
      const output = await execute(args, context);
      if (output instanceof Error) throw output;
      call.state = "finished";
      return output;
    } catch (error) {
      call.state = error instanceof AbortedError ? "cancelled" : "failed";
      throw error;
    }
  }
}
