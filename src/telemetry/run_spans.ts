/**
 * The spans of one run.
 *
 * @module
 */

import type { AgentError } from "../core/errors.ts";
import type {
  AgentEndEvent,
  AgentEvent,
  ModelCallEndEvent,
  ModelCallStartEvent,
  ToolExecutionEndEvent,
  ToolExecutionStartEvent,
} from "../core/event.ts";
import type { InstrumentedRun, RunObserver } from "../core/instrumentation.ts";
import type { AssistantMessage } from "../core/message.ts";
import type { ModelSpec } from "../core/model.ts";
import type { StreamRequest } from "../core/stream.ts";
import type { AgentTool } from "../core/tool.ts";
import type { Usage } from "../core/usage.ts";
import type { Attributes, OpenTelemetryApi, Span, TraceContext, Tracer } from "./api.ts";
import { formatInstructions, formatMessages } from "./message_parts.ts";
import type { Metrics } from "./metrics.ts";
import { getProviderName } from "./provider_name.ts";

/** Span kinds and the status of failures of `@opentelemetry/api`. */
const INTERNAL = 0;
const CLIENT = 2;
const ERROR = 2;

/** Type of the errors of tools, which have no code. */
const TOOL_ERROR = "tool_error";

/** Services and settings that the spans of all runs have in common. */
export interface SpanServices {
  /** The package `@opentelemetry/api`. */
  readonly api: OpenTelemetryApi;
  /** Creates the spans. */
  readonly tracer: Tracer;
  /** Records the metrics. */
  readonly metrics: Metrics;
  /** Whether spans have prompts, messages, arguments and results. */
  readonly content: boolean;
  /** Returns the time in milliseconds since the epoch. */
  readonly now: () => number;
}

/** An agent, as the program describes it. */
export interface DescribedAgent {
  /** Its name. Default: none. */
  readonly name?: string | undefined;
  /** Its purpose. Default: none. */
  readonly description?: string | undefined;
  /** Its version. Default: none. */
  readonly version?: string | undefined;
}

/** Options for `new RunSpans()`. */
export interface RunSpansOptions extends SpanServices {
  /** The run. */
  readonly run: InstrumentedRun;
  /** The agent. */
  readonly agent: DescribedAgent;
  /** The context in which the run starts. */
  readonly parent: TraceContext;
  /** Called when the run has ended. */
  readonly onEnd: () => void;
}

/** A span that has not ended. */
interface OpenSpan {
  readonly span: Span;
  readonly context: TraceContext;
  readonly startTime: number;
}

/** A model call with its retries. */
interface OpenModelCall extends OpenSpan {
  readonly model: ModelSpec;
  /** The last attempt, and the time when it ended. */
  end?: { readonly event: ModelCallEndEvent; readonly time: number };
}

/** A tool call. */
interface OpenToolCall extends OpenSpan {
  /** Name of the tool. */
  readonly name: string;
}

/**
 * Creates a span for a run, one for each of its model calls, and one for each of its tool calls. A model call that is
 * retried is one span; a fallback model is another call.
 */
export class RunSpans implements RunObserver {
  readonly #options: RunSpansOptions;
  readonly #run: OpenSpan;
  readonly #common: Attributes;
  readonly #tools = new Map<string, OpenToolCall>();
  #modelCall: OpenModelCall | undefined;
  /** Whether requests omit a part of the history. */
  #isCompacted = false;

