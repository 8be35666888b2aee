/**
 * Runs LLM agents: prompt, model stream, tool calls, results, next turn.
 *
 * @module
 */

// The words.
export {
  type ContentBlock,
  type ExtensionBlock,
  extractText,
  extractToolCalls,
  type ImageBlock,
  type ImageSource,
  type TextBlock,
  type ThinkingBlock,
  type ToolCallBlock,
} from "./src/core/content.ts";
export type {
  AgentMessage,
  AssistantMessage,
  CustomMessage,
  LlmMessage,
  PromptInput,
  ToolResultMessage,
  UserMessage,
} from "./src/core/message.ts";
export { userMessage } from "./src/core/message.ts";
export {
  type CustomMessageDefinition,
  type CustomMessageKind,
  defineCustomMessage,
} from "./src/core/custom_message.ts";
export { type HistoryRepair, type RepairedHistory, repairHistory } from "./src/core/history.ts";
export {
  addCost,
  addUsage,
  type Cost,
  type Prices,
  priceUsage,
  type Rates,
  type Usage,
  zeroCost,
  zeroUsage,
} from "./src/core/usage.ts";
export {
  isThinkingLevel,
  type ModelSpec,
  modelSpec,
  type StopReason,
  THINKING_LEVELS,
  type ThinkingBudgets,
  type ThinkingLevel,
} from "./src/core/model.ts";
export {
  AbortedError,
  AgentError,
  type AgentErrorCode,
  type AgentErrorOptions,
  type AgentErrorRecord,
  AlreadyRunningError,
  AuthError,
  BadRequestError,
  BudgetExceededError,
  ContentFilteredError,
  ContextWindowOverflowError,
  InvalidContinueError,
  ModelNotFoundError,
  ModelThrottledError,
  NetworkError,
  NoMessagesError,
  SessionError,
  type SessionErrorReason,
  type SessionFailure,
  type SessionOwner,
  StreamError,
  StructuredOutputFailedError,
  type StructuredOutputFailure,
  ToolTimeoutError,
} from "./src/core/errors.ts";
export {
  type BackoffOptions,
  exponentialBackoff,
  type RetryFailure,
  type RetryStrategy,
} from "./src/core/retry.ts";
export type {
  AssistantMessageDelta,
  AssistantMessageEvent,
  BlockDeltaEvent,
  BlockEndEvent,
  BlockStartEvent,
  CacheRetention,
  ExtensionEvent,
  LlmContext,
  StreamDoneEvent,
  StreamErrorEvent,
  StreamFn,
  StreamOptions,
  StreamRequest,
  StreamStartEvent,
  StreamWarningEvent,
  ToolCallStartEvent,
  ToolChoice,
  ToolSpec,
} from "./src/core/stream.ts";
export { type BlockEndOptions, BlockWriter, type FinishedReply } from "./src/core/block_writer.ts";
export {
  type AccumulatedReply,
  type ArgumentsState,
  type FinishedCall,
  ReplyAccumulator,
} from "./src/core/accumulate.ts";
export type { JsonObject, JsonSchema, JsonValue } from "./src/core/json.ts";
export type {
  Infer,
  InferArguments,
  SchemaInterface,
  SchemaSource,
  StandardJsonSchemaSource,
} from "./src/core/infer.ts";
export {
  ajvValidator,
  type CompiledSchema,
  type SchemaValidator,
  validateToolArguments,
  type ValidationError,
  type ValidationResult,
} from "./src/core/schema.ts";
export type { FileChange } from "./src/core/diff/file_change.ts";
export {
  type AgentTool,
  type AgentToolResult,
  defineTool,
  errorResult,
  type SideEffect,
  textResult,
  type ToolContext,
  type ToolDefinition,
  type ToolUpdate,
} from "./src/core/tool.ts";
export {
  type AgentContext,
  type CompactionReport,
  type ConvertToLlm,
  omitCustomMessages,
  type TransformContext,
  type TransformInput,
  type TransformOutput,
} from "./src/core/context.ts";
export type {
  ApprovalDecision,
  ApprovalMode,
  ApprovalRequest,
  Approve,
} from "./src/core/approval.ts";
export type {
  ContinueVerdict,
  InjectVerdict,
  OnDeltaContext,
  Policy,
  PolicyContext,
  PolicyVerdict,
  PostLoopContext,
  PostTurnContext,
  PreDispatchContext,
  PreDispatchVerdict,
  PreTurnContext,
  SkipVerdict,
  StoppedBy,
  StopVerdict,
} from "./src/core/policy.ts";
export type * from "./src/core/event.ts";
export { estimateTextTokens, estimateTokens, estimateToolTokens } from "./src/core/tokens.ts";
export type * from "./src/core/session_entry.ts";
export type * from "./src/core/session.ts";

// The engine.
export { agentLoop, agentLoopContinue, type LoopOptions } from "./src/loop/loop.ts";
export type {
  AgentLoopConfig,
  GetApiKey,
  InterruptPolicy,
  LoopMemory,
  ModelFallback,
  TurnSettings,
} from "./src/loop/config.ts";
export type { Clock, IdKind, Ports, ReadFile, Sleep } from "./src/core/ports.ts";
export type { MessageSource } from "./src/loop/message_source.ts";

// The agent.
export { Agent, type RunOptions } from "./src/agent/agent.ts";
export type { AgentOptions } from "./src/agent/options.ts";
export type { AgentState } from "./src/agent/state.ts";
export type { AgentResult } from "./src/agent/collect.ts";
export type { StructuredOutputOptions } from "./src/agent/structured_output.ts";
export type { AgentListener } from "./src/agent/subscribers.ts";
export {
  MessageQueue,
  type MessageQueueOptions,
  type QueueMode,
} from "./src/agent/message_queue.ts";
