/**
 * The spans of one run.
 *
 * @module
 */

import type { AgentError } from "../core/errors/errors.ts";
import type {
  AgentEndEvent,
  AgentEvent,
  ModelCallEndEvent,
  ModelCallStartEvent,
  ToolExecutionEndEvent,
  ToolExecutionStartEvent,
} from "../core/events/event.ts";
import type { InstrumentedRun, RunObserver } from "../core/hooks/instrumentation.ts";
import type { AssistantMessage } from "../core/messages/message.ts";
import type { ModelSpec } from "../core/models/model.ts";
import { addUsage } from "../core/models/usage.ts";
import type { StreamRequest } from "../core/streams/stream.ts";
import type { Attributes, OpenTelemetryApi, Span, TraceContext, Tracer } from "./api.ts";
import { formatMessages, formatResult, getFinishReason } from "./message_parts.ts";
import { createModelSeries, type Metrics, type ModelSeries } from "./metrics.ts";
import type { ContentFilter } from "./options.ts";
import {
  describeAttempt,
  describeCall,
  describeContent,
  describeModel,
  describeRequest,
  describeSummary,
  describeUsage,
  filterText,
  filterTexts,
  formatModel,
  readAttributes,
} from "./span_attributes.ts";

/** Span kinds and the status of failures of `@opentelemetry/api`. */
const INTERNAL = 0;
const CLIENT = 2;
const ERROR = 2;

/** Type of the errors of tools, which have no code. */
const TOOL_ERROR = "tool_error";

/** Type of an error of a call. */
type ErrorType = AgentError["code"] | typeof TOOL_ERROR;

/** Name of a tool that does not exist: the one that the model wrote is content, and has any number of values. */
const UNKNOWN_TOOL = "_OTHER";

/** Services and settings that the spans of all runs have in common. */
export interface SpanServices {
  /** The package `@opentelemetry/api`. */
  readonly api: OpenTelemetryApi;
  /** Creates the spans. */
  readonly tracer: Tracer;
  /** Records the metrics. */
  readonly metrics: Metrics;
  /** Returns what spans have of prompts, messages, arguments and results; `undefined` if they have none of these. */
  readonly filterContent: ContentFilter | undefined;
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
  /** The attributes of its metrics. */
  readonly series: ModelSeries;
  /** The request of the last attempt. */
  request?: Omit<StreamRequest, "signal">;
  /** The last attempt with the usage of all, and the time when it ended. */
  end?: { readonly event: ModelCallEndEvent; readonly time: number };
}

/** A tool call. */
interface OpenToolCall extends OpenSpan {
  /** Name of the tool, if it exists. */
  readonly name: string;
  /** Whether the tool has started. */
  isExecuted: boolean;
  /** The code of the error with which the run has cancelled it. */
  cancelCode?: AgentError["code"];
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
  /** The names of the tools of all calls. */
  readonly #toolNames = new Map<string, string>();
  #modelCall: OpenModelCall | undefined;
  readonly #series = new Map<string, ModelSeries>();
  #modelCalls = 0;
  #toolCalls = 0;
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

  /** The clock of the run, which its sub-agents share. */
  get now(): () => number {
    return this.#options.now;
  }

  /** Returns the context of a running tool call. */
  getToolContext(toolCallId: string): TraceContext | undefined {
    return this.#tools.get(toolCallId)?.context;
  }

  /** Returns the name of the tool of a call, which may have ended while its agent works in the background. */
  getToolName(toolCallId: string): string | undefined {
    return this.#toolNames.get(toolCallId);
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
        return this.#endAttempt(event);
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
        return this.#addRunEvent("context_compacted", describeSummary(event.report));
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
    this.#modelCall.request = request;
    return this.#within(this.#modelCall.context, call);
  }

  executeTool<Result>(toolCallId: string, execute: () => Result): Result {
    const tool = this.#tools.get(toolCallId);
    if (!tool) return execute();
    tool.isExecuted = true;
    return this.#within(tool.context, execute);
  }

