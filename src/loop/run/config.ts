/**
 * The configuration of a run.
 *
 * @module
 */

import type { ApprovalMode } from "../../core/approval/approval.ts";
import {
  type ConvertToLlm,
  omitCustomMessages,
  type TransformContext,
} from "../../core/context/context.ts";
import type { AgentError } from "../../core/errors/errors.ts";
import type { RunHandle } from "../../core/events/run_handle.ts";
import type { Approve } from "../../core/hooks/approve.ts";
import type { Policy } from "../../core/hooks/policy.ts";
import { exponentialBackoff, type RetryStrategy } from "../../core/hooks/retry.ts";
import type { JsonObject } from "../../core/json/json.ts";
import { type ModelSpec, modelSpec } from "../../core/models/model.ts";
import type { Prices } from "../../core/models/usage.ts";
import { type Ports, resolvePorts } from "../../core/ports/ports.ts";
import { ajvValidator, type SchemaValidator } from "../../core/schemas/schema.ts";
import type { StreamFn, StreamOptions, ToolChoice } from "../../core/streams/stream.ts";
import type { AgentTool, ExpectedContext } from "../../core/tools/tool.ts";
import type { MessageSource } from "../queues/message_source.ts";
import type { GetMessages } from "../queues/polled_source.ts";
import { checkRunConfig } from "./check_config.ts";

/**
 * Returns the API key of a provider. Called before every model call, so that keys can expire; `undefined` leaves the
 * key to the adapter.
 */
export type GetApiKey = (
  provider: string,
) => string | undefined | Promise<string | undefined>;

/** A model to call when the previous one failed after its last retry, or its quota is exhausted. */
export interface ModelFallback {
  /** The model. */
  readonly model: ModelSpec;
  /** Calls the model, without the `apiKey` of `streamOptions`. Default: the `streamFn` of the run, with that key. */
  readonly streamFn?: StreamFn | undefined;
  /** Returns the key of the model's provider. Default: the `getApiKey` of the run. */
  readonly getApiKey?: GetApiKey | undefined;
  /** Decides whether a failed call is retried. Default: the `retry` of the run. */
  readonly retry?: RetryStrategy | undefined;
  /**
   * Additional fields of the request body for this model. Default: the `extra` of the run, if that is for the same
   * provider.
   */
  readonly extra?: JsonObject | undefined;
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
  /** The tools that policies have left out of the request of the turn; set once the request is made. Default: none. */
  readonly hiddenTools?: readonly AgentTool[] | undefined;
  /** The tool that receives a structured answer; its calls skip policies and approval. */
  readonly answerTool?: AgentTool;
  /**
   * Called when the provider rejects a request, at most twice in a turn. Returns whether the request is sent again, as the
   * `preRequest` policies then change it.
   */
  readonly recoverRequest?: (error: AgentError) => boolean;
}

