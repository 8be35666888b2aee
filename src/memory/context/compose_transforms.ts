/**
 * Runs several context transforms in sequence.
 *
 * @module
 */

import type { TransformContext } from "../../core/context.ts";
import type { CompactionReport } from "../../core/compaction_report.ts";
import type { AgentMessage } from "../../core/message.ts";
import { addCost, addUsage, zeroCost, zeroUsage } from "../../core/usage.ts";
import { type ReportedSpending, toValidSpending } from "../../core/valid_usage.ts";

/**
 * Returns a `transformContext` that passes the messages of each transform to the next, and merges their reports.
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
  const composed: TransformContext = async (history, input) => {
    let messages = history;
    let firstTrusted = input.firstTrusted ?? 0;
    let report: CompactionReport | undefined;
    for (const transform of transforms) {
      const output = await transform(messages, { ...input, firstTrusted });
      const result = isMessageList(output) ? { messages: output } : output;
      const isSame = result.messages === messages;
      firstTrusted = result.firstTrusted ?? (isSame ? firstTrusted : 0);
      messages = result.messages;
      report = mergeReports(report, result.report);
    }
    if (!report && firstTrusted === 0) return messages;
    return { messages, ...(firstTrusted > 0 && { firstTrusted }), ...(report && { report }) };
  };
  composition.set(composed, transforms);
  return composed;
}

const composition = new WeakMap<TransformContext, readonly TransformContext[]>();

/** Returns the transforms that a composed one consists of, or the transform itself. */
export function getComposedTransforms(
  transform: TransformContext | undefined,
): readonly TransformContext[] {
  if (!transform) return [];
  return composition.get(transform)?.flatMap(getComposedTransforms) ?? [transform];
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
  return {
    ...first,
    ...second,
    droppedCount: first.droppedCount + second.droppedCount,
    tokensBefore: first.tokensBefore,
    ...(dropped.length > 0 && { droppedMessages: dropped }),
    ...addSpending(first, second),
  };
}

/** Adds what the transforms have spent; a cost that one of them does not know makes the sum unknown. */
function addSpending(first: CompactionReport, second: CompactionReport): ReportedSpending {
  if (!first.usage && !first.cost) return {};
  const [before, after] = [toValidSpending(first), toValidSpending(second)];
  return {
    usage: addUsage(before.usage ?? zeroUsage(), after.usage ?? zeroUsage()),
    cost: addCost(before.cost ?? zeroCost(), after.cost ?? zeroCost()),
  };
}
