/**
 * What one run needs to know.
 *
 * @module
 */

import type { ApprovalMode, Approve } from "../core/approval.ts";
import { BadRequestError } from "../core/errors.ts";
import { type ConvertToLlm, omitCustomMessages, type TransformContext } from "../core/context.ts";
import type { ModelSpec } from "../core/model.ts";
import type { Policy } from "../core/policy.ts";
import { exponentialBackoff, type RetryStrategy } from "../core/retry.ts";
import { ajvValidator, type SchemaValidator } from "../core/schema.ts";
import type { StreamFn, StreamOptions } from "../core/stream.ts";
import type { AgentTool } from "../core/tool.ts";
import type { Prices } from "../core/usage.ts";
import type { MessageSource } from "./message_source.ts";
import { defaultPorts, type Ports } from "../core/ports.ts";

/** Gives the key of a provider, asked anew before every model call; `undefined` leaves it to the adapter. */
export type GetApiKey = (
  provider: string,
) => string | undefined | Promise<string | undefined>;

/** A model to ask when the one before has failed for good. */
export interface ModelFallback {
  /** The model. */
  readonly model: ModelSpec;
  /** How it is asked. Default: as the first model. */
  readonly streamFn?: StreamFn;
  /** Its key. Default: the run's `getApiKey`, asked for this model's provider. */
  readonly getApiKey?: GetApiKey;
  /** Its retries. Default: the run's. */
  readonly retry?: RetryStrategy;
}

/**
 * What steering does to tool calls that have not finished: cancels them, cancels only those that have not
 * started, or lets all of them finish.
 */
export type InterruptPolicy = "cancel" | "boundary" | "after_batch";

/** What can change from one turn to the next. */
export interface TurnSettings {
  /** The model to ask. */
  readonly model: ModelSpec;
  /** The system prompt; empty for none. */
  readonly systemPrompt: string;
  /** The tools. */
  readonly tools: readonly AgentTool[];
  /** The one among them that takes the run's answer; neither policies nor people are asked about it. */
  readonly answerTool?: AgentTool;
}

/** What one run leaves for the next over the same history. */
export interface LoopMemory {
  /** Whether the last model call ended in an overflow that was not recovered from. */
  overflowed: boolean;
  /** Models whose missing price was told. */
  readonly unpriced: Set<string>;
}

/** Configuration of {@linkcode agentLoop}; everything but `model` and `streamFn` has a default. */
export interface AgentLoopConfig extends Partial<Ports> {
  /** The model to ask. */
  readonly model: ModelSpec;
  /** How it is asked. */
  readonly streamFn: StreamFn;
  /** Options of every model call. */
  readonly streamOptions?: StreamOptions;
  /** Turns messages into what the provider gets. Default: leaves custom messages out. */
  readonly convertToLlm?: ConvertToLlm;
  /** Chooses the messages of a request. Default: all of them. */
  readonly transformContext?: TransformContext;
  /** Gives keys. Default: none, the adapter has its own. */
  readonly getApiKey?: GetApiKey;
  /** When a failed model call is tried again. Default: {@linkcode exponentialBackoff}. */
  readonly retry?: RetryStrategy;
  /** Models to ask when the first has failed for good. Default: none. */
  readonly fallback?: readonly ModelFallback[];
  /** Hooks that watch, stop or add. Default: none. */
  readonly policies?: readonly Policy[];
  /** Answers whether a call may run. Default: none. */
  readonly approve?: Approve;
  /** Which calls are asked about. Default: all when there is an `approve`, else none. */
  readonly approvalMode?: ApprovalMode;
  /** What steering does to unfinished calls. Default: `"cancel"`. */
  readonly interrupt?: InterruptPolicy;
  /** Most turns of a run. Default: 100. `Infinity` for no limit. */
  readonly maxTurns?: number;
  /** Longest time of a tool call, in milliseconds. Default: no limit. */
  readonly toolTimeoutMs?: number;
  /** Compiles schemas. Default: ajv. */
  readonly validator?: SchemaValidator;
  /** Prices of models. Default: unknown; only what a provider itself says is counted. */
  readonly prices?: Prices;
  /** Messages for the running turn. */
  readonly steering?: MessageSource;
  /** Messages for when the run would end. */
  readonly followUp?: MessageSource;
  /** What may have changed, asked before every turn. Default: nothing changes. */
  readonly settings?: () => TurnSettings;
  /** What the run before left. Default: nothing. */
  readonly memory?: LoopMemory;
}

/** A configuration in which nothing is missing that has a default. */
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
    >
  >
  & { readonly validator: SchemaValidator; readonly memory: LoopMemory };

/** What a first run starts from. */
export function createLoopMemory(): LoopMemory {
  return { overflowed: false, unpriced: new Set() };
}

const ALLOWED_VALUES = {
  interrupt: ["cancel", "boundary", "after_batch"],
  approvalMode: ["enabled", "smart", "bypassed"],
} as const;

/**
 * Refuses what types cannot: a limit that is none, and a word that is not one of those there are. A misspelt
 * `approvalMode` would otherwise let everything pass.
 *
 * @throws {BadRequestError} When there is such.
 */
export function checkConfig(config: Partial<AgentLoopConfig>): void {
  for (const name of ["maxTurns", "toolTimeoutMs"] as const) {
    const { [name]: limit = Infinity } = config;
    if (!(limit > 0)) throw new BadRequestError(`${name} must be a number above 0, not ${limit}`);
  }
  for (const name of ["interrupt", "approvalMode"] as const) {
    const { [name]: choice } = config;
    const choices: readonly unknown[] = ALLOWED_VALUES[name];
    if (choice === undefined || choices.includes(choice)) continue;
    throw new BadRequestError(`${name} must be one of ${choices.join(", ")}, not ${choice}`);
  }
}

/**
 * Fills in the defaults.
 *
 * @throws {BadRequestError} When an option cannot be meant.
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
    validator: ajvValidator,
    memory: createLoopMemory(),
    ...config,
  };
}
