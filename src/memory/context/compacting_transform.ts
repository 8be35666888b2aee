/**
 * Creates the transforms that keep requests within the context window.
 *
 * @module
 */

import type { TransformInput } from "../../core/context/context.ts";
import { registerTransformCopies } from "../../core/context/copy_transform.ts";
import type { AgentMessage } from "../../core/messages/message.ts";
import type {
  CompactingTransform,
  CompactionOptions,
  ReportingTransform,
  SummaryWriter,
} from "./compaction.ts";
import { Compactor } from "./compactor.ts";

/** Creates the transform of one agent. With a writer, a summary replaces the omitted messages. */
export function createCompactingTransform(
  options: CompactionOptions,
  writer?: SummaryWriter,
): CompactingTransform {
  const compactor = new Compactor(options, writer);
  const transform = (messages: readonly AgentMessage[], input: TransformInput) =>
    compactor.transform(messages, input);
  const methods: Pick<
    ReportingTransform,
    "view" | "compact" | "restore" | "restoreMessages" | "restoreHistory" | "returnReport"
  > = {
    view: (messages, firstTrusted) => compactor.view(messages, firstTrusted),
    compact: (messages, input, options) => compactor.compact(messages, input, options),
    restore: (cut) => compactor.restore(cut),
    restoreMessages: (cut) => compactor.restoreMessages(cut),
    restoreHistory: (messages, options) => compactor.restoreHistory(messages, options),
    returnReport: (report) => compactor.returnReport(report),
  };
  const create = () => createCompactingTransform(options, writer);
  registerTransformCopies(transform, { create, createCompaction: create });
  return Object.defineProperties(Object.assign(transform, methods), {
    cut: { get: () => compactor.cut, enumerable: true },
    cutMessages: { get: () => compactor.cutMessages },
    writesSummaries: { value: writer !== undefined },
    onCompact: {
      get: () => compactor.onCompact,
      set: (listener: ReportingTransform["onCompact"]) => {
        compactor.onCompact = listener;
      },
    },
  }) as ReportingTransform;
}

/** Whether a transform was created by this module. */
export function isReportingTransform(transform: unknown): transform is ReportingTransform {
  return typeof transform === "function" && "restoreMessages" in transform;
}
