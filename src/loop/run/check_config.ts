/**
 * Checks the options of untyped callers.
 *
 * @module
 */

import { checkFunction, wrongType } from "../../core/checks/check_function.ts";
import { checkMisspellings, checkNames } from "../../core/checks/check_names.ts";
import { checkObject, createValueError } from "../../core/checks/check_object.ts";
import { BadRequestError } from "../../core/errors/errors.ts";
import { isThenable } from "../../core/errors/refuse_promise.ts";
import type { Policy } from "../../core/hooks/policy.ts";
import { isJsonObject, type JsonObject } from "../../core/json/json.ts";
import { checkModelSpec, type ModelSpec, modelSpec } from "../../core/models/model.ts";
import type { StreamOptions } from "../../core/streams/stream.ts";

/** Checks the value of an option, which is not `undefined`; throws a `BadRequestError` if it is invalid. */
export type CheckOption = (name: string, value: unknown) => void;

/** Checks by the name of the option. */
export type OptionChecks = Readonly<Record<string, CheckOption>>;

const STREAM_OPTIONS: Readonly<Record<keyof StreamOptions, 1>> = {
  temperature: 1,
  maxTokens: 1,
  topP: 1,
  stop: 1,
  seed: 1,
  serverTools: 1,
  sessionId: 1,
  transport: 1,
  apiKey: 1,
  cache: 1,
  toolChoice: 1,
  responseSchema: 1,
  serviceTier: 1,
  verbosity: 1,
  reasoningSummary: 1,
  extra: 1,
};

const HOOKS: Readonly<Record<Exclude<keyof Policy, "name">, 1>> = {
  preTurn: 1,
  preRequest: 1,
  preCompaction: 1,
  postCompaction: 1,
  canUseTool: 1,
  resumeTools: 1,
  preDispatch: 1,
  onRefused: 1,
  postDispatch: 1,
  postTurn: 1,
  postLoop: 1,
  onDelta: 1,
};

/** The options that agents and their runs have in common with `agentLoop()`. */
export const CONFIG_CHECKS = {
  now: checkFunction,
  sleep: checkFunction,
  newId: checkFunction,
  random: checkFunction,
  readFile: checkFunction,
  streamFn: checkFunction,
  streamOptions: checkStreamOptions,
  toolChoice: checkToolChoice,
  convertToLlm: checkFunction,
  transformContext: checkFunction,
  getApiKey: checkFunction,
  retry: checkFunction,
  fallback: checkFallbacks,
  policies: checkPolicies,
  approve: checkFunction,
  approvalMode: oneOf("always", "enabled", "smart", "bypassed"),
  interrupt: oneOf("cancel", "boundary", "after_batch"),
  maxTurns: checkLimit,
  toolTimeoutMs: checkLimit,
  validator: checkFunction,
  prices: checkPrices,
  context: acceptAny,
  parent: checkParent,
} as const satisfies OptionChecks;

const LOOP_CHECKS: OptionChecks = {
  ...CONFIG_CHECKS,
  settings: checkFunction,
  steering: checkQueue,
  followUp: checkQueue,
};

/**
 * Checks options; those that are `undefined` count as missing. A misspelled `approvalMode` would otherwise approve every
 * call.
 *
 * @throws {BadRequestError} If an option has an invalid type or an unknown value.
 */
export function checkOptions(options: object, checks: OptionChecks): void {
  for (const [name, check] of Object.entries(checks)) {
    const { [name]: value } = options as JsonObject;
    if (value !== undefined) check(name, value);
  }
}

/**
 * Checks the options of an agent or a run, which other libraries mix with those of model calls.
 *
 * @throws {BadRequestError} If an option is unknown or invalid.
 */
export function checkOwnOptions(options: object, checks: OptionChecks, subject: string): void {
  const known = Object.keys(checks);
  for (const [name, value] of Object.entries(options)) {
    if (value === undefined || known.includes(name)) continue;
    if (!Object.hasOwn(STREAM_OPTIONS, name)) continue;
    throw new BadRequestError(
      `Unknown option "${name}" of ${subject}: pass it as streamOptions: { ${name} }`,
    );
  }
  checkNames(options, known, subject);
  checkOptions(options, checks);
}

/**
 * Checks the complete configuration of a run.
 *
 * @throws {BadRequestError} If the model or the stream function is missing, or an option is invalid.
 */
export function checkRunConfig(
  config: { readonly model: ModelSpec; readonly streamFn: unknown },
): void {
  checkObject(config, "Pass a config with a model and a streamFn");
  checkModelSpec(config.model);
  checkFunction("streamFn", config.streamFn);
  checkOptions(config, LOOP_CHECKS);
}

