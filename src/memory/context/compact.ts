/**
 * Compaction on request.
 *
 * @module
 */

import type { Agent } from "../../agent/agent.ts";
import { internalsByAgent } from "../../agent/options.ts";
import { checkNames } from "../../core/checks/check_names.ts";
import { checkNumber } from "../../core/checks/check_number.ts";
import { checkObject } from "../../core/checks/check_object.ts";
import { AlreadyRunningError } from "../../core/errors/errors.ts";
import type { CompactionReport } from "../../core/messages/compaction_report.ts";
import { addReportedSpending } from "../../core/models/valid_usage.ts";
import { IdleCompaction } from "../../loop/idle_compaction.ts";
import {
  acceptAny,
  type CheckOption,
  checkOptions,
  checkSignal,
} from "../../loop/run/check_config.ts";
import { isReportingTransform } from "./compacting_transform.ts";
import type { CompactingTransform, CompactOptions } from "./compaction.ts";
import { applyEarlierTransforms } from "./compose_transforms.ts";

/** Options for {@linkcode compact}. */
export interface CompactNowOptions extends CompactOptions {
  /** Aborts the compaction. */
  readonly signal?: AbortSignal | undefined;
}

const CHECKS: Readonly<Record<keyof CompactNowOptions, CheckOption>> = {
  signal: checkSignal,
  instructions: acceptAny,
  tokens: checkNumber,
};

/**
 * Makes the next request of an idle agent smaller, as its transform does at the threshold; resolves to `null` if there
 * is nothing to omit. If no shorter summary can be written and the messages still fit, nothing is omitted, and the report
 * has the `problem`. A recorded session has the compaction when the promise resolves. The agent emits `context_compacted`
 * with that request.
 *
 * Within `composeTransforms()`, the transforms before this one are called first, so that it gets the messages of a request;
 * compacting ones make no cut.
 *
 * The policies of the agent are asked about the model calls, as they are in a run (`preCompaction`); one that stops a call
 * is the `problem` of the report. What the calls spend is in the report and counts in budgets, but in no run: as that of a
 * run of its own. Rejects with an `AbortedError` if `signal` is aborted.
 *
 * @throws {BadRequestError} If an option is unknown or invalid.
 * @throws {AlreadyRunningError} While a run is active.
 * @throws {ContextWindowOverflowError} If the messages to keep do not fit.
 */
export async function compact(
  agent: Agent,
  transform: CompactingTransform,
  options: CompactNowOptions = {},
): Promise<CompactionReport | null> {
  checkObject(options, "Pass options such as { tokens: 10_000 }");
  checkNames(options, Object.keys(CHECKS), "compact()");
  checkOptions(options, CHECKS);
  const { signal = new AbortController().signal, instructions, tokens } = options;
  const { isRunning, messages, model, systemPrompt, tools } = agent.state;
  if (isRunning) throw new AlreadyRunningError();
  const internals = internalsByAgent.get(agent);
  const config = internals?.createConfig();
  const compaction = config && internals && new IdleCompaction({
    context: agent.state,
    config: { ...config, settings: () => ({ model, systemPrompt, tools }) },
    events: internals.getEvents(),
    signal,
  });
  let spent: Pick<CompactionReport, "usage" | "cost"> = {};
  const isCounted = compaction !== undefined && isReportingTransform(transform);
  const { convertToLlm, transformContext } = config ?? {};
  const own = { overflow: false, model, systemPrompt, tools, signal, convertToLlm };
  const input = { ...own, ...compaction?.createInput() };
  const countSpending = (counted: typeof spent) =>
    void (spent = addReportedSpending(spent, counted));
  const selected = {
    ...(instructions !== undefined && { instructions }),
    ...(tokens !== undefined && { tokens }),
    ...(isCounted && { countSpending }),
  };
  try {
    const history = { messages: messages.slice(), input };
    const passed = await applyEarlierTransforms(transformContext, transform, history);
    const { firstTrusted, report: earlier = {} } = passed;
    spent = addReportedSpending(earlier, {});
    return await transform.compact(passed.messages, { ...input, firstTrusted }, selected);
  } finally {
    await compaction?.end(spent);
  }
}
