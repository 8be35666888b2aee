/**
 * Policies: hooks that observe a run, change its requests and results, stop it or add messages.
 *
 * @module
 */

import type { AgentError } from "../errors/errors.ts";
import type { JsonObject } from "../json/json.ts";
import type {
  AgentMessage,
  AssistantMessage,
  LlmMessage,
  ToolResultMessage,
} from "../messages/message.ts";
import type { AgentToolResult } from "../messages/tool_result.ts";
import type { ModelSpec, StopReason } from "../models/model.ts";
import type { Cost, LateSpending, Rates, Usage } from "../models/usage.ts";
import type { ServerTool } from "../streams/server_tool.ts";
import type { StreamOptions, StreamRequest, ToolChoice } from "../streams/stream.ts";
import type { AgentTool } from "../tools/tool.ts";

/** The state of the run, passed to every slot of a policy. */
export interface PolicyContext {
  /** Id of the run. */
  readonly runId: string;
  /** Number of turns that have started in the run; 0 before the first turn. */
  readonly turn: number;
  /** The model of the current turn or, in `preTurn`, of the next turn. */
  readonly model: ModelSpec;
  /** A frozen copy of the history, oldest message first; no part of it can be changed. */
  readonly messages: readonly AgentMessage[];
  /** Token counts of the run so far. */
  readonly usage: Usage;
  /** Cost of the run so far. */
  readonly cost: Cost;
  /** Spending of agents after the end of the tool calls that run them, as part of `usage` and `cost`. Default: none. */
  readonly lateSpending?: readonly LateSpending[] | undefined;
  /** Time since the start of the run, in milliseconds. */
  readonly elapsedMs: number;
  /** The `context` of the run's options. */
  readonly context: unknown;
  /** Aborted when the run is aborted. */
  readonly signal: AbortSignal;
}

/** Input of {@linkcode Policy.preTurn}. */
export interface PreTurnContext extends PolicyContext {
  /**
   * Frozen copies of the messages that the turn will append first: the prompt, steering or follow-ups. If a policy reads
   * them, messages that are queued later wait for the next turn.
   */
  readonly newMessages: readonly AgentMessage[];
}

/** Input of {@linkcode Policy.resumeTools}. */
export interface ResumeToolsContext {
  /** Id of the run that continues the calls, or of the latest one before it starts. */
  readonly runId: string;
  /** The tools of the agent, as changed by earlier policies. */
  readonly tools: readonly AgentTool[];
}

/** Input of {@linkcode Policy.preRequest}. */
export interface PreRequestContext extends PolicyContext {
  /** The request as it would be sent, without the API key of `getApiKey`. Its messages and options are frozen copies. */
  readonly request: Omit<StreamRequest, "signal">;
  /** The tools whose descriptions are in the request. */
  readonly tools: readonly AgentTool[];
  /** The context window of the model in tokens; `undefined` if it is unknown. */
  readonly contextWindow: number | undefined;
  /** The maximum number of output tokens of the model; `undefined` if it is unknown. */
  readonly maxOutputTokens: number | undefined;
  /** Prices of the model; `undefined` if they are unknown. */
  readonly rates: Rates | undefined;
}

/** A tool that a request would offer to the model, or that a call names. */
export type OfferedTool =
  | {
    readonly type: "tool";
    /** The tool. */
    readonly tool: AgentTool;
  }
  | {
    readonly type: "server_tool";
    /**
     * The tool, which the provider runs. An entry of `tools` in the `extra` fields of a request is a `provider_tool`, and so
     * is each other field there that may give the model tools: its `definition` is then `{ [name]: value }`.
     */
    readonly tool: ServerTool;
  };

/** Input of {@linkcode Policy.canUseTool}. */
export type CanUseToolContext = OfferedTool & {
  /** Id of the run. */
  readonly runId: string;
  /** Ids of the runs above it, the nearest first; none for the run of the host. */
  readonly parentRunIds: readonly string[];
};

/** Input of {@linkcode Policy.preDispatch}. */
export interface PreDispatchContext extends PolicyContext {
  /** Id of the call. */
  readonly toolCallId: string;
  /** The tool. */
  readonly tool: AgentTool;
  /**
   * A copy of the arguments that the policy may modify. Modified arguments are validated again, and the tool result
   * informs the model of the change. Modifications have no effect after an approval with edited arguments.
   */
  readonly arguments: Record<string, unknown>;
  /** Timeout of the call, in milliseconds; `undefined` if there is none. */
  readonly timeoutMs: number | undefined;
}

/** Input of {@linkcode Policy.onRefused}. */
export interface RefusedCallContext extends PolicyContext {
  /** Id of the call. */
  readonly toolCallId: string;
  /** The tool. */
  readonly tool: AgentTool;
}

/** Input of {@linkcode Policy.postDispatch}. */
export interface PostDispatchContext extends PolicyContext {
  /** The call, with the arguments that ran. */
  readonly toolCall: { readonly id: string; readonly name: string; readonly arguments: JsonObject };
  /** The tool. */
  readonly tool: AgentTool;
  /** A copy of the result. */
  readonly result: AgentToolResult;
  /** Duration of the call, in milliseconds. */
  readonly durationMs: number;
}

