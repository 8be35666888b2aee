/**
 * Messages for runs that do not end with exit code 0: the reason, and how to correct it.
 *
 * @module
 */

import type { AgentError } from "../../../mod.ts";
import { ExitCode } from "../../host/exit_code.ts";
import { getFileProblem } from "../../host/file_problem.ts";
import type { Host } from "../../host/host.ts";
import { formatError, toCliTerms } from "../../render/error_text.ts";
import { toPlainText } from "../../render/plain_text.ts";
import { getStyle } from "../../render/style.ts";
import { formatDuration } from "../../render/usage_line.ts";
import { getKeyAdvice } from "../model/key_advice.ts";
import {
  type ConnectionSettings,
  getConnectionAdvice,
  nameUrlSource,
} from "./connection_advice.ts";
import type { RunEnd } from "./run_exit_code.ts";

/** Options for `reportRunEnd()`. */
export interface RunEndReportOptions {
  /** Exit code of the program. */
  readonly exitCode: ExitCode;
  /** Terminal and environment. */
  readonly host: Host;
  /** Value of `--base-url`. */
  readonly baseUrl: string | undefined;
  /** Settings of providers, by name. Default: none. */
  readonly providers?: ConnectionSettings["providers"];
  /** Value of `--max-budget-usd`. Default: none. */
  readonly maxCost?: number | undefined;
  /** Whether the working directory is removed after the run. Default: `false`. */
  readonly isTemporary?: boolean | undefined;
}

/** Writes the reason for an exit code other than 0, or for the lack of an answer, to standard error. */
export async function reportRunEnd(
  end: RunEnd,
  { host, ...options }: RunEndReportOptions,
): Promise<void> {
  const { messages } = host.terminal;
  const style = getStyle(messages, host.env);
  const { omittedFiles = [] } = end;
  if (omittedFiles.length > 0) {
    const names = omittedFiles.join(", ");
    await messages.write(
      toPlainText(
        `swink: omitted from the patch, because too large, a file that usually holds secrets, or a name that is not UTF-8: ${names}\n`,
      ),
    );
  }
  const message = getRunEndMessage(end, { ...options, env: host.env });
  if (!message) return;
  const advice = message.advice === undefined ? "" : `${message.advice}\n`;
  await messages.write(`${style.error("swink:")} ${toPlainText(message.reason)}\n${advice}`);
}

/** Options for `getRunEndMessage()`. */
export interface RunEndMessageOptions
  extends Pick<Host, "env">, Omit<RunEndReportOptions, "host"> {}

/** The reason for the end of a run. */
export interface RunEndMessage {
  /** A sentence without a full stop. */
  readonly reason: string;
  /** How to correct it. */
  readonly advice?: string | undefined;
}

/** Returns the reason for an exit code other than 0, or for the lack of an answer; `undefined` if there is none. */
export function getRunEndMessage(
  end: RunEnd,
  settings: RunEndMessageOptions,
): RunEndMessage | undefined {
  const { outcome, refused } = end;
  const kept = settings.isTemporary ? "" : "; changes made so far are kept";
  switch (settings.exitCode) {
    case ExitCode.ok:
      return end.hasText === false ? { reason: "the model replied without text" } : undefined;
    case ExitCode.brokenPipe:
      return undefined;
    case ExitCode.interrupted:
      return { reason: `interrupted${kept}` };
    case ExitCode.hangUp:
      return { reason: `the terminal was closed${kept}` };
    case ExitCode.quit:
    case ExitCode.terminated:
      return { reason: `terminated${kept}` };
    case ExitCode.limit:
      if (outcome.stoppedBy) return { reason: `stopped: ${toCliTerms(outcome.stoppedBy.reason)}` };
      return {
        reason: "the reply is incomplete: it reached the limit of output tokens",
        ...(settings.maxCost !== undefined && {
          advice: "A small --max-budget-usd limits the length of replies.",
        }),
      };
    case ExitCode.refused:
      return {
        reason: `tool calls refused, approval is not possible in this run: ${refused.join(", ")}`,
        advice: "Approve all calls with --approve-all, or some tools with --allowed-tools.",
      };
    case ExitCode.noPatch:
      return { reason: "the patch is empty: the run changed no file" };
    default:
      return getFailureMessage(end, settings);
  }
}

function getFailureMessage(
  { outcome: { error, abortReason }, attempts = 1 }: RunEnd,
  { baseUrl, providers, env }: RunEndMessageOptions,
): RunEndMessage {
  if (!error) {
    // A session that cannot be written aborts the run.
    if (abortReason instanceof Error) return { reason: getFileProblem(abortReason) };
    return { reason: typeof abortReason === "string" ? abortReason : "the run failed" };
  }
  const connection = { provider: error.provider ?? "", baseUrl, providers, env };
  const request = error.requestId ? ` (request ${error.requestId})` : "";
  const advice = error.code === "auth_error"
    ? getKeyAdvice(error, env)
    : getAdvice(error, attempts, connection);
  return { reason: nameUrlSource(formatError(error, baseUrl), connection) + request, advice };
}

/** Matches an error that the provider has reported within a reply, so that the connection works. */
const REPORTED = /^\S+ reported an error(?::|$)/;

function getAdvice(
  { code, status, retryAfterMs, message }: AgentError,
  attempts: number,
  connection: ConnectionSettings,
): string | undefined {
  const gaveUp = attempts > 1 ? `Gave up after ${attempts} attempts.` : undefined;
  switch (code) {
    case "context_window_overflow":
      return "Shorten the prompt and its files, or choose a model with a larger context window.";
    case "model_not_found":
      // Without a status the model was looked for on this device, and the message names the next step.
      return status === undefined ? undefined : "Check the name of the model in -m provider/model.";
    case "network_error":
      if (status !== undefined || REPORTED.test(message)) {
        return gaveUp && `${gaveUp} Try again later.`;
      }
      return [getConnectionAdvice(connection), gaveUp].filter(Boolean).join(" ") || undefined;
    case "model_throttled":
      if (!retryAfterMs) return gaveUp && `${gaveUp} Try again later.`;
      return `${gaveUp ?? ""} Try again in ${formatDuration(retryAfterMs)}.`.trimStart();
    default:
      return undefined;
  }
}
