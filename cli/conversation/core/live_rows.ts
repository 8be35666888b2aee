/**
 * The rows of a conversation that change: running calls, agents, queue and status.
 *
 * @module
 */

import { formatAgents } from "../../render/agents/format_agents.ts";
import type { Line } from "../../render/line/line.ts";
import { truncateLine } from "../../render/line/line_width.ts";
import { toOneLine, toPlainText } from "../../render/plain_text.ts";
import { formatStatus } from "../../render/status/format_status.ts";
import type { Display } from "../../render/theme/display.ts";
import { formatRunningCalls } from "../../render/tools/format_calls.ts";
import type { QueueControl } from "../command/command_context.ts";
import type { ConversationView, LiveRows } from "../view/conversation_view.ts";
import type { ConversationOutput } from "./conversation_output.ts";
import type { ConversationStatus } from "./conversation_status.ts";
import type { RecordedConversation } from "./recorded_conversation.ts";
import type { SelectedCall } from "./selected_call.ts";

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
  /** The selected call. */
  readonly selection: Pick<SelectedCall, "getRows">;
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
  { view: { display }, output, record, selection, queue, status, isRunning, now }: LiveRowsOptions,
): LiveRows {
  output.poll();
  const options = { now: now(), columns, display };
  const agents = record.agents.filter(({ status }) => status === "running");
  return {
    open: output.open,
    running: [
      ...formatRunningCalls(record.runningCalls, { ...options, maxRows: MAX_RUNNING_ROWS }),
      ...formatAgents(agents, { ...options, maxRows: MAX_AGENT_ROWS }),
    ],
    selected: selection.getRows(columns),
    queued: formatQueued(queue, { columns, display }),
    status: formatStatus(status.view, options),
    isChanging: isRunning(),
  };
}

function formatQueued(
  { texts }: QueueControl,
  { columns, display: { symbols: { ellipsis } } }: {
    readonly columns: number;
    readonly display: Display;
  },
): Line[] {
  const shown = texts.slice(0, MAX_QUEUED).map(({ text, delivery }): Line =>
    truncateLine([
      { text: delivery === "follow_up" ? "queued >> " : "queued ", role: "faint" },
      { text: toOneLine(toPlainText(text)) },
    ], { columns, ellipsis })
  );
  const rest = texts.length - shown.length;
  return rest > 0 ? [...shown, [{ text: `+${rest} more; /queue`, role: "faint" }]] : shown;
}
