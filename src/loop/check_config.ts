/**
 * Checks the options of untyped callers.
 *
 * @module
 */

import { checkObject } from "../core/check_object.ts";
import { describeValue } from "../core/describe_value.ts";
import { BadRequestError } from "../core/errors.ts";
import { isJsonObject, type JsonObject } from "../core/json.ts";
import { checkModelSpec, type ModelSpec } from "../core/model.ts";
import { isThenable } from "../core/refuse_promise.ts";

const LIMITS = ["maxTurns", "toolTimeoutMs"];

const ALLOWED_VALUES: Readonly<Record<string, readonly unknown[]>> = {
  interrupt: ["cancel", "boundary", "after_batch"],
  approvalMode: ["always", "enabled", "smart", "bypassed"],
};

const FUNCTIONS = [
  "streamFn",
  "convertToLlm",
  "transformContext",
  "getApiKey",
  "retry",
  "approve",
  "validator",
  "settings",
  "now",
  "sleep",
  "newId",
  "random",
  "readFile",
];

const HOOKS = [
  "preTurn",
  "preRequest",
  "preDispatch",
  "postDispatch",
  "postTurn",
  "postLoop",
  "onDelta",
];

/**
 * Checks the options of a run; those that are `undefined` count as missing. A misspelled `approvalMode` would otherwise
 * approve every call.
 *
 * @throws {BadRequestError} If an option has an invalid type or an unknown value.
 */
export function checkConfig(config: object): void {
  checkObject(config, "Pass the options as an object");
  const options = config as JsonObject;
  for (const name of LIMITS) checkLimit(name, options[name]);
  for (const [name, allowed] of Object.entries(ALLOWED_VALUES)) {
    const { [name]: value } = options;
    if (value === undefined || allowed.includes(value)) continue;
    throw invalid(`${name} must be one of ${allowed.join(", ")}`, value);
  }
  for (const name of FUNCTIONS) checkFunction(name, options[name]);
  const { policies, fallback, streamOptions, toolChoice, prices, steering, followUp } = options;
  for (const policy of checkList("policies", policies)) checkPolicy(policy);
  for (const model of checkList("fallback", fallback)) checkFallback(model);
  checkStreamOptions(streamOptions);
  checkToolChoice("toolChoice", toolChoice);
  if (prices !== undefined && !isJsonObject(prices)) checkFunction("prices", prices);
  checkQueue("steering", steering);
  checkQueue("followUp", followUp);
}

/**
 * Checks the complete configuration of a run.
 *
 * @throws {BadRequestError} If the model or the stream function is missing, or an option is invalid.
 */
export function checkRunConfig(
  config: { readonly model: ModelSpec; readonly streamFn: unknown },
): void {
  checkObject(config, "Pass a configuration with a model and a streamFn");
  checkModelSpec(config.model);
  if (config.streamFn === undefined) throw invalid("streamFn must be a function", undefined);
  checkConfig(config);
}

function checkLimit(name: string, limit: unknown): void {
  if (limit === undefined || (typeof limit === "number" && limit > 0)) return;
  throw wrongType(`${name} must be a number above 0`, limit);
}

function checkFunction(name: string, value: unknown): void {
  if (value === undefined || typeof value === "function") return;
  throw wrongType(`${name} must be a function`, value);
}

function checkList(name: string, value: unknown = []): readonly unknown[] {
  if (Array.isArray(value)) return value;
  throw invalid(`${name} must be an array`, value);
}

function checkPolicy(policy: unknown): void {
  if (!isJsonObject(policy) || typeof policy["name"] !== "string") {
    throw new BadRequestError("A policy must be an object with a name and hooks, such as preTurn");
  }
  for (const hook of HOOKS) {
    checkFunction(`${hook} of the policy "${policy["name"]}"`, policy[hook]);
  }
}

function checkFallback(fallback: unknown): void {
  if (!isJsonObject(fallback)) {
    throw invalid("fallback must have objects such as { model: modelSpec(name) }", fallback);
  }
  checkModelSpec(fallback["model"] as ModelSpec);
  for (const name of ["streamFn", "getApiKey", "retry"]) checkFunction(name, fallback[name]);
}

function checkStreamOptions(options: unknown): void {
  if (options === undefined) return;
  if (!isJsonObject(options) || isThenable(options)) {
    throw invalid("streamOptions must be an object", options);
  }
  checkToolChoice("streamOptions.toolChoice", options["toolChoice"]);
}

function checkToolChoice(name: string, choice: unknown): void {
  if (choice === undefined) return;
  if (choice === "auto" || choice === "none" || choice === "required") return;
  if (isJsonObject(choice) && typeof choice["name"] === "string") return;
  throw invalid(`${name} must be auto, none, required or { name: "…" }`, choice);
}

function checkQueue(name: string, queue: unknown): void {
  if (isJsonObject(queue) && typeof queue["take"] === "function") return;
  checkFunction(name, queue);
}

function invalid(expectation: string, value: unknown): BadRequestError {
  return new BadRequestError(`${expectation}, not ${describeValue(value)}`);
}

/** Does not repeat a string, which may be a key. */
function wrongType(expectation: string, value: unknown): BadRequestError {
  return typeof value === "string"
    ? new BadRequestError(`${expectation}, not a string`)
    : invalid(expectation, value);
}
