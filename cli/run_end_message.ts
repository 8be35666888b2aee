/**
 * Why a run ended other than well, and what to do about it, in words.
 *
 * @module
 */

import type { AgentError } from "../mod.ts";
import { keyVariables } from "../adapters/connect.ts";
import { ExitCode } from "./exit_code.ts";
import type { Host } from "./host.ts";
import { toPlainText } from "./render/plain_text.ts";
import { getStyle } from "./render/style.ts";
import type { RunEnd } from "./run_exit_code.ts";

/** Tells on standard error why the exit code is not 0. */
export async function reportRunEnd(end: RunEnd, exitCode: ExitCode, host: Host): Promise<void> {
  const { messages } = host.terminal;
  const style = getStyle(messages, host.env);
  const { omittedFiles: leftOut = [] } = end;
  if (leftOut.length > 0) {
    await messages.write(toPlainText(`swink: too large for the patch: ${leftOut.join(", ")}\n`));
  }
  const words = getEndMessage(end, exitCode);
  if (!words) return;
  const advice = words.advice === undefined ? "" : `${words.advice}\n`;
  await messages.write(`${style.error("swink:")} ${toPlainText(words.reason)}\n${advice}`);
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
      return { reason: "interrupted; what was done until then is kept" };
    case ExitCode.terminated:
      return { reason: "terminated; what was done until then is kept" };
    case ExitCode.limit:
      if (outcome.stoppedBy) return { reason: `stopped: ${outcome.stoppedBy.reason}` };
      return { reason: "the reply was cut off: it reached the model's limit" };
    case ExitCode.refused:
      return {
        reason: `refused, since nobody could be asked: ${refused.join(", ")}`,
        advice: "Allow every call with --approve-all, or only some tools with --allowed-tools.",
      };
    case ExitCode.noPatch:
      return { reason: "nothing has changed, so the patch is empty" };
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
      // Without a status nothing was asked: the message says already that there is no key.
      if (status === undefined || variables === "") return undefined;
      return `Is the key right, and may it use this model? It is read from ${variables}.`;
    }
    case "model_not_found":
      return "Is the name right? It is written as -m provider/model.";
    case "network_error":
      return "Is the network up, and --base-url right? It was tried several times.";
    case "model_throttled":
      return retryable ? "Try again later; it was tried several times." : undefined;
    default:
      return undefined;
  }
}