  /** Starts the span of the run. */
  constructor(options: RunSpansOptions) {
    const { run: { model, sessionId, runId }, agent, parent } = options;
    const { name: agentName, description, version } = agent;
    this.#options = options;
    this.#common = {
      ...(agentName !== undefined && { "gen_ai.agent.name": agentName }),
      ...(sessionId !== undefined && { "gen_ai.conversation.id": sessionId }),
    };
    const name = agentName === undefined ? "invoke_agent" : `invoke_agent ${agentName}`;
    const attributes = {
      "gen_ai.operation.name": "invoke_agent",
      ...describeModel(model),
      ...this.#common,
      ...(description !== undefined && { "gen_ai.agent.description": description }),
      ...(version !== undefined && { "gen_ai.agent.version": version }),
      "swink.run.id": runId,
    };
    this.#run = this.#start({ name, kind: INTERNAL, attributes, parent });
  }

  /** Returns the context of a running tool call. */
  getToolContext(toolCallId: string): TraceContext | undefined {
    return this.#tools.get(toolCallId)?.context;
  }

  /** Returns the name of the tool of a running call. */
  getToolName(toolCallId: string): string | undefined {
    return this.#tools.get(toolCallId)?.name;
  }

  readonly onEvent = (event: AgentEvent): void => {
    switch (event.type) {
      case "agent_start":
      case "turn_start":
      case "message_start":
      case "message_update":
      case "tool_execution_update":
      case "queue_changed":
        return;
      // The spans of an agent that a tool runs come from its own run.
      case "sub_agent":
        return;
      case "model_call_start":
        return this.#startModelCall(event);
      case "model_call_end":
        if (this.#modelCall) this.#modelCall.end = { event, time: this.#options.now() };
        return;
      case "message_end":
        if (event.message.role === "assistant") this.#endModelCall(event.message);
        return;
      case "turn_end":
        return this.#endModelCall();
      case "retry":
        this.#modelCall?.span.addEvent("retry", {
          "swink.retry.attempt": event.attempt,
          "swink.retry.delay_ms": event.delayMs,
          "error.type": event.error.code,
        });
        return;
      case "model_fallback":
        this.#endModelCall();
        return this.#addRunEvent("model_fallback", {
          "swink.model.from": formatModel(event.from),
          "swink.model.to": formatModel(event.to),
        });
      case "model_changed":
        return this.#addRunEvent("model_changed", {
          "swink.model.from": formatModel(event.from),
          "swink.model.to": formatModel(event.to),
        });
      case "tool_execution_start":
        return this.#startTool(event);
      case "tool_execution_end":
        return this.#endTool(event);
      case "tool_approval_requested":
        return this.#addRunEvent("tool_approval_requested", describeCall(event));
      case "tool_approval_resolved":
        return this.#addRunEvent("tool_approval_resolved", {
          "gen_ai.tool.call.id": event.id,
          "swink.approval.decision": event.decision.type,
        });
      case "context_compacted":
        this.#isCompacted = true;
        return this.#addRunEvent("context_compacted", {});
      case "warning":
        return this.#addRunEvent("warning", { "swink.warning.code": event.code });
      case "custom":
        return this.#addRunEvent(event.name, {});
      case "agent_end":
        return this.#endRun(event);
      default:
        event satisfies never;
    }
  };

  callModel<Result>(request: Omit<StreamRequest, "signal">, call: () => Result): Result {
    if (!this.#modelCall) return call();
    const { span, context } = this.#modelCall;
    span.setAttributes(describeRequest(request));
    if (this.#options.content) span.setAttributes(describeContent(request));
    return this.#within(context, call);
  }

  executeTool<Result>(toolCallId: string, execute: () => Result): Result {
    const tool = this.#tools.get(toolCallId);
    return tool ? this.#within(tool.context, execute) : execute();
  }

  getTraceHeaders(toolCallId: string): Record<string, string> {
    const headers: Record<string, string> = {};
    const { context } = this.#tools.get(toolCallId) ?? this.#run;
    this.#options.api.propagation.inject(context as never, headers);
    return headers;
  }

  #startModelCall({ model }: ModelCallStartEvent): void {
    const current = this.#modelCall;
    if (current && formatModel(current.model) === formatModel(model)) return;
    this.#endModelCall();
    const attributes = {
      "gen_ai.operation.name": "chat",
      ...describeModel(model),
      ...this.#common,
      "gen_ai.request.stream": true,
      ...(model.thinkingLevel !== "off" && {
        "gen_ai.request.reasoning.level": model.thinkingLevel,
      }),
      ...(this.#isCompacted && { "gen_ai.conversation.compacted": true }),
    };
    const name = `chat ${model.modelId}`;
    this.#modelCall = { ...this.#start({ name, kind: CLIENT, attributes }), model };
  }

  /** Ends the span of the model call, with its reply if there is one. */
  #endModelCall(reply?: AssistantMessage): void {
    const call = this.#modelCall;
    if (!call) return;
    this.#modelCall = undefined;
    const { span, end } = call;
    const endTime = end?.time ?? this.#options.now();
    doAll(
      () => this.#describeReply(span, { end: end?.event, reply }),
      () => end && this.#recordModelCall(call, { event: end.event, endTime }),
      () => span.end(endTime),
    );
  }

  #describeReply(
    span: Span,
    { end, reply }: {
      readonly end: ModelCallEndEvent | undefined;
      readonly reply: AssistantMessage | undefined;
    },
  ): void {
    if (end) span.setAttributes(describeAttempt(end));
    if (end?.error) setError(span, end.error.code);
    if (reply) span.setAttributes({ "gen_ai.response.finish_reasons": [reply.stopReason] });
    if (reply && this.#options.content) {
      span.setAttributes({ "gen_ai.output.messages": formatMessages([reply]) });
    }
  }

  #recordModelCall(
    { startTime, model }: OpenModelCall,
    { event: { error, ttftMs, usage }, endTime }: {
      readonly event: ModelCallEndEvent;
      readonly endTime: number;
    },
  ): void {
    this.#options.metrics.recordModelCall({
      durationMs: endTime - startTime,
      ttftMs,
      input: countInput(usage),
      output: usage.output,
      attributes: {
        "gen_ai.operation.name": "chat",
        ...describeModel(model),
        ...(error && { "error.type": error.code }),
      },
    });
  }

  #startTool(event: ToolExecutionStartEvent): void {
    const { run, content } = this.#options;
    const tool = run.getTools().find(({ name }) => name === event.name);
    const attributes = {
      "gen_ai.operation.name": "execute_tool",
      ...describeCall(event),
      "gen_ai.tool.type": "function",
      ...(tool && { "gen_ai.tool.description": tool.description }),
      ...(content && { "gen_ai.tool.call.arguments": JSON.stringify(event.arguments) }),
      ...(tool && readAttributes(tool)),
    };
    const name = `execute_tool ${event.name}`;
    const started = this.#start({ name, kind: INTERNAL, attributes });
    this.#tools.set(event.id, { ...started, name: event.name });
  }

  #endTool({ id, name, result, isError }: ToolExecutionEndEvent): void {
    const tool = this.#tools.get(id);
    if (!tool) return;
    this.#tools.delete(id);
    const { span, startTime } = tool;
    const { content, metrics, now } = this.#options;
    const endTime = now();
    doAll(
      () => isError && setError(span, TOOL_ERROR),
      () =>
        content &&
        span.setAttributes({ "gen_ai.tool.call.result": JSON.stringify(result.content) }),
      () =>
        metrics.recordTool(endTime - startTime, {
          "gen_ai.operation.name": "execute_tool",
          "gen_ai.tool.name": name,
          "gen_ai.tool.type": "function",
          ...(isError && { "error.type": TOOL_ERROR }),
        }),
      () => span.end(endTime),
    );
  }

  #endRun(event: AgentEndEvent): void {
    const { span, startTime } = this.#run;
    const { metrics, run, onEnd, now } = this.#options;
    const { error, stopReason } = event;
    const failure = error ? error.code : stopReason === "aborted" ? "aborted" : undefined;
    const endTime = now();
    const tools = [...this.#tools.values()];
    this.#tools.clear();
    doAll(
      onEnd,
      () => this.#endModelCall(),
      () => this.#describeRun(event),
      () => failure !== undefined && setError(span, failure),
      () =>
        metrics.recordRun(endTime - startTime, {
          "gen_ai.operation.name": "invoke_agent",
          ...describeModel(run.model),
          ...this.#common,
          ...(failure !== undefined && { "error.type": failure }),
        }),
      ...tools.map((tool) => () => tool.span.end(endTime)),
      () => span.end(endTime),
    );
  }

  #describeRun({ usage, cost, stopReason, stoppedBy, messages }: AgentEndEvent): void {
    const { span } = this.#run;
    span.setAttributes({
      ...describeUsage(usage),
      "gen_ai.response.finish_reasons": [stopReason],
      ...(cost.total !== null && { "swink.cost.total": cost.total }),
      ...(stoppedBy && { "swink.stopped_by": stoppedBy.policy }),
    });
    if (!this.#options.content) return;
    const replies = messages.filter(({ role }) => role === "assistant").slice(-1);
    span.setAttributes({
      "gen_ai.input.messages": formatMessages(messages.filter(({ role }) => role === "user")),
      "gen_ai.output.messages": formatMessages(replies),
    });
  }

  #addRunEvent(name: string, attributes: Attributes): void {
    this.#run.span.addEvent(name, attributes);
  }

  #start({ name, kind, attributes, parent = this.#run.context }: {
    readonly name: string;
    readonly kind: number;
    readonly attributes: Attributes;
    readonly parent?: TraceContext;
  }): OpenSpan {
    const { api, tracer, now } = this.#options;
    const startTime = now();
    const span = tracer.startSpan(name, { kind, attributes, startTime }, parent as never);
    return { span, context: api.trace.setSpan(parent as never, span as never), startTime };
  }

  #within<Result>(context: TraceContext, work: () => Result): Result {
    return this.#options.api.context.with(context as never, work) as Result;
  }
}

