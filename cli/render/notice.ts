/**
 * Notices about events other than text and tool calls.
 *
 * @module
 */

import type { AgentError, AgentEvent, ModelSpec } from "../../mod.ts";
import { formatError, toCliTerms } from "./error_text.ts";
import { pluralize } from "./tool_line.ts";
import { formatDuration } from "./usage_line.ts";

/** Options for `getNotice()`. */
export interface NoticeOptions {
  /** Value of `--base-url`. */
  readonly baseUrl?: string | undefined;
  /** Whether text of the current reply has been shown. Default: `false`. */
  readonly isTextShown?: boolean;
  /** The failure of the last model call. Default: unknown. */
  readonly failure?: AgentError | undefined;
}

/** Returns the notice for an event; `undefined` when it needs none. */
export function getNotice(
  event: AgentEvent,
  { baseUrl, isTextShown = false, failure }: NoticeOptions = {},
): string | undefined {
  switch (event.type) {
    case "retry": {
      const delay = event.delayMs > 0 ? `in ${formatDuration(event.delayMs)}` : "now";
      const discarded = event.discard && isTextShown ? "; the text above is discarded" : "";
      const reason = formatError(event.error, baseUrl);
      return `attempt ${event.attempt} failed, retrying ${delay}${discarded}: ${reason}`;
    }
    case "model_fallback": {
      // A warning has reported a rejected key.
      const isKnown = failure === undefined || failure.code === "auth_error";
      const reason = isKnown ? "" : `: ${formatError(failure, baseUrl)}`;
      const { from, to } = event;
      const [failed, next] = from.provider === to.provider
        ? [from.modelId, to.modelId]
        : [formatModelName(from), formatModelName(to)];
      return `${failed} failed, continuing with ${next}${reason}`;
    }
    case "context_compacted":
      return formatCompaction(event.report);
    case "warning":
      // The totals state that the price is unknown.
      return event.code === "unknown_price" ? undefined : `warning: ${toCliTerms(event.message)}`;
    default:
      return undefined;
  }
}

function formatModelName({ provider, modelId }: ModelSpec): string {
  return `${provider}/${modelId}`;
}

function formatCompaction(
  { droppedCount, summary, problem }: Extract<AgentEvent, { type: "context_compacted" }>["report"],
): string {
  const reason = problem === undefined ? "" : `: ${problem}`;
  if (droppedCount === 0) return `the context was not compacted${reason}`;
  const messages = pluralize(droppedCount, "earlier message");
  const change = summary === undefined
    ? `requests omit ${messages}${reason}`
    : `a summary replaces ${messages}${reason}`;
  return `the context was compacted: ${change}`;
}
