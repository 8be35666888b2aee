/**
 * Runs LLM agents: prompt, model stream, tool calls, results, next turn.
 *
 * @module
 */

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
export {
  addCost,
  addUsage,
  type Cost,
  type Prices,
  type Rates,
  type Usage,
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
  CacheRetention,
  LlmContext,
  StreamFn,
  StreamOptions,
  StreamRequest,
  ToolChoice,
  ToolSpec,
} from "./src/core/stream.ts";
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
  OnDeltaContext,
  Policy,
  PolicyContext,
  PolicyVerdict,
  PostLoopContext,
  PostTurnContext,
  PreDispatchContext,
  PreDispatchVerdict,
  PreTurnContext,
  StoppedBy,
} from "./src/core/policy.ts";
export type {
  AgentEvent,
  QueuedMessage,
  QueuedMessages,
  RunOutcome,
  TurnEndReason,
} from "./src/core/event.ts";

export { agentLoop, agentLoopContinue, type LoopOptions } from "./src/loop/loop.ts";
export type {
  AgentLoopConfig,
  GetApiKey,
  InterruptPolicy,
  ModelFallback,
} from "./src/loop/config.ts";

export { Agent, type RunOptions } from "./src/agent/agent.ts";
export type { AgentOptions } from "./src/agent/options.ts";
export type { AgentState } from "./src/agent/state.ts";
export type { AgentResult } from "./src/agent/collect.ts";
export type { StructuredOutputOptions } from "./src/agent/structured_output.ts";
export type { AgentListener } from "./src/agent/subscribers.ts";
export type { QueueMode } from "./src/loop/message_queue.ts";
