/**
 * The rows of a conversation that change: running calls, agents, queue and status.
 *
 * @module
 */

import type { Line } from "../../render/line/line.ts";
import { truncateLine } from "../../render/line/line_width.ts";
import { toOneLine, toPlainText } from "../../render/plain_text.ts";
import { formatDuration } from "../../render/usage_line.ts";
import { formatCall } from "../../render/tool_line.ts";
import type { CallView } from "../../render/tools/call_view.ts";
import type { StatusView } from "../../render/status/status_view.ts";
import type { QueueControl } from "../command/command_context.ts";
import type { ConversationView, LiveRows } from "../view/conversation_view.ts";
import type { ConversationOutput } from "./conversation_output.ts";
import type { ConversationStatus } from "./conversation_status.ts";
import type { RecordedConversation } from "./recorded_conversation.ts";

/** Maximum number of rows for running calls; the others are counted in the last one. */
const MAX_RUNNING_ROWS = 4;

/** Maximum number of rows for agents. */
const MAX_AGENT_ROWS = 8;

/** Maximum number of queued texts that are shown. */
const MAX_QUEUED = 3;

/** Options for `createLiveRows()`. */
export interface LiveRowsOptions {
  /** How lines are shown. */
  readonly view: Pick<ConversationView, "display">;
  /** The text that is still coming. */
  readonly output: Pick<ConversationOutput, "open" | "poll">;
  /** The calls and agents. */
  readonly record: Pick<RecordedConversation, "runningCalls" | "agents">;
  /** The texts that wait. */
  readonly queue: QueueControl;
  /** The status. */
  readonly status: ConversationStatus;
  /** Whether a run is active. */
  readonly isRunning: () => boolean;
  /** Returns the current time in milliseconds. */
  readonly now: () => number;
}

/** Creates the rows. */
export function createLiveRows(
  columns: number,
  { view: { display }, output, record, queue, status, isRunning, now }: LiveRowsOptions,
): LiveRows {
  output.poll();
  const options = { now: now(), columns, display };
  const agents = record.agents.filter(({ status }) => status === "running");
  return {
    open: output.open,
    running: [
      ...formatRunningCalls(record.runningCalls, { ...options, maxRows: MAX_RUNNING_ROWS }),
      ...formatAgents(agents, options).slice(0, MAX_AGENT_ROWS),
    ],
    queued: formatQueued(queue, columns),
    status: formatStatus(status.view, options),
    isChanging: isRunning(),
  };
}

function formatQueued({ texts }: QueueControl, columns: number): Line[] {
  const shown = texts.slice(0, MAX_QUEUED).map(({ text, delivery }): Line =>
    truncateLine([
      { text: delivery === "follow_up" ? "queued >> " : "queued ", role: "faint" },
      { text: toOneLine(toPlainText(text)) },
    ], { columns })
  );
  const rest = texts.length - shown.length;
  return rest > 0 ? [...shown, [{ text: `+${rest} more; /queue`, role: "faint" }]] : shown;
}

function formatRunningCalls(
  calls: readonly CallView[],
  { now, columns, maxRows }: { readonly now: number; readonly columns: number; readonly maxRows: number },
): Line[] {
  return calls.slice(0, maxRows).map(({ name, arguments: args, startedAt, output = "" }) => {
    const last = output.trimEnd().split("\n").at(-1) ?? "";
    return truncateLine([
      { text: "… " },
      { text: name, role: "tool" },
      { text: ` ${formatCall(name, args)} · ${formatDuration(now - startedAt)} ${toPlainText(last)}`, role: "faint" },
    ], { columns });
  });
}

function formatAgents(_agents: readonly unknown[], _options: unknown): Line[] {
  return [];
}

function formatStatus(
  { model, mode, approval, net, activity, tokens }: StatusView,
  { columns }: { readonly columns: number },
): Line {
  const text = [model, mode === "plan" ? "PLAN" : "EXECUTE", approval, `net ${net}`, tokens, activity]
    .filter((field) => field !== undefined).join(" · ");
  return truncateLine([{ text, role: mode === "plan" ? "plan" : "faint" }], { columns });
}
