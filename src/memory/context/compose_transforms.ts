/**
 * Runs several context transforms in sequence.
 *
 * @module
 */

import type {
  TransformContext,
  TransformInput,
  TransformOutput,
} from "../../core/context/context.ts";
import {
  copyCompaction,
  copyTransform,
  registerTransformCopies,
} from "../../core/context/copy_transform.ts";
import { AbortedError } from "../../core/errors/errors.ts";
import type { CompactionReport } from "../../core/messages/compaction_report.ts";
import type { AgentMessage } from "../../core/messages/message.ts";
import { addReportedSpending } from "../../core/models/valid_usage.ts";
import { abortable } from "../../core/ports/abortable.ts";
import { isReportingTransform } from "./compacting_transform.ts";

/**
 * Returns a `transformContext` that passes the messages of each transform to the next, and merges their reports. If a later
 * transform fails, the compacting ones before it report their cuts with the next request.
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
  const parts = transforms.flatMap(getComposedTransforms);
  const composed: TransformContext = async (history, input) => {
    let messages = history;
    let firstTrusted = input.firstTrusted ?? 0;
    const reports: TransformReport[] = [];
    try {
      for (const transform of parts) {
        // The provider has not seen a request that an earlier transform has made shorter.
        const overflow = input.overflow && !reports.some(({ report }) => report.droppedCount > 0);
        const check = createCheck(input, reports);
        const pending = transform(messages, { ...input, ...check, overflow, firstTrusted });
        // A run that is aborted does not wait for long, and would lose the earlier reports.
        const canHang = reports.length > 0 && !isReportingTransform(transform);
        const output =
          await (canHang ? abortable(Promise.resolve(pending), input.signal) : pending);
        const { report, ...passed } = toPassedMessages({ messages, firstTrusted }, output);
        ({ messages, firstTrusted } = passed);
        if (report) reports.push({ transform, report });
      }
    } catch (error) {
      // An aborted run sends nothing, and counts what the summaries have spent.
      if (!input.signal.aborted || reports.length === 0) {
        reports.forEach(returnReport);
        throw error;
      }
    }
    const report = reports.map(({ report }) => report).reduce(mergeReports, undefined);
    if (!report && firstTrusted === 0) return messages;
    return { messages, ...(firstTrusted > 0 && { firstTrusted }), ...(report && { report }) };
  };
  composition.set(composed, parts);
  registerTransformCopies(composed, {
    create: () => composeTransforms(...parts.map(copyTransform)),
    createCompaction: () => composeCompactions(parts),
  });
  return composed;
}

function composeCompactions(parts: readonly TransformContext[]): TransformContext | undefined {
  const compactions = parts.flatMap((part) => copyCompaction(part) ?? []);
  return compactions.length === 0 ? undefined : composeTransforms(...compactions);
}

const composition = new WeakMap<TransformContext, readonly TransformContext[]>();

/** Returns the transforms that a composed one consists of, or the transform itself. */
export function getComposedTransforms(
  transform: TransformContext | undefined,
): readonly TransformContext[] {
  if (!transform) return [];
  return composition.get(transform) ?? [transform];
}

/** The messages that a transform passes to the next. */
interface PassedMessages {
  readonly messages: readonly AgentMessage[];
  /** The position from which their usage is valid. */
  readonly firstTrusted: number;
  /** The reports of the transforms. */
  readonly report?: CompactionReport | undefined;
}

/** The messages and the input of a transform. */
interface TransformedHistory {
  readonly messages: readonly AgentMessage[];
  readonly input: TransformInput;
}

function toPassedMessages(
  { messages, firstTrusted }: PassedMessages,
  output: Awaited<ReturnType<TransformContext>>,
): PassedMessages {
  const result = isMessageList(output) ? { messages: output } : output;
  const trusted = result.firstTrusted ?? findFirstTrusted(messages, firstTrusted, result);
  return { ...result, firstTrusted: trusted };
}

/**
 * Returns the messages of a history that one of the transforms of a composition gets; those of the history for any other
 * transform. The compacting ones before it make no cut.
 */
export async function applyEarlierTransforms(
  composed: TransformContext | undefined,
  transform: TransformContext,
  { messages, input }: TransformedHistory,
): Promise<PassedMessages> {
  const parts = getComposedTransforms(composed);
  let passed: PassedMessages = { messages, firstTrusted: 0 };
  for (const part of parts.slice(0, Math.max(0, parts.indexOf(transform)))) {
    const { messages, firstTrusted, report: earlier } = passed;
    const output = isReportingTransform(part)
      ? part.view(messages, firstTrusted)
      : await callTransform(part, { messages, input: { ...input, firstTrusted } });
    const { report, ...rest } = toPassedMessages(passed, output);
    passed = { ...rest, report: report ? mergeReports(earlier, report) : earlier };
  }
  return passed;
}

async function callTransform(
  transform: TransformContext,
  { messages, input }: TransformedHistory,
): Promise<TransformOutput> {
  const { signal } = input;
  try {
    return await abortable(Promise.resolve(transform(messages, input)), signal);
  } catch (error) {
    throw signal.aborted ? new AbortedError(undefined, { cause: signal.reason }) : error;
  }
}

/** Returns the position after the last of the messages before `firstTrusted` that a transform has kept. */
function findFirstTrusted(
  before: readonly AgentMessage[],
  firstTrusted: number,
  { messages }: { readonly messages: readonly AgentMessage[] },
): number {
  if (messages === before || firstTrusted === 0) return firstTrusted;
  const getKey = (message: AgentMessage) => message.id ?? message;
  const untrusted = new Set(before.slice(0, firstTrusted).map(getKey));
  return messages.findLastIndex((message) => untrusted.has(getKey(message))) + 1;
}

function isMessageList(
  output: Awaited<ReturnType<TransformContext>>,
): output is readonly AgentMessage[] {
  return Array.isArray(output);
}

/** A report, and the transform that made it. */
interface TransformReport {
  readonly transform: TransformContext;
  readonly report: CompactionReport;
}

/** Returns the part of an input that asks the policies, which do not count yet what earlier transforms have spent. */
function createCheck(
  { checkRequest }: TransformInput,
  reports: readonly TransformReport[],
): Pick<TransformInput, "checkRequest"> {
  if (!checkRequest) return {};
  return {
    checkRequest: (request) => {
      const spent = reports.reduce((sum, { report }) => addReportedSpending(sum, report), {});
      return checkRequest({ ...request, ...addReportedSpending(spent, request) });
    },
  };
}

/** Returns a report that is not emitted to its transform, whose cut stays. */
function returnReport({ transform, report }: TransformReport): void {
  if (isReportingTransform(transform)) transform.returnReport(report);
}

function mergeReports(
  first: CompactionReport | undefined,
  second: CompactionReport,
): CompactionReport {
  if (!first) return second;
  const dropped = [...first.droppedMessages ?? [], ...second.droppedMessages ?? []];
  return {
    ...first,
    ...second,
    droppedCount: first.droppedCount + second.droppedCount,
    tokensBefore: first.tokensBefore,
    ...(dropped.length > 0 && { droppedMessages: dropped }),
    ...addReportedSpending(first, second),
  };
}
