/**
 * Several ways of changing a request, one after the other.
 *
 * @module
 */

import type { CompactionReport, TransformContext } from "../../core/context.ts";
import type { AgentMessage } from "../../core/message.ts";
import { addCost, addUsage } from "../../core/usage.ts";

/**
 * A `transformContext` that hands what one transform gives to the next. Their reports become one.
 *
 * @example
 * ```ts
 * import { composeTransforms, slidingWindow } from "@swink/agent/memory";
 *
 * const transformContext = composeTransforms(
 *   (messages) => messages.filter((message) => message.role !== "custom"),
 *   slidingWindow({ contextWindow: 200_000 }),
 * );
 * ```
 */
export function composeTransforms(...transforms: readonly TransformContext[]): TransformContext {
  return async (given, input) => {
    let messages = given;
    let report: CompactionReport | undefined;
    for (const transform of transforms) {
      const output = await transform(messages, input);
      messages = isMessageList(output) ? output : output.messages;
      if (!isMessageList(output)) report = mergeReports(report, output.report);
    }
    return report ? { messages, report } : messages;
  };
}

function isMessageList(
  output: Awaited<ReturnType<TransformContext>>,
): output is readonly AgentMessage[] {
  return Array.isArray(output);
}

function mergeReports(
  first: CompactionReport | undefined,
  second: CompactionReport | undefined,
): CompactionReport | undefined {
  if (!first || !second) return first ?? second;
  const dropped = [...first.droppedMessages ?? [], ...second.droppedMessages ?? []];
  const usage = first.usage && second.usage && addUsage(first.usage, second.usage);
  const cost = first.cost && second.cost && addCost(first.cost, second.cost);
  return {
    ...first,
    ...second,
    droppedCount: first.droppedCount + second.droppedCount,
    tokensBefore: first.tokensBefore,
    ...(dropped.length > 0 && { droppedMessages: dropped }),
    ...(usage && { usage }),
    ...(cost && { cost }),
  };
}
