/**
 * Faults of tools.
 *
 * @module
 */

import type { JsonObject } from "../core/json/json.ts";
import { toToolResult } from "../core/messages/to_tool_result.ts";
import { type AgentToolResult, textResult } from "../core/messages/tool_result.ts";
import type { Sleep } from "../core/ports/ports.ts";
import { replaceExecute } from "../core/tools/replace_execute.ts";
import type { AgentTool, ToolContext } from "../core/tools/tool.ts";
import { type FaultPlan, type PlannedFault, TOOL_FAULTS } from "./chaos_plan.ts";

/** Options for {@linkcode wrapToolWithFaults}. */
export interface FaultyToolOptions {
  readonly plan: FaultPlan;
  /** Delay of slow calls in milliseconds. */
  readonly delayMs: number;
  readonly sleep: Sleep;
}

type ToolFault = (typeof TOOL_FAULTS)[number];

/** Wraps a tool, and injects the faults that a plan selects for its calls. */
export function wrapToolWithFaults<Context>(
  tool: AgentTool<Context>,
  { plan, delayMs, sleep }: FaultyToolOptions,
): AgentTool<Context> {
  let count = 0;
  // By the number of its call: calls at the same time end in any order, and a seed must give the same results again.
  let previous: { readonly call: number; readonly result: AgentToolResult } | undefined;
  const runCall = async (call: number, args: JsonObject, context: ToolContext<Context>) => {
    const result = toToolResult(await tool.execute(args, context));
    if (!previous || previous.call < call) previous = { call, result };
    return result;
  };
  return replaceExecute(tool, async (args, context) => {
    const call = ++count;
    const run = () => runCall(call, args, context);
    const target = plan.nextTarget(`${tool.name} call`);
    const planned = plan.select(target, TOOL_FAULTS);
    if (!planned) return await run();
    plan.record(planned.fault, target);
    const last = previous?.result;
    return await inject(planned, {
      run,
      wait: () => sleep(delayMs, context.signal),
      last,
    });
  });
}

interface FaultyCall {
  readonly run: () => Promise<AgentToolResult>;
  readonly wait: () => Promise<void>;
  /** Result of the previous call. */
  readonly last: AgentToolResult | undefined;
}

async function inject(
  { fault, random }: PlannedFault<ToolFault>,
  { run, wait, last }: FaultyCall,
): Promise<AgentToolResult> {
  switch (fault) {
    case "slow_tool":
      await wait();
      return await run();
    case "failing_tool":
      if (random() < 0.5) await run();
      throw new Error("Chaos: connection reset");
    case "lying_tool": {
      const lie = random();
      if (lie < 0.25) return textResult("ok");
      const result = await run();
      if (lie < 0.5) return textResult("");
      return lie < 0.75 && last ? last : halve(result);
    }
  }
}

function halve({ content, ...result }: AgentToolResult): AgentToolResult {
  return {
    ...result,
    content: content.map((block) =>
      block.type === "text"
        ? { ...block, text: block.text.slice(0, Math.floor(block.text.length / 2)).toWellFormed() }
        : block
    ),
  };
}
