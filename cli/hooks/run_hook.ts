/**
 * Runs a hook.
 *
 * @module
 */

import { noteStartedProgram } from "../../src/platform/started_programs.ts";
import { describeFailure, runProgram, toShellCall } from "../host/run_program.ts";
import type { Hook, HookEvent } from "./hook.ts";

/** The result of a hook. */
export type HookResult =
  /** It ended with 0. */
  | { readonly type: "passed"; readonly output: string }
  /** It ended with 2, or its output has the decision `block`. */
  | { readonly type: "blocked"; readonly reason: string }
  /** It ended with another code. */
  | { readonly type: "failed"; readonly reason: string }
  /** It did not start, did not end in time, or its decision cannot be read. */
  | { readonly type: "unavailable"; readonly reason: string };

/** The JSON object that a hook gets on standard input, without the name of its event. */
export type HookInput = Readonly<Record<string, unknown>>;

/** Options for `runHook()`. */
export interface HookOptions {
  /** Working directory of the run. */
  readonly cwd: string;
  /** Absolute path of the root of the project. Default: the working directory. */
  readonly projectRoot?: string | undefined;
  /** Kills the hook. */
  readonly signal: AbortSignal;
}

/** Exit code with which a hook blocks. */
const BLOCKED = 2;

/** Maximum length of the reason of a hook. */
const MAX_REASON = 10_000;

/** First exit code of a program that a signal has ended. */
const KILLED = 128;

/** Exit codes of a shell that cannot start a command. */
const NOT_STARTED = [126, 127];

/** Runs a hook with the shell, outside of the sandbox of commands. */
export async function runHook(
  { event, command, timeoutMs, directory }: Hook,
  input: HookInput,
  { cwd, projectRoot = cwd, signal }: HookOptions,
): Promise<HookResult> {
  noteStartedProgram();
  const call = {
    command: toShellCall(command),
    cwd: directory ?? cwd,
    input: createInput(event, cwd, input),
    env: { SWINK_PROJECT_DIR: projectRoot },
    timeoutMs,
    signal,
    ownsGroup: true,
  };
  const result = await runProgram(call);
  const reason = describeFailure({ command: [command], timeoutMs }, result);
  if (result.type !== "ended" || NOT_STARTED.includes(result.code) || result.code >= KILLED) {
    return { type: "unavailable", reason };
  }
  const errors = shorten(result.errors.trim());
  if (result.code === BLOCKED) {
    return { type: "blocked", reason: errors || `${command} blocked it` };
  }
  if (result.code !== 0) return { type: "failed", reason };
  return findDecision(result.output) ?? { type: "passed", output: result.output.trim() };
}

/** Limits a reason, which becomes part of the conversation. */
function shorten(reason: string): string {
  if (reason.length <= MAX_REASON) return reason;
  return `${reason.slice(0, MAX_REASON)}… (${reason.length - MAX_REASON} more characters)`;
}

function createInput(event: HookEvent, cwd: string, input: HookInput): string {
  return `${JSON.stringify({ hook_event_name: event, cwd, ...input })}\n`;
}

/** The keys of an answer of a hook; an object with others is text for the model. */
const ANSWER_KEYS = [
  "continue",
  "stopReason",
  "decision",
  "reason",
  "permissionDecision",
  "permissionDecisionReason",
  "hookSpecificOutput",
  "suppressOutput",
  "systemMessage",
];

/**
 * Reads a decision from output such as `{"decision":"block","reason":"…"}`, and in the other forms that hooks of other
 * agents write: `continue` is `false`, or `permissionDecision` is `deny` or `ask`. Their `additionalContext` is the output;
 * an answer without one has none.
 */
function findDecision(output: string): HookResult | undefined {
  if (!output.trimStart().startsWith("{")) return undefined;
  const json = parseJson(output);
  if (json === undefined) {
    // A text from the call may have made it invalid or too long, which must not let the call pass.
    return { type: "unavailable", reason: "its output begins with { and is no JSON" };
  }
  const { decision, reason, continue: continues, stopReason } = json;
  const { permissionDecision, permissionDecisionReason, additionalContext } = {
    ...json,
    ...toObject(json.hookSpecificOutput),
  };
  if (isBlocking(permissionDecision)) return toBlock(permissionDecisionReason);
  if (isBlocking(decision)) return toBlock(reason);
  if (continues === false) return toBlock(stopReason);
  const unknown = [permissionDecision, decision].find((value) => !isPassing(value));
  if (unknown === undefined) {
    const context = typeof additionalContext === "string" ? additionalContext.trim() : undefined;
    const isAnswer = Object.keys(json).every((key) => ANSWER_KEYS.includes(key));
    return context !== undefined || isAnswer
      ? { type: "passed", output: context ?? "" }
      : undefined;
  }
  return { type: "unavailable", reason: `its decision ${JSON.stringify(unknown)} is unknown` };
}

function isBlocking(decision: unknown): boolean {
  return decision === "block" || decision === "deny" || decision === "ask";
}

function isPassing(decision: unknown): boolean {
  return [undefined, null, "allow", "approve"].some((passing) => passing === decision);
}

function parseJson(text: string): HookInput | undefined {
  try {
    return toObject(JSON.parse(text));
  } catch {
    return undefined;
  }
}

function toObject(value: unknown): HookInput {
  return typeof value === "object" && value !== null ? { ...value } : {};
}

function toBlock(reason: unknown): HookResult {
  return {
    type: "blocked",
    reason: typeof reason === "string" && reason !== "" ? shorten(reason) : "the hook blocked it",
  };
}
