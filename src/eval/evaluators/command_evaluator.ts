/**
 * Runs a command in the directory of a run, such as the tests of its fixture.
 *
 * @module
 */

import { describeValue } from "../../core/errors/describe_value.ts";
import { BadRequestError } from "../../core/errors/errors.ts";
import type { JsonObject } from "../../core/json/json.ts";
import type { OpenCommandSandbox } from "../command/command_sandbox.ts";
import { type CommandResult, runCommand } from "../command/run_command.ts";
import type { Evaluator } from "./evaluator.ts";
import { readNumber, readTime } from "./read_number.ts";
import { createBinaryScore } from "./score.ts";

/** Default time limit of a command. */
const DEFAULT_TIMEOUT_MS = 120_000;

/**
 * Creates the evaluator `command`, for cases that name it: it runs a shell command in the directory of the run after the
 * agent has finished, and passes if the command exits with the expected code. Options of a case: `command`; `exitCode`,
 * default: 0; and `timeoutMs`, default: 120,000.
 *
 * The command runs what the agent wrote, such as a test. Without `openSandbox` the metric fails.
 *
 * @example
 * ```ts
 * import { createCommandEvaluator, EvaluatorRegistry } from "@swink/agent/eval";
 * import { createSandbox } from "@swink/agent/tools";
 *
 * const registry = new EvaluatorRegistry();
 * registry.register(createCommandEvaluator(createSandbox));
 * ```
 */
export function createCommandEvaluator(openSandbox?: OpenCommandSandbox): Evaluator {
  const name = "command";
  return {
    name,
    optionNames: ["command", "exitCode", "timeoutMs"],
    checkOptions: readOptions,
    needsDirectory: true,
    timeoutMs: Infinity,
    evaluate: async ({ directory, options, signal }) => {
      if (!openSandbox) {
        throw new BadRequestError(
          "Commands need a sandbox: pass openSandbox, such as createSandbox of @swink/agent/tools",
        );
      }
      if (directory === undefined) throw new BadRequestError("The run has no directory");
      const request = readOptions(options);
      const result = await runCommand({ ...request, directory, signal, openSandbox });
      const passed = result.type === "exited" && result.code === request.exitCode;
      const reason = passed ? undefined : describeFailure(result, request.timeoutMs);
      return createBinaryScore(name, passed, reason);
    },
  };
}

interface CommandOptions {
  readonly command: string;
  readonly exitCode: number;
  readonly timeoutMs: number;
}

function readOptions(options: JsonObject): CommandOptions {
  const command = options["command"];
  if (typeof command !== "string" || command.trim() === "") {
    throw new BadRequestError(
      `The option "command" must be a shell command, not ${describeValue(command)}`,
    );
  }
  return {
    command,
    exitCode: readNumber(options, "exitCode") ?? 0,
    timeoutMs: readTime(options, "timeoutMs") ?? DEFAULT_TIMEOUT_MS,
  };
}

function describeFailure({ type, code, output }: CommandResult, timeoutMs: number): string {
  const end = type === "exited"
    ? `The command exited with code ${code}`
    : type === "timed_out"
    ? `The command did not end within ${timeoutMs} ms`
    : "The command was cancelled";
  return output.trim() === "" ? end : `${end}:\n${output.trim()}`;
}