  onCancel(toolCallId: string, code: AgentError["code"]): void {
    const tool = this.#tools.get(toolCallId);
    if (tool) tool.cancelCode = code;
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
    const series = this.#getSeries(model);
    const attributes: Attributes = {
      ...series.attributes,
      ...this.#common,
      "gen_ai.request.stream": true,
    };
    const { thinkingLevel, modelId } = model;
    if (thinkingLevel !== "off") attributes["gen_ai.request.reasoning.level"] = thinkingLevel;
    if (this.#isCompacted) attributes["gen_ai.conversation.compacted"] = true;
    this.#modelCalls++;
    const started = this.#start({ name: `chat ${modelId}`, kind: CLIENT, attributes });
    this.#modelCall = { ...started, model, series };
  }

  /** A call that is repeated has used what all of its attempts have used. */
  #endAttempt(event: ModelCallEndEvent): void {
    const call = this.#modelCall;
    if (!call) return;
    const { end } = call;
    const usage = end ? addUsage(end.event.usage, event.usage) : event.usage;
    call.end = { event: { ...event, usage }, time: this.#options.now() };
  }

  /** Returns the attributes of the metrics of a model, which all of its calls share. */
  #getSeries(model: ModelSpec): ModelSeries {
    const name = formatModel(model);
    const known = this.#series.get(name);
    if (known) return known;
    const series = createModelSeries({ "gen_ai.operation.name": "chat", ...describeModel(model) });
    this.#series.set(name, series);
    return series;
  }