/** Configuration of `agentLoop()`. All options except `model` and `streamFn` are optional. */
export interface AgentLoopConfig<Tool extends AgentTool<never> = AgentTool> {
  /** Returns the time in milliseconds since the epoch. Default: `Date.now`. */
  readonly now?: Ports["now"] | undefined;
  /** Waits for retries and timeouts. Default: based on `setTimeout`. */
  readonly sleep?: Ports["sleep"] | undefined;
  /** Creates a unique id. Default: a random UUID. */
  readonly newId?: Ports["newId"] | undefined;
  /** Returns a random number in [0, 1), for jitter. Default: `Math.random`. */
  readonly random?: Ports["random"] | undefined;
  /** Reads the files of image, document and audio blocks. Default: none; such a block fails. */
  readonly readFile?: Ports["readFile"] | undefined;
  /** The model. */
  readonly model: ModelSpec;
  /** Calls the model. */
  readonly streamFn: StreamFn;
  /** Options of every model call. */
  readonly streamOptions?: StreamOptions | undefined;
  /**
   * Constraint on tool calls. One that forces a call applies only to the first turn of a run, since the model could never
   * answer otherwise. Default: that of `streamOptions`.
   */
  readonly toolChoice?: ToolChoice | undefined;
  /** Converts each message for the provider. Default: omits custom messages. */
  readonly convertToLlm?: ConvertToLlm | undefined;
  /** Selects the messages of each request. Default: all messages. */
  readonly transformContext?: TransformContext | undefined;
  /** Returns API keys. Default: none; the adapter uses its own key. */
  readonly getApiKey?: GetApiKey | undefined;
  /** Decides whether and when a failed model call is retried. Default: {@linkcode exponentialBackoff}. */
  readonly retry?: RetryStrategy | undefined;
  /**
   * Models to call when the first one failed after its last retry, or its quota is exhausted, by name or with options of
   * their own. Other failures without a retry end the run. Default: none.
   */
  readonly fallback?: readonly (string | ModelFallback)[] | undefined;
  /** Hooks that observe, change, stop or extend the run; each applies once. Default: none. */
  readonly policies?: readonly Policy[] | undefined;
  /** Decides whether a tool call may run. Default: none. */
  readonly approve?: Approve<ExpectedContext<Tool>> | undefined;
  /** Which tool calls need approval. Default: all if `approve` is set, otherwise none. */
  readonly approvalMode?: ApprovalMode | undefined;
  /** The effect of steering on unfinished tool calls. Default: `"cancel"`. */
  readonly interrupt?: InterruptPolicy | undefined;
  /** Maximum number of turns in a run. Default: 100. `Infinity` for no limit. */
  readonly maxTurns?: number | undefined;
  /** Maximum duration of a tool call, in milliseconds. Default: no limit. */
  readonly toolTimeoutMs?: number | undefined;
  /** Compiles JSON Schemas. Default: ajv. */
  readonly validator?: SchemaValidator | undefined;
  /** Price list. Default: the prices of `streamFn`; without any, only costs that a provider reports are known. */
  readonly prices?: Prices | undefined;
  /**
   * Any value for tools, approvals and policies, such as a database handle or the user's id; never sent, stored or
   * logged. Tools determine its type, with `ToolContext`. Default: `undefined`.
   */
  readonly context?: ExpectedContext<Tool> | undefined;
  /**
   * Queue of messages to deliver during the run, at the start of the next turn; or a function that returns them, called
   * before each turn and after each tool call. When a policy or the turn limit stops the run, the messages of a function
   * that no turn has taken are appended. After an abort, and if policies check messages, a `warning` has them instead.
   * Default: none.
   */
  readonly steering?: MessageSource | GetMessages | undefined;
  /**
   * Queue of messages to deliver when the run would otherwise end; or a function that returns them, called then. Default:
   * none.
   */
  readonly followUp?: MessageSource | GetMessages | undefined;
  /**
   * The run whose tool runs the agent (`ToolContext.run`). Its policies guard the agent, its approval decides about each
   * call without asking a person, and the number and depth of agents below it are limited. Default: none.
   */
  readonly parent?: RunHandle | undefined;
  /** Returns the settings of the next turn; called before every turn. Default: the settings never change. */
  readonly settings?: (() => TurnSettings) | undefined;
}

/** The configuration of one run of an agent. */
export interface RunConfig extends AgentLoopConfig {
  /** The provider that gets the `extra` of `streamOptions`. Default: that of `model`. */
  readonly extraProvider?: string | undefined;
}

/** A configuration with all defaults filled in. */
export type ResolvedConfig =
  & Omit<RunConfig, keyof Defaults>
  & Defaults;

type Defaults =
  & Ports
  & {
    readonly [
      Name in
        | "streamOptions"
        | "convertToLlm"
        | "retry"
        | "policies"
        | "interrupt"
        | "maxTurns"
        | "validator"
    ]-?: NonNullable<AgentLoopConfig[Name]>;
  }
  & { readonly fallback: readonly ModelFallback[]; readonly extraProvider?: string | undefined };

/**
 * Returns a fallback with its model; a name is that of the model.
 *
 * @throws {BadRequestError} If a name is not one of a model.
 */
export function toModelFallback(fallback: string | ModelFallback): ModelFallback {
  return typeof fallback === "string" ? { model: modelSpec(fallback) } : fallback;
}

/**
 * Checks a configuration and fills in the defaults.
 *
 * @throws {BadRequestError} If an option is invalid.
 */
export function resolveConfig(config: RunConfig): ResolvedConfig {
  checkRunConfig(config);
  const ports = resolvePorts(config);
  return {
    ...config,
    ...ports,
    streamOptions: config.streamOptions ?? {},
    convertToLlm: config.convertToLlm ?? omitCustomMessages,
    retry: config.retry ?? exponentialBackoff({ random: ports.random }),
    fallback: (config.fallback ?? []).map(toModelFallback),
    // A budget that an agent and its run share would count each reply twice.
    policies: [...new Set(config.policies)],
    interrupt: config.interrupt ?? "cancel",
    maxTurns: config.maxTurns ?? 100,
    validator: config.validator ?? ajvValidator,
  } as ResolvedConfig;
}