/** Takes all steps, also after one that fails in the code of an exporter: what has started must end. */
function doAll(...steps: readonly (() => unknown)[]): void {
  for (const step of steps) {
    try {
      step();
    } catch {
      // Tracing must not change what it traces.
    }
  }
}

/** Returns the attributes that a tool adds; none if it fails, which must not end the run. */
function readAttributes({ traceAttributes }: AgentTool): Attributes {
  try {
    return { ...traceAttributes?.() };
  } catch {
    return {};
  }
}

function setError(span: Span, type: AgentError["code"] | typeof TOOL_ERROR): void {
  span.setAttributes({ "error.type": type });
  span.setStatus({ code: ERROR });
}

function formatModel({ provider, modelId }: ModelSpec): string {
  return `${provider}/${modelId}`;
}

function describeModel({ provider, modelId }: ModelSpec): Attributes {
  return { "gen_ai.provider.name": getProviderName(provider), "gen_ai.request.model": modelId };
}

function describeCall({ id, name }: { readonly id: string; readonly name: string }) {
  return { "gen_ai.tool.name": name, "gen_ai.tool.call.id": id };
}

function describeRequest({ options }: Pick<StreamRequest, "options">) {
  const { maxTokens, temperature, topP, stop, seed, responseSchema } = options;
  return {
    ...(maxTokens !== undefined && { "gen_ai.request.max_tokens": maxTokens }),
    ...(temperature !== undefined && { "gen_ai.request.temperature": temperature }),
    ...(topP !== undefined && { "gen_ai.request.top_p": topP }),
    ...(stop !== undefined && { "gen_ai.request.stop_sequences": [...stop] }),
    ...(seed !== undefined && { "gen_ai.request.seed": seed }),
    ...(responseSchema !== undefined && { "gen_ai.output.type": "json" }),
  };
}