/** Input of {@linkcode Policy.postTurn}. */
export interface PostTurnContext extends PolicyContext {
  /** A frozen copy of the reply. */
  readonly message: AssistantMessage;
  /** Frozen copies of the results of its tool calls, in call order. */
  readonly toolResults: readonly ToolResultMessage[];
}

/** Input of {@linkcode Policy.postLoop}. */
export interface PostLoopContext extends PolicyContext {
  /** The reason why the last reply ended. */
  readonly stopReason: StopReason;
  /** The error, if the run failed. */
  readonly error?: AgentError | undefined;
}

/** Continues the run. */
export interface ContinueVerdict {
  readonly type: "continue";
}

/** Stops the run. */
export interface StopVerdict {
  readonly type: "stop";
  /** The reason, reported in `AgentResult.stoppedBy`. */
  readonly reason: string;
}

/** Adds messages to the history: in `preTurn` to this turn, otherwise to the next turn. */
export interface InjectVerdict {
  readonly type: "inject";
  /** The messages to add. */
  readonly messages: readonly AgentMessage[];
}

/** Refuses a tool call with an error result. */
export interface SkipVerdict {
  readonly type: "skip";
  /** The reason given to the model. */
  readonly reason: string;
}

/** Changes one request; what it does not name stays. Later requests are not affected. */
export interface ChangeVerdict {
  readonly type: "change";
  /** The model to call. */
  readonly model?: ModelSpec | undefined;
  /** The system prompt. */
  readonly systemPrompt?: string | undefined;
  /** The messages to send. */
  readonly messages?: readonly LlmMessage[] | undefined;
  /** The tools that the model may call in this turn. */
  readonly tools?: readonly AgentTool[] | undefined;
  /** The constraint on tool calls. */
  readonly toolChoice?: ToolChoice | undefined;
  /** Options that replace those of the request, one by one. `apiKey` and `extra` are for the model's provider. */
  readonly options?: StreamOptions | undefined;
}

/**
 * Leaves tools out of one request, such as those that would take up too much of the context window. The model cannot call
 * them in this turn; agents that the turn starts may have them.
 */
export interface HideVerdict {
  readonly type: "hide";
  /** The tools; others than those of the request have no effect. */
  readonly tools: readonly AgentTool[];
}

/** Verdict of a policy on a request. `undefined` is the same as `continue`. */
export type PreRequestVerdict = ContinueVerdict | StopVerdict | ChangeVerdict | HideVerdict | void;

/** Verdict of a policy. `undefined` is the same as `continue`. */
export type PolicyVerdict = ContinueVerdict | StopVerdict | InjectVerdict | void;

/** Verdict of a policy on a tool call. `undefined` is the same as `continue`. */
export type PreDispatchVerdict = ContinueVerdict | StopVerdict | InjectVerdict | SkipVerdict | void;

/**
 * A hook of a policy; `undefined` is the same as a missing one. A method may declare a more specific context, such as one
 * with the type of the application's `context`.
 */
export type PolicyHook<Context, Result> =
  // The type of a method, unlike that of a function, accepts a parameter of a narrower type.
  | { hook(context: Context): Result }["hook"]
  | undefined;

/**
 * Hooks that are called at fixed points of a run.
 *
 * The policies of an agent are called in order. The first `stop` ends the run; without one, the messages of all `inject`
 * verdicts are added.
 *
 * A hook that throws, rejects or returns an invalid verdict fails closed where it guards something: `preDispatch`
 * refuses the call, `postDispatch` withholds the result, `preRequest` and `preCompaction` end the turn with an error, and a
 * tool does not exist if `canUseTool` fails. In the other slots it counts as `continue` and is reported as a `warning` event.
 *
 * @example
 * ```ts
 * import { Agent, type Policy } from "@swink/agent";
 * import { reply, scriptedStream } from "@swink/agent/testing";
 *
 * const businessHours: Policy = {
 *   name: "business_hours",
 *   preTurn({ context }) {
 *     if (context !== "open") return { type: "stop", reason: "The office is closed" };
 *   },
 * };
 *
 * const streamFn = scriptedStream([reply("Hello")]);
 * const agent = new Agent({ model: "any/model", policies: [businessHours], streamFn });
 * (await agent.prompt("Hi", { context: "closed" })).stoppedBy?.reason; // "The office is closed"
 * ```
 */