/**
 * Checks the names in the configuration of a loop, of which other programs may use further members.
 *
 * @throws {BadRequestError} If the configuration is no object, or an option is misspelled.
 */
export function checkLoopNames(config: object): void {
  checkObject(config, "Pass a config with a model and a streamFn");
  checkMisspellings(config, ["model", ...Object.keys(LOOP_CHECKS)], "the config");
}

/** Accepts every value, of an option that has its own check or needs none. */
export function acceptAny(): void {}

/** Creates a check of an option that has one of a few values. */
export function oneOf(...allowed: readonly unknown[]): CheckOption {
  return (name, value) => {
    if (allowed.includes(value)) return;
    throw createValueError(`${name} must be one of ${allowed.join(", ")}`, value);
  };
}

function checkLimit(name: string, limit: unknown): void {
  if (typeof limit === "number" && limit > 0) return;
  throw wrongType(`${name} must be a number above 0`, limit);
}

function checkList(name: string, value: unknown): readonly unknown[] {
  if (Array.isArray(value)) return value;
  throw createValueError(`${name} must be an array`, value);
}

function checkPolicies(option: string, policies: unknown): void {
  for (const policy of checkList(option, policies)) {
    if (!isJsonObject(policy) || typeof policy["name"] !== "string") {
      throw new BadRequestError(
        "A policy must have a name and hooks such as preTurn",
      );
    }
    const subject = `the policy "${policy["name"]}"`;
    const hooks = Object.keys(HOOKS);
    checkMisspellings(policy, ["name", ...hooks], subject);
    for (const hook of hooks) {
      if (policy[hook] !== undefined) checkFunction(`${hook} of ${subject}`, policy[hook]);
    }
  }
}

const FALLBACK_CHECKS: OptionChecks = {
  streamFn: checkFunction,
  getApiKey: checkFunction,
  retry: checkFunction,
  extra: checkRecord,
};

function checkFallbacks(option: string, fallbacks: unknown): void {
  for (const fallback of checkList(option, fallbacks)) {
    if (typeof fallback === "string") {
      modelSpec(fallback);
      continue;
    }
    checkObject(fallback, "Pass fallbacks such as { model: modelSpec(name) }, or names");
    const { model } = fallback as { readonly model: ModelSpec };
    checkModelSpec(model);
    checkOptions(fallback as object, FALLBACK_CHECKS);
  }
}

/**
 * Checks the options of a model call.
 *
 * @throws {BadRequestError} If they are no object, or an option is unknown.
 */
export function checkStreamOptions(name: string, options: unknown): void {
  checkRecord(name, options);
  checkNames(options, Object.keys(STREAM_OPTIONS), name);
  const { toolChoice, extra } = options;
  if (toolChoice !== undefined) checkToolChoice(`${name}.toolChoice`, toolChoice);
  if (extra !== undefined) checkRecord(`${name}.extra`, extra);
}

function checkRecord(name: string, value: unknown): asserts value is JsonObject {
  if (isJsonObject(value) && !isThenable(value)) return;
  throw createValueError(`${name} must be an object`, value);
}

/**
 * Checks a system prompt.
 *
 * @throws {BadRequestError} If it is no string.
 */
export function checkSystemPrompt(systemPrompt: unknown): void {
  if (typeof systemPrompt === "string") return;
  throw new BadRequestError(`systemPrompt must be a string, not ${typeof systemPrompt}`);
}

/**
 * Checks the signal of a run.
 *
 * @throws {BadRequestError} If it is no `AbortSignal`.
 */
export function checkSignal(name: string, value: unknown): void {
  const { addEventListener, removeEventListener } = Object(value);
  if (typeof addEventListener === "function" && typeof removeEventListener === "function") return;
  throw new BadRequestError(`${name} must be an AbortSignal`);
}

function checkToolChoice(name: string, choice: unknown): void {
  if (choice === "auto" || choice === "none" || choice === "required") return;
  if (isJsonObject(choice) && typeof choice["name"] === "string") return;
  throw createValueError(`${name} must be auto, none, required or { name: "…" }`, choice);
}

/** The run itself checks its class, whose code is not loaded yet. */
function checkParent(_name: string, parent: unknown): void {
  if (!Object(parent).tree) throw new BadRequestError("parent must be the `run` of a ToolContext");
}

function checkPrices(name: string, prices: unknown): void {
  if (!isJsonObject(prices)) checkFunction(name, prices);
}

function checkQueue(name: string, queue: unknown): void {
  if (isJsonObject(queue) && typeof queue["take"] === "function") return;
  checkFunction(name, queue);
}
