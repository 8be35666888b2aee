/**
 * Runs LLM agents: sends prompts to a model, runs the tools that it calls, and streams typed events.
 *
 * An {@linkcode Agent} is one conversation: a history, a model, tools and one run at a time. It is for programs that must
 * be correct when something fails:
 *
 * - One typed stream of events with backpressure, in an order that a grammar defines.
 * - Failures are values: a run resolves with an error, and rejects only for misuse. The history stays valid after an abort,
 *   a failure or a crash, so that the next request is never rejected because of it.
 * - Runs can be steered, aborted within 100 ms, limited in turns, cost and time, and stopped by policies.
 * - Tool calls are validated and may need an approval, for which a run can wait in another process.
 * - Nothing happens on import, and no permission is needed. A model is any function that returns a stream of reply events;
 *   the adapters provide one for each provider, based on `fetch`. Core and adapters run on Deno, Node, Bun and in
 *   browsers.
 *
 * | To | use |
 * | --- | --- |
 * | run and stream | {@linkcode Agent}, {@linkcode AgentResult}, {@linkcode AgentStream}, {@linkcode RunOptions} |
 * | give the model tools | {@linkcode defineTool}, {@linkcode Agent.asTool} |
 * | check, change or stop a run | {@linkcode Policy}, {@linkcode Approve} |
 * | get typed data | {@linkcode Agent.structuredOutput} |
 * | handle failures | {@linkcode AgentError}, {@linkcode exponentialBackoff} |
 * | observe | {@linkcode AgentEvent}, {@linkcode Agent.subscribe} |
 * | keep the history yourself | {@linkcode agentLoop} |
 *
 * | Module | Content |
 * | --- | --- |
 * | `@swink/agent` | the agent, tools, messages, events and errors |
 * | `@swink/agent/acp` | agents in editors, by the Agent Client Protocol |
 * | `@swink/agent/adapters` | stream functions for all providers, the catalog of models and prices |
 * | `@swink/agent/adapters/<provider>` | one provider: `anthropic`, `azure`, `bedrock`, `google`, `mistral`, `ollama`, `openai`, `proxy`, `xai` |
 * | `@swink/agent/adapters/kit` | building blocks for adapters |
 * | `@swink/agent/ag-ui` | runs in the protocol AG-UI, for web front ends |
 * | `@swink/agent/ai-sdk` | runs for `useChat()` and the other front ends of the AI SDK |
 * | `@swink/agent/cassettes` | recording and replaying `fetch` |
 * | `@swink/agent/cli` | the `swink` program |
 * | `@swink/agent/client` | the events of a run from the response of a server, for browsers |
 * | `@swink/agent/durable`, `/durable/dbos`, `/durable/restate` | agents whose runs continue on another machine |
 * | `@swink/agent/eval` | cases, trajectories and scores to evaluate agents |
 * | `@swink/agent/local` | models on the device, with llama.cpp |
 * | `@swink/agent/loop` | configuration of `agentLoop()`, message queues, ports and event types for its hosts |
 * | `@swink/agent/mcp` | tools of servers of the Model Context Protocol |
 * | `@swink/agent/memory`, `/memory/postgres` | sessions, resuming, compaction |
 * | `@swink/agent/patch` | the changes in a directory as a git patch |
 * | `@swink/agent/plan` | plan mode, plan files, their approval and execution |
 * | `@swink/agent/policies` | limits on turns, cost and time; tool lists, loop detection, an audit log; the types of hooks |
 * | `@swink/agent/server` | sessions over HTTP |
 * | `@swink/agent/server/durable` | sessions over HTTP whose runs survive their process |
 * | `@swink/agent/sub-agents` | agents that a tool starts, with the rights of its run |
 * | `@swink/agent/sync` | runs that block the calling thread |
 * | `@swink/agent/telemetry` | spans and metrics for OpenTelemetry |
 * | `@swink/agent/testing` | scripted models, fake tools, conformance tests |
 * | `@swink/agent/tools` | coding tools, sandbox, approval |
 *
 * @example Run an agent
 * ```ts
 * import { Agent, defineTool } from "@swink/agent";
 *
 * const weather = defineTool({
 *   name: "weather",
 *   description: "Returns the weather in a city.",
 *   parameters: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
 *   execute: ({ city }) => `Sunny in ${city}`,
 * });
 *
 * async function answer(question: string): Promise<string> {
 *   // Reads ANTHROPIC_API_KEY.
 *   const agent = new Agent({ model: "anthropic/claude-sonnet-5-5", tools: [weather] });
 *   const { text, error } = await agent.prompt(question);
 *   return error ? `Failed: ${error.message}` : text;
 * }
 * ```
 *
 * @example Stream the events of a run, with a scripted model
 * ```ts
 * import { Agent } from "@swink/agent";
 * import { reply, scriptedStream } from "@swink/agent/testing";
 *
 * const agent = new Agent({ model: "any/model", streamFn: scriptedStream([reply("Hello!")]) });
 * let text = "";
 * const stream = agent.promptStream("Greet me");
 * for await (const event of stream) {
 *   if (event.type === "message_update" && event.delta.type === "text_delta") {
 *     text += event.delta.delta;
 *   }
 *   // A failed attempt is taken back.
 *   if ((event.type === "retry" || event.type === "model_fallback") && event.discard) text = "";
 * }
 * const { usage, cost, stoppedBy } = await stream.result();
 * ```
 *
 * @module
 */