export interface Policy {
  /** Name of the policy, for `AgentResult.stoppedBy` and warnings. */
  readonly name: string;
  /**
   * Called before each turn, before its `turn_start` event. The prompt, steering and follow-ups are in `newMessages`; the
   * `messages` do not have them yet.
   */
  preTurn?: PolicyHook<PreTurnContext, PolicyVerdict | Promise<PolicyVerdict>>;
  /**
   * Called with the request of each turn, which it may change; not called again for retries and fallback models, but for
   * the smaller request after a context overflow.
   */
  preRequest?: PolicyHook<PreRequestContext, PreRequestVerdict | Promise<PreRequestVerdict>>;
  /**
   * Called with each request that `transformContext` makes itself, such as one for a summary, if that asks with
   * `checkRequest`. A `stop` makes no request and ends the run. The `usage` and `cost` include the requests that the
   * transform has made before. For `compact()` outside of a run, they and the `runId` are those of the compaction.
   */
  preCompaction?: PolicyHook<
    PreRequestContext,
    ContinueVerdict | StopVerdict | void | Promise<ContinueVerdict | StopVerdict | void>
  >;
  /**
   * Called when a `compact()` outside of a run has ended, with the `runId` of its `preCompaction` and with what it has
   * spent; the compaction of a run is part of the run. The return value is ignored.
   */
  postCompaction?: PolicyHook<PolicyContext, void | Promise<void>>;
  /**
   * Whether a tool exists for the model. Called for each tool of a request after all `preRequest` policies, for the tool of
   * each call, and again when the call starts. A tool without the answer `true` of every policy, which must be synchronous,
   * is not in the request, and its calls are refused; only the tool of a structured answer always exists.
   */
  canUseTool?: PolicyHook<CanUseToolContext, boolean>;
  /**
   * Returns the tools for calls of an earlier run or process that a run continues without a request, such as pending
   * approvals: a policy whose `preRequest` adds or replaces tools does the same here. Synchronous. Default: the tools of the
   * context.
   */
  resumeTools?: PolicyHook<ResumeToolsContext, readonly AgentTool[] | void>;
  /** Called for each tool call after validation and before approval, and again if the approval edits its arguments. */
  preDispatch?: PolicyHook<PreDispatchContext, PreDispatchVerdict | Promise<PreDispatchVerdict>>;
  /**
   * Called for each tool call that does not run although it is valid, since a policy, the approval, steering or an abort
   * refused it. The return value is ignored.
   */
  onRefused?: PolicyHook<RefusedCallContext, void | Promise<void>>;
  /**
   * Called for each tool call that was started, also if it was cancelled or its tool withdrawn just before it ran, and
   * before its result is emitted, recorded or sent. A returned result replaces it; `undefined` keeps it. If one
   * fails, the others get the error result, which they cannot replace.
   */
  postDispatch?: PolicyHook<
    PostDispatchContext,
    AgentToolResult | void | Promise<AgentToolResult | void>
  >;
  /** Called when a turn's messages are in the history, also if the turn failed or was aborted. */
  postTurn?: PolicyHook<PostTurnContext, PolicyVerdict | Promise<PolicyVerdict>>;
  /** Called once at the end of the run; the return value is ignored. */
  postLoop?: PolicyHook<PostLoopContext, void | Promise<void>>;
  /**
   * Called before each model call of a turn, and every 250 ms, even if no data arrives: while the model replies, and
   * while retries, approvals and tools are waited for. A `stop` aborts the reply, whose arrived part is kept, and
   * cancels unfinished tool calls. Synchronous.
   */
  onDelta?: PolicyHook<OnDeltaContext, ContinueVerdict | StopVerdict | void>;
}

/** A tool call that has started and not ended. */
export interface RunningCall {
  /** Id of the call. */
  readonly toolCallId: string;
  /** The tool. */
  readonly tool: AgentTool;
  /** Time since the start of the tool, in milliseconds. */
  readonly durationMs: number;
}

/** Input of {@linkcode Policy.onDelta}. */
export interface OnDeltaContext {
  /** Id of the run. */
  readonly runId: string;
  /** The model that is called. */
  readonly model: ModelSpec;
  /** Prices of the model. Missing if none are known, or not yet because its adapter is being loaded. */
  readonly rates?: Rates | undefined;
  /** Whether a reply streams; otherwise the turn waits for a retry, an approval or tools. */
  readonly isReplying: boolean;
  /**
   * Whether a model is about to be called: that of the request, the same one again, or a fallback. A `stop` then makes no
   * request.
   */
  readonly isStarting: boolean;
  /** The maximum number of output tokens of the model if `isStarting`. Missing if it is unknown. */
  readonly maxOutputTokens?: number | undefined;
  /** Length of the text, thinking and arguments of the reply so far, in UTF-16 code units. */
  readonly characters: number;
  /** The tool calls of the turn that have started and not ended. */
  readonly runningCalls: readonly RunningCall[];
  /** Token counts of the run, without the reply that streams. */
  readonly usage: Usage;
  /** Cost of the run, without the reply that streams. */
  readonly cost: Cost;
  /** Spending of agents after the end of the tool calls that run them, as part of `usage` and `cost`. Default: none. */
  readonly lateSpending?: readonly LateSpending[] | undefined;
  /** Time since the start of the run, in milliseconds. */
  readonly elapsedMs: number;
  /** The `context` of the run's options. */
  readonly context: unknown;
}
