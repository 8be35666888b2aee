/**
 * The end of a run in a conversation: its totals, and the reason if it has not succeeded.
 *
 * @module
 */

import { ExitCode } from "../../host/exit_code.ts";
import type { Host } from "../../host/host.ts";
import { getFinalText } from "../../render/final_text.ts";
import type { Line } from "../../render/line/line.ts";
import { formatUsage } from "../../render/usage_line.ts";
import {
  getRunEndMessage,
  type RunEndMessage,
  type RunEndMessageOptions,
} from "../../run/report/run_end_message.ts";
import { getRunExitCode } from "../../run/report/run_exit_code.ts";
import type { ConversationView } from "../view/conversation_view.ts";
import { toLine, toLines, toMessage } from "../view/lines.ts";
import type { EndedRun } from "./conversation_runs.ts";

/** Options for `formatRunEnd()`. */
export interface RunEndOptions {
  /** Number of turns. */
  readonly turns: number;
  /** Number of attempts of the last model call. */
  readonly attempts: number;
  /** Value of `--base-url`. */
  readonly baseUrl: string | undefined;
  /** Settings of providers, by name. Default: none. */
  readonly providers?: RunEndMessageOptions["providers"];
  /** Value of `--max-budget-usd`. Default: none. */
  readonly maxCost?: number | undefined;
  /** Reads an environment variable. */
  readonly env: Host["env"];
  /** The terminal. */
  readonly view: Pick<ConversationView, "columns" | "display">;
}

/** Formats the end of a run. */
export function formatRunEnd(
  { result, durationMs }: EndedRun,
  { turns, attempts, baseUrl, providers, maxCost, env, view }: RunEndOptions,
): Line[] {
  const { usage, cost, stopReason } = result;
  const isAborted = stopReason === "aborted" && !result.error && !result.stoppedBy &&
    !(result.abortReason instanceof Error);
  const end = {
    outcome: result,
    attempts,
    refused: [],
    hasText: getFinalText(result.messages) !== "",
    ...(isAborted && { signalExitCode: ExitCode.interrupted }),
  };
  const exitCode = getRunExitCode(end);
  const message = adaptAdvice(
    getRunEndMessage(end, { exitCode, baseUrl, providers, maxCost, env }),
  );
  const reason = isAborted ? "aborted; changes made so far are kept" : message?.reason;
  return [
    ...(reason === undefined ? [] : toMessage(isAborted ? "warning" : "error", reason, view)),
    ...(message?.advice === undefined || isAborted ? [] : toLines(message.advice)),
    ...(turns > 0 ? [toLine(formatUsage({ turns, usage, cost, durationMs }), "faint")] : []),
  ];
}

/** Advice of the library about a session whose file another program has deleted, replaced or cut. */
const REOPEN_ADVICE = ": open the session again";

/** Replaces advice of the library by that for a conversation, which cannot open its session again. */
function adaptAdvice(message: RunEndMessage | undefined): RunEndMessage | undefined {
  if (!message?.reason.endsWith(REOPEN_ADVICE)) return message;
  return {
    reason: message.reason.slice(0, -REOPEN_ADVICE.length),
    advice: "/export FILE keeps this conversation, and /reset begins a new one, which is saved.",
  };
}