export {
  type AudioBlock,
  type Citation,
  type ContentBlock,
  type DocumentBlock,
  type ExtensionBlock,
  extractText,
  extractToolCalls,
  type ImageBlock,
  type TextBlock,
  type ThinkingBlock,
  type ToolCallBlock,
} from "./src/core/messages/content.ts";
export {
  codeExecution,
  type CodeExecutionTool,
  fileSearch,
  type FileSearchTool,
  type ProviderTool,
  providerTool,
  type ServerTool,
  type UserLocation,
  webFetch,
  type WebFetchTool,
  webSearch,
  type WebSearchTool,
} from "./src/core/streams/server_tool.ts";
export type {
  AgentMessage,
  AssistantMessage,
  CustomMessage,
  LlmMessage,
  PromptInput,
  ToolResultMessage,
  UserMessage,
} from "./src/core/messages/message.ts";
export { userMessage } from "./src/core/messages/message.ts";
export {
  type CustomMessageDefinition,
  type CustomMessageKind,
  defineCustomMessage,
} from "./src/core/context/custom_message.ts";
export {
  addCost,
  addUsage,
  type Cost,
  type LateSpending,
  type Prices,
  type Rates,
  type RateTier,
  type Usage,
} from "./src/core/models/usage.ts";
export {
  isThinkingLevel,
  type ModelSpec,
  modelSpec,
  type StopReason,
  THINKING_LEVELS,
  type ThinkingBudgets,
  type ThinkingLevel,
} from "./src/core/models/model.ts";
export {
  AbortedError,
  AgentError,
  type AgentErrorCode,
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
  ToolTimeoutError,
} from "./src/core/errors/errors.ts";
export {
  type BackoffOptions,
  exponentialBackoff,
  type RetryStrategy,
} from "./src/core/hooks/retry.ts";
export type {
  AssistantMessageDelta,
  AssistantMessageEvent,
  LlmContext,
  ModelFacts,
  StreamFn,
  StreamOptions,
  StreamRequest,
  ToolChoice,
  ToolSpec,
} from "./src/core/streams/stream.ts";
export { wrapStreamFn } from "./src/core/streams/wrap_stream_fn.ts";
export type { JsonObject, JsonSchema, JsonValue } from "./src/core/json/json.ts";
export type {
  Infer,
  InferArguments,
  InferTyped,
  Scalars,
  SchemaSource,
  StandardJsonSchemaSource,
  TypedSchema,
} from "./src/core/schemas/infer.ts";
export {
  ajvValidator,
  type CompiledSchema,
  type SchemaValidator,
  type ValidationResult,
} from "./src/core/schemas/schema.ts";
export { validateToolArguments } from "./src/core/schemas/validate_tool_arguments.ts";
export type { ValidationError } from "./src/core/json_schema/validation_error.ts";
export type { FileChange } from "./src/core/diff/file_change.ts";
export {
  type AgentTool,
  defineTool,
  type ExpectedContext,
  type SideEffect,
  type ToolContext,
  type ToolDefinition,
} from "./src/core/tools/tool.ts";
export {
  type AgentToolResult,
  errorResult,
  textResult,
  type ToolOutput,
  type ToolUpdate,
} from "./src/core/messages/tool_result.ts";
export type { ConvertToLlm, TransformContext } from "./src/core/context/context.ts";
export type {
  ApprovalDecision,
  ApprovalDecisions,
  ApprovalMode,
  PendingApproval,
  RefusedHunks,
} from "./src/core/approval/approval.ts";
export type {
  ApprovalAnswer,
  ApprovalRequest,
  Approve,
  ExplainedCall,
  ExplainingApprove,
} from "./src/core/hooks/approve.ts";
export type { BackgroundContext, BackgroundWork, RunHandle } from "./src/core/events/run_handle.ts";
export type {
  RunSession,
  SubAgentMode,
  SubAgentOutcome,
  SubAgentSession,
  SubAgentStart,
  SubAgentStatus,
  SubAgentWorktree,
} from "./src/core/events/run_session.ts";
export type { RiskClass } from "./src/core/approval/risk.ts";
export type { Policy, PolicyContext, PolicyHook, PolicyVerdict } from "./src/core/hooks/policy.ts";
export type { StoppedBy } from "./src/core/events/stopped_by.ts";
export type {
  AgentEvent,
  QueuedMessage,
  QueuedMessages,
  RunOutcome,
  TurnEndReason,
} from "./src/core/events/event.ts";

export { agentLoop, agentLoopContinue } from "./src/loop/loop.ts";
export type { ModelFallback } from "./src/loop/run/config.ts";

export { Agent } from "./src/agent/agent.ts";
export { preload } from "./src/agent/preload.ts";
export type { ContinueOptions, RunOptions } from "./src/agent/run_options.ts";
export type { AgentOptions } from "./src/agent/options.ts";
export type { AgentStream } from "./src/agent/agent_stream.ts";
export { readTextDeltas, type TextSource } from "./src/agent/read_text_deltas.ts";
export type { ResponseOptions } from "./src/agent/response.ts";
export type { AgentToolOptions } from "./src/agent/agent_tool.ts";
export type { AgentState } from "./src/agent/live_state.ts";
export type { AgentResult } from "./src/agent/agent_result.ts";
export type {
  StructuredOutputOptions,
  StructuredOutputResult,
} from "./src/agent/structured_output.ts";
export type { AgentListener } from "./src/agent/subscribers.ts";