function describeContent({ context }: Pick<StreamRequest, "context">) {
  const { systemPrompt, messages, tools } = context;
  const definitions = tools.map((tool) => ({ type: "function", ...tool }));
  return {
    ...(systemPrompt !== "" && { "gen_ai.system_instructions": formatInstructions(systemPrompt) }),
    "gen_ai.input.messages": formatMessages(messages),
    ...(tools.length > 0 && { "gen_ai.tool.definitions": JSON.stringify(definitions) }),
  };
}

function describeAttempt({ responseId, ttftMs, usage }: ModelCallEndEvent) {
  return {
    ...(responseId !== undefined && { "gen_ai.response.id": responseId }),
    ...(ttftMs !== undefined && { "gen_ai.response.time_to_first_chunk": ttftMs / 1000 }),
    ...describeUsage(usage),
  };
}

/** Cached tokens are part of the input tokens, other than in `Usage`. */
function describeUsage(usage: Usage): Attributes {
  const { output, cacheRead, cacheWrite, extra = {} } = usage;
  const { reasoning } = extra;
  return {
    "gen_ai.usage.input_tokens": countInput(usage),
    "gen_ai.usage.output_tokens": output,
    "gen_ai.usage.cache_read.input_tokens": cacheRead,
    "gen_ai.usage.cache_write.input_tokens": cacheWrite,
    ...(reasoning !== undefined && { "gen_ai.usage.reasoning.output_tokens": reasoning }),
  };
}

function countInput({ input, cacheRead, cacheWrite }: Usage): number {
  return input + cacheRead + cacheWrite;
}
