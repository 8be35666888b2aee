/**
 * The result of a prompt that did not run, such as one that a hook blocks.
 *
 * @module
 */

import { AgentError, BadRequestError, getErrorMessage } from "../../../src/core/errors/errors.ts";
import { zeroCost, zeroUsage } from "../../../src/loop/mod.ts";
import { CliError } from "../../host/cli_error.ts";
import { ExitCode } from "../../host/exit_code.ts";
import { toPlainText } from "../../render/plain_text.ts";
import type { Reporter } from "../../render/reporter.ts";
import type { PreparedAgent } from "./finish_run.ts";

/** Options for `reportRejection()`. */
export interface RejectionOptions {
  /** The reason. */
  readonly error: unknown;
  /** Receives the report. */
  readonly reporter: Reporter;
  /** Time since the prompt was received, in milliseconds. */
  readonly durationMs: number;
}

/** Reports a result with the error, so that a program which waits for it continues. Returns its exit code. */
export async function reportRejection(
  { setup, session, host }: Pick<PreparedAgent, "setup" | "session" | "host">,
  { error, reporter, durationMs }: RejectionOptions,
): Promise<ExitCode> {
  const exitCode = error instanceof CliError ? error.exitCode : ExitCode.failed;
  const message = getErrorMessage(error);
  const outcome = {
    messages: [],
    stopReason: "error",
    usage: zeroUsage(),
    cost: zeroCost(),
    error: error instanceof AgentError ? error : new BadRequestError(message),
  } as const;
  const { usage, cost } = outcome;
  await reporter.onRunEnd({
    outcome,
    usage,
    cost,
    exitCode,
    durationMs,
    model: setup.agent.state.model,
    runId: "",
    sessionId: (await session?.describe())?.id ?? null,
    text: "",
    turns: 0,
    refused: [],
  });
  await host.terminal.messages.write(`swink: ${toPlainText(message)}\n`);
  return exitCode;
}
