/**
 * The configuration of a run.
 *
 * @module
 */

import type { ApprovalMode, Approve } from "../core/approval.ts";
import { type ConvertToLlm, omitCustomMessages, type TransformContext } from "../core/context.ts";
import { BadRequestError } from "../core/errors.ts";
import type { ModelSpec } from "../core/model.ts";
import type { Policy } from "../core/policy.ts";
import { defaultPorts, type Ports } from "../core/ports.ts";
import { exponentialBackoff, type RetryStrategy } from "../core/retry.ts";
import { jsonSchemaValidator, type SchemaValidator } from "../core/schema.ts";
import type { StreamFn, StreamOptions } from "../core/stream.ts";
import type { AgentTool } from "../core/tool.ts";
import type { Prices } from "../core/usage.ts";
import type { MessageSource } from "./message_source.ts";

/**
 * Returns the API key of a provider. Called before every model call, so that keys can expire; `undefined` leaves the
 * key to the adapter.
 */
export type GetApiKey = (
  provider: string,
) => string | undefined | Promise<string | undefined>;

/** A model to call when the previous one failed after its last retry. */
export interface ModelFallback {
  /** The model. */
  readonly model: ModelSpec;
  /** Calls the model. Default: the `streamFn` of the run. */
  readonly streamFn?: StreamFn;
  /** Returns the key of the model's provider. Default: the `getApiKey` of the run. */
  readonly getApiKey?: GetApiKey;
  /** Decides whether a failed call is retried. Default: the `retry` of the run. */
  readonly retry?: RetryStrategy;
}

/**
 * The effect of steering on unfinished tool calls: `"cancel"` cancels them, `"boundary"` cancels those that have not
 * started, `"after_batch"` lets all of them finish.
 */
export type InterruptPolicy = "cancel" | "boundary" | "after_batch";

/** Settings that may change between two turns. */
export interface TurnSettings {
  /** The model. */
  readonly model: ModelSpec;
  /** The system prompt; empty for none. */
  readonly systemPrompt: string;
  /** The tools. */
  readonly tools: readonly AgentTool[];
  /** The tool that receives a structured answer; its calls skip policies and approval. */
  readonly answerTool?: AgentTool;
}

/** Configuration of `agentLoop()`. All options except `model` and `streamFn` are optional. */
export interface AgentLoopConfig extends Partial<Ports> {
  /** The model. */
  readonly model: ModelSpec;
  /** Calls the model. */
  readonly streamFn: StreamFn;
  /** Options of every model call. */
  readonly streamOptions?: StreamOptions;
  /** Converts each message for the provider. Default: omits custom messages. */
  readonly convertToLlm?: ConvertToLlm;
  /** Selects the messages of each request. Default: all messages. */
  readonly transformContext?: TransformContext;
  /** Returns API keys. Default: none; the adapter uses its own key. */
  readonly getApiKey?: GetApiKey;
  /** Decides whether and when a failed model call is retried. Default: {@linkcode exponentialBackoff}. */
  readonly retry?: RetryStrategy;
  /** Models to call when the first one failed after its last retry. Default: none. */
  readonly fallback?: readonly ModelFallback[];
  /** Hooks that observe, stop or extend the run. Default: none. */
  readonly policies?: readonly Policy[];
  /** Decides whether a tool call may run. Default: none. */
  readonly approve?: Approve;
  /** Which tool calls need approval. Default: all if `approve` is set, otherwise none. */
  readonly approvalMode?: ApprovalMode;
  /** The effect of steering on unfinished tool calls. Default: `"cancel"`. */
  readonly interrupt?: InterruptPolicy;
  /** Maximum number of turns in a run. Default: 100. `Infinity` for no limit. */
  readonly maxTurns?: number;
  /** Maximum duration of a tool call, in milliseconds. Default: no limit. */
  readonly toolTimeoutMs?: number;
  /** Compiles JSON Schemas. Default: {@linkcode jsonSchemaValidator}. */
  readonly validator?: SchemaValidator;
  /** Price list. Default: none; only costs that a provider reports are counted. */
  readonly prices?: Prices;
  /** Queue of messages to deliver during the run, at the start of the next turn. Default: none. */
  readonly steering?: MessageSource;
  /** Queue of messages to deliver when the run would otherwise end. Default: none. */
  readonly followUp?: MessageSource;
  /** Returns the settings of the next turn; called before every turn. Default: the settings never change. */
  readonly settings?: () => TurnSettings;
}

/** A configuration with all defaults filled in. */
export type ResolvedConfig =
  & AgentLoopConfig
  & Ports
  & Required<
    Pick<
      AgentLoopConfig,
      | "streamOptions"
      | "convertToLlm"
      | "retry"
      | "fallback"
      | "policies"
      | "interrupt"
      | "maxTurns"
      | "validator"
    >
  >;

const ALLOWED_VALUES = {
  interrupt: ["cancel", "boundary", "after_batch"],
  approvalMode: ["enabled", "smart", "bypassed"],
} as const;

/**
 * Checks options of untyped callers: a misspelled `approvalMode` would otherwise approve every call.
 *
 * @throws {BadRequestError} If a limit is not above 0, or an option has an unknown value.
 */
export function checkConfig(config: Partial<AgentLoopConfig>): void {
  for (const name of ["maxTurns", "toolTimeoutMs"] as const) {
    const { [name]: limit = Infinity } = config;
    if (!(limit > 0)) throw new BadRequestError(`${name} must be a number above 0, not ${limit}`);
  }
  for (const name of ["interrupt", "approvalMode"] as const) {
    const { [name]: value } = config;
    const allowed: readonly unknown[] = ALLOWED_VALUES[name];
    if (value === undefined || allowed.includes(value)) continue;
    throw new BadRequestError(`${name} must be one of ${allowed.join(", ")}, not ${value}`);
  }
}

/**
 * Checks a configuration and fills in the defaults.
 *
 * @throws {BadRequestError} If an option is invalid.
 */
export function resolveConfig(config: AgentLoopConfig): ResolvedConfig {
  checkConfig(config);
  const random = config.random ?? defaultPorts.random;
  return {
    ...defaultPorts,
    streamOptions: {},
    convertToLlm: omitCustomMessages,
    retry: exponentialBackoff({ random }),
    fallback: [],
    policies: [],
    interrupt: "cancel",
    maxTurns: 100,
    validator: jsonSchemaValidator,
    ...config,
  };
}