  /** Ends the span of the model call, with its reply if there is one. */
  #endModelCall(reply?: AssistantMessage): void {
    const call = this.#modelCall;
    if (!call) return;
    this.#modelCall = undefined;
    const { span, end, request } = call;
    const endTime = end?.time ?? this.#options.now();
    doAll(
      () => request && this.#describeRequest(span, request),
      () => this.#describeReply(span, { end: end?.event, reply }),
      () => end && this.#recordModelCall(call, { event: end.event, endTime }),
      () => span.end(endTime),
    );
  }

  /** Once: the tracer of Deno keeps an attribute that is set again next to the first one. */
  #describeRequest(span: Span, request: Omit<StreamRequest, "signal">): void {
    setAttributes(span, () => describeRequest(request));
    this.#setContent(span, () => describeContent(request));
  }

  #describeReply(
    span: Span,
    { end, reply }: {
      readonly end: ModelCallEndEvent | undefined;
      readonly reply: AssistantMessage | undefined;
    },
  ): void {
    if (end) setAttributes(span, () => describeAttempt(end));
    if (end?.error) setError(span, end.error.code);
    const reason = getFinishReason(reply?.stopReason ?? "error", end?.error?.code);
    setAttributes(span, () => ({ "gen_ai.response.finish_reasons": [reason] }));
    if (!reply) return;
    this.#setContent(span, () => ({ "gen_ai.output.messages": formatMessages([reply]) }));
  }

  #recordModelCall(
    { startTime, series }: OpenModelCall,
    { event: { error, ttftMs, usage }, endTime }: {
      readonly event: ModelCallEndEvent;
      readonly endTime: number;
    },
  ): void {
    const durationMs = endTime - startTime;
    const call = { durationMs, ttftMs, usage, errorType: error?.code, series };
    this.#options.metrics.recordModelCall(call);
  }

  #startTool({ id, name, arguments: args }: ToolExecutionStartEvent): void {
    const { run, filterContent } = this.#options;
    const tool = run.getTools().find((tool) => tool.name === name);
    const known = tool ? name : UNKNOWN_TOOL;
    const attributes: Attributes = {
      "gen_ai.operation.name": "execute_tool",
      "gen_ai.tool.name": tool ? name : filterText(name, filterContent) ?? known,
      "gen_ai.tool.call.id": id,
      "gen_ai.tool.type": "function",
    };
    if (tool) attributes["gen_ai.tool.description"] = tool.description;
    if (tool?.traceAttributes) Object.assign(attributes, readAttributes(tool));
    this.#toolCalls++;
    const { span, context, startTime } = this.#start({
      name: `execute_tool ${known}`,
      kind: INTERNAL,
      attributes,
    });
    this.#tools.set(id, { span, context, startTime, name: known, isExecuted: false });
    this.#toolNames.set(id, known);
    this.#setContent(span, () => ({ "gen_ai.tool.call.arguments": JSON.stringify(args) }));
  }

  #endTool({ id, result, isError }: ToolExecutionEndEvent): void {
    const tool = this.#tools.get(id);
    if (!tool) return;
    this.#tools.delete(id);
    const { span, startTime, name } = tool;
    const { metrics, now } = this.#options;
    const endTime = now();
    const error = isError ? this.#getToolError(tool) : undefined;
    doAll(
      () => error !== undefined && setError(span, error),
      () =>
        this.#setContent(span, () => ({ "gen_ai.tool.call.result": formatResult(result.content) })),
      () =>
        metrics.recordTool(endTime - startTime, {
          "gen_ai.operation.name": "execute_tool",
          "gen_ai.tool.name": name,
          "gen_ai.tool.type": "function",
          ...(error !== undefined && { "error.type": error }),
        }),
      () => span.end(endTime),
    );
  }

  /** Returns the type of the error of a call: why it was cancelled, or that its tool failed. */
  #getToolError({ isExecuted, cancelCode }: OpenToolCall): ErrorType {
    if (cancelCode) return cancelCode;
    // A call that the abort finds before its start is refused.
    return !isExecuted && this.#options.run.isAborted() ? "aborted" : TOOL_ERROR;
  }

  #endRun(event: AgentEndEvent): void {
    const { span, startTime } = this.#run;
    const { metrics, run, onEnd, now } = this.#options;
    const { error, stopReason } = event;
    const failure = error ? error.code : stopReason === "aborted" ? "aborted" : undefined;
    const { "gen_ai.agent.name": agentName } = this.#common;
    const endTime = now();
    const tools = [...this.#tools.values()];
    this.#tools.clear();
    doAll(
      onEnd,
      () => this.#endModelCall(),
      () => this.#describeRun(event),
      () => failure !== undefined && setError(span, failure),
      () =>
        metrics.recordRun({
          durationMs: endTime - startTime,
          modelCalls: this.#modelCalls,
          toolCalls: this.#toolCalls,
          attributes: {
            "gen_ai.operation.name": "invoke_agent",
            ...describeModel(run.model),
            // Not the conversation, which would be a series of its own.
            ...(agentName !== undefined && { "gen_ai.agent.name": agentName }),
            ...(failure !== undefined && { "error.type": failure }),
          },
        }),
      ...tools.map((tool) => () => tool.span.end(endTime)),
      () => span.end(endTime),
    );
  }

  #describeRun({ usage, cost, stopReason, stoppedBy, messages, error }: AgentEndEvent): void {
    const { span } = this.#run;
    setAttributes(span, () => ({
      ...describeUsage(usage),
      "gen_ai.response.finish_reasons": [getFinishReason(stopReason, error?.code)],
      ...(cost.total !== null && { "swink.cost.total": cost.total }),
      ...(stoppedBy && { "swink.stopped_by": stoppedBy.policy }),
    }));
    this.#setContent(span, () => ({
      "gen_ai.input.messages": formatMessages(messages.filter(({ role }) => role === "user")),
      "gen_ai.output.messages": formatMessages(
        messages.filter(({ role }) => role === "assistant").slice(-1),
      ),
    }));
  }

  /** Sets attributes with texts of the conversation, as far as the program wants them. */
  #setContent(span: Span, create: () => Readonly<Record<string, string>>): void {
    const { filterContent } = this.#options;
    if (filterContent) setAttributes(span, () => filterTexts(create(), filterContent));
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

/** Sets attributes of a span, which are not computed for one that a sampler has left out. */
function setAttributes(span: Span, create: () => Attributes): void {
  if (span.isRecording?.() ?? true) span.setAttributes(create());
}

function setError(span: Span, type: ErrorType): void {
  span.setAttributes({ "error.type": type });
  span.setStatus({ code: ERROR });
}
