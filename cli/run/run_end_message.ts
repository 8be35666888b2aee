/**
 * Messages for runs that do not end with exit code 0: the reason, and how to correct it.
 *
 * @module
 */

import type { AgentError } from "../../mod.ts";
import { keyVariables } from "../../adapters/connect.ts";
import { ExitCode } from "../host/exit_code.ts";
import type { Host } from "../host/host.ts";
import { toPlainText } from "../render/plain_text.ts";
import { getStyle } from "../render/style.ts";
import type { RunEnd } from "./run_exit_code.ts";

/** Writes the reason for an exit code other than 0 to standard error. */
export async function reportRunEnd(end: RunEnd, exitCode: ExitCode, host: Host): Promise<void> {
  const { messages } = host.terminal;
  const style = getStyle(messages, host.env);
  const { omittedFiles = [] } = end;
  if (omittedFiles.length > 0) {
    const names = omittedFiles.join(", ");
    await messages.write(
      toPlainText(`swink: omitted from the patch, because too large or a file that usually holds secrets: ${names}\n`),
    );
  }
  const message = getEndMessage(end, exitCode);
  if (!message) return;
  const advice = message.advice === undefined ? "" : `${message.advice}\n`;
  await messages.write(`${style.error("swink:")} ${toPlainText(message.reason)}\n${advice}`);
}

interface EndMessage {
  readonly reason: string;
  readonly advice?: string | undefined;
}

function getEndMessage(end: RunEnd, exitCode: ExitCode): EndMessage | undefined {
  const { outcome, refused } = end;
  switch (exitCode) {
    case ExitCode.ok:
    case ExitCode.brokenPipe:
      return undefined;
    case ExitCode.interrupted:
      return { reason: "interrupted; changes made so far are kept" };
    case ExitCode.terminated:
      return { reason: "terminated; changes made so far are kept" };
    case ExitCode.limit:
      if (outcome.stoppedBy) return { reason: `stopped: ${outcome.stoppedBy.reason}` };
      return { reason: "the reply is incomplete: it reached the output limit of the model" };
    case ExitCode.refused:
      return {
        reason: `tool calls refused, approval is not possible in this run: ${refused.join(", ")}`,
        advice: "Approve all calls with --approve-all, or some tools with --allowed-tools.",
      };
    case ExitCode.noPatch:
      return { reason: "the patch is empty: the run changed no file" };
    default:
      return getFailureMessage(outcome.error);
  }
}

function getFailureMessage(error: AgentError | undefined): EndMessage {
  if (!error) return { reason: "the run failed" };
  const request = error.requestId ? ` (request ${error.requestId})` : "";
  return { reason: error.message + request, advice: getAdvice(error) };
}

function getAdvice(
  { code, provider = "", retryable, status }: AgentError,
): string | undefined {
  switch (code) {
    case "auth_error": {
      const variables = keyVariables(provider).join(" or ");
      // Without a status no request was sent, and the message already reports the missing key.
      if (status === undefined || variables === "") return undefined;
      return `Check that the key in ${variables} is valid and may use this model.`;
    }
    case "model_not_found":
      return "Check the name of the model in -m provider/model.";
    case "network_error":
      return "Check the network and --base-url. The request was retried.";
    case "model_throttled":
      return retryable ? "Try again later. The request was retried." : undefined;
    default:
      return undefined;
  }
}
