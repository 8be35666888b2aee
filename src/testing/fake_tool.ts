/**
 * A tool that does nothing, in the way a test wants it.
 *
 * @module
 */

import { AbortedError } from "../core/errors.ts";
import type { JsonObject } from "../core/json.ts";
import type { AgentTool, AgentToolResult, ToolContext } from "../core/tool.ts";
import { realSleep, type Sleep } from "../core/ports.ts";

/** One call of a {@linkcode FakeTool}. */
export interface FakeToolCall {
  /** Id of the call. */
  readonly toolCallId: string;
  /** The arguments that ran. */
  readonly arguments: JsonObject;
  /** What the tool was given besides. */
  readonly context: ToolContext;
  /** How far it is: a tool that heeds its signal ends as `cancelled` when it fires. */
  readonly state: "running" | "finished" | "failed" | "cancelled";
}

/** A tool that remembers its calls. */
export interface FakeTool extends AgentTool {
  /** The calls, in the order in which they started. */
  readonly calls: readonly FakeToolCall[];
  /** How many of them ran at the same time, at most. */
  readonly maxConcurrent: number;
}

/** What a fake tool answers: a text, a result, an error to throw, or a function that makes one of them. */
export type FakeToolResult =
  | string
  | AgentToolResult
  | Error
  | ((args: JsonObject, context: ToolContext) => FakeToolOutput | Promise<FakeToolOutput>);

/** What the function of a {@linkcode FakeToolResult} gives. */
export type FakeToolOutput = string | AgentToolResult | Error;

/** What {@linkcode fakeTool} takes: any property of a tool, and how it behaves. */
export interface FakeToolOptions extends Partial<Omit<AgentTool, "execute">> {
  /** Name by which the model calls it. */
  readonly name: string;
  /** Milliseconds that a call takes; `Infinity` for one that never ends by itself. Default: 0. */
  readonly delayMs?: number;
  /** What it answers. Default: `"ok"`. */
  readonly result?: FakeToolResult;
  /** Whether it goes on when its signal fires. Default: `false`. */
  readonly ignoresSignal?: boolean;
  /** How it waits. Default: by the real clock. */
  readonly sleep?: Sleep;
}

/**
 * Makes a tool that takes any arguments, answers what it is told to, and remembers its calls.
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
  const { delayMs = 0, result = "ok", ignoresSignal = false, sleep = realSleep, ...tool } = options;
  const record = new CallRecorder();
  const answer = async (args: JsonObject, context: ToolContext): Promise<FakeToolOutput> => {
    if (delayMs > 0) await sleep(delayMs, ignoresSignal ? undefined : context.signal);
    if (context.signal.aborted && !ignoresSignal) throw new AbortedError("The tool was cancelled");
    return typeof result === "function" ? await result(args, context) : result;
  };
  return {
    description: `The fake tool ${options.name}.`,
    parameters: { type: "object" },
    ...tool,
    calls: record.calls,
    get maxConcurrent(): number {
      return record.maxConcurrent;
    },
    execute: (args, context) => record.run(args, context, answer),
  };
}

type Mutable<Value> = { -readonly [Key in keyof Value]: Value[Key] };

class CallRecorder {
  readonly calls: Mutable<FakeToolCall>[] = [];
  maxConcurrent = 0;

  async run(
    args: JsonObject,
    context: ToolContext,
    answer: (args: JsonObject, context: ToolContext) => Promise<FakeToolOutput>,
  ): Promise<string | AgentToolResult> {
    const { toolCallId } = context;
    const call: Mutable<FakeToolCall> = { toolCallId, arguments: args, context, state: "running" };
    this.calls.push(call);
    const running = this.calls.filter(({ state }) => state === "running").length;
    this.maxConcurrent = Math.max(this.maxConcurrent, running);
    try {
      const answered = await answer(args, context);
      if (answered instanceof Error) throw answered;
      call.state = "finished";
      return answered;
    } catch (thrown) {
      call.state = thrown instanceof AbortedError ? "cancelled" : "failed";
      throw thrown;
    }
  }
}
