/**
 * Maps the events of a run to the chunks of AI SDK UI.
 *
 * @module
 */

import type { ApprovalDecision, DecidedCall, PendingBatch } from "../../core/approval/approval.ts";
import type { AgentError } from "../../core/errors/errors.ts";
import { refusePromise } from "../../core/errors/refuse_promise.ts";
import type {
  AgentEndEvent,
  AgentEvent,
  ToolExecutionEndEvent,
  ToolExecutionUpdateEvent,
} from "../../core/events/event.ts";
import type { JsonObject } from "../../core/json/json.ts";
import { extractText, type ToolCallBlock } from "../../core/messages/content.ts";
import type {
  AgentMessage,
  AssistantMessage,
  ToolResultMessage,
  UserMessage,
} from "../../core/messages/message.ts";
import type { StopReason } from "../../core/models/model.ts";
import type { AssistantMessageDelta } from "../../core/streams/stream.ts";
import { toJson } from "../web_client/client_json.ts";
import { isKnownToClient, isPlaceholder } from "../web_client/client_results.ts";
import { listClientCalls } from "../web_client/client_tools.ts";
import { describeError } from "../web_client/describe_error.ts";
import { toPageEvent } from "./to_page_event.ts";
import {
  type Denial,
  describeDenial,
  listCitedPages,
  toUiOutput,
  toUserParts,
} from "./to_ui_parts.ts";
import type { UiFinishReason, UiMessageChunk } from "./ui_message.ts";

/** Options for `new ChunkMapper()`. */
export interface ChunkMapperOptions {
  /** The message of the page that the run continues, such as one with answered approvals. Default: a new one. */
  readonly continued?: ContinuedMessage | undefined;
  /** Ids of the messages that the page has. Default: none. */
  readonly knownIds?: ReadonlySet<string> | undefined;
  /** The decisions with which the run continues, by the id of the tool call. Default: none. */
  readonly approvals?: Readonly<Record<string, ApprovalDecision>> | undefined;
  /** Names of the tools that the page runs, whose results it has itself. Default: none. */
  readonly clientTools?: readonly string[] | undefined;
  /** Returns the metadata of the message when the run has ended and not failed. Default: none. */
  readonly messageMetadata?: ((end: AgentEndEvent) => unknown) | undefined;
  /** Returns the text of the error of a failed run for the page. Default: its message. */
  readonly onError?: ((error: unknown) => string) | undefined;
}

/** A message that a run continues. */
export interface ContinuedMessage {
  /** Id of the message. */
  readonly id: string;
  /** Ids of its calls. */
  readonly toolCallIds: readonly string[];
}

/** A text or a thought that is being written. */
interface OpenBlock {
  readonly type: "text" | "reasoning";
  readonly id: string;
}

/** A call that is being written. */
interface OpenCall {
  readonly toolCallId: string;
  readonly toolName: string;
}

/** A call that has failed. */
interface FailedCall extends OpenCall {
  readonly input: JsonObject;
  readonly errorText: string;
}

const BLOCK_TYPES = { text_delta: "text", thinking_delta: "reasoning" } as const;

const FINISH_REASONS: Readonly<Record<StopReason, UiFinishReason>> = {
  stop: "stop",
  tool_use: "interrupted",
  length: "length",
  error: "other",
  aborted: "other",
};

/** Maps the events of one run. */
export class ChunkMapper {
  readonly #options: ChunkMapperOptions;
  /** The calls in the message of the page: a chunk for another one would fail there. */
  readonly #calls: Set<string>;
  /** The calls that are being written, by index: providers may write several at once. */
  readonly #openCalls = new Map<number, OpenCall>();
  /** The arguments with which the calls run. */
  readonly #arguments = new Map<string, JsonObject>();
  /** Chunks that wait for the start of the message. */
  readonly #early: UiMessageChunk[] = [];
  /** The texts or thoughts that are being written, by index: providers may write several at once. */
  readonly #openBlocks = new Map<number, OpenBlock>();
  #blocks = 0;
  #isStarted = false;
  #isStepOpen = false;
  #hasReply = false;
  #hasAsked = false;
  #hasCalledModel = false;

  /** Creates a mapper. */
  constructor(options: ChunkMapperOptions = {}) {
    this.#options = options;
    this.#calls = new Set(options.continued?.toolCallIds);
  }

  /** Returns the chunks for a page. */
  map(event: AgentEvent): UiMessageChunk[] {
    switch (event.type) {
      case "message_start":
        return event.message.role === "assistant" ? this.#startReply(event.message) : [];
      case "message_update":
        return this.#append(event.delta);
      case "message_end":
        return this.#endMessage(event.message);
      case "turn_end":
        return [...this.#askAtEnd(event), ...this.#endStep()];
      case "agent_end":
        return this.#endRun(event);
      case "model_call_start":
        this.#hasCalledModel = true;
        return [];
      case "retry":
      case "model_fallback":
        return [...(event.discard ? this.#discard() : []), ...mapOther(event)];
      case "tool_execution_update":
        return this.#update(event);
      case "tool_execution_start":
        this.#arguments.set(event.id, event.arguments);
        return [];
      case "tool_execution_end":
        return this.#requestResult(event);
      case "custom":
        return [...this.start(), { type: `data-${event.name}`, data: toJson(event.data) }];
      case "context_compacted":
      case "model_changed":
      case "sub_agent":
      case "warning":
        return mapOther(event);
      case "agent_start":
      case "turn_start":
      case "model_call_end":
      case "queue_changed":
      case "tool_approval_requested":
      case "tool_approval_resolved":
        return [];
      default:
        return event satisfies never;
    }
  }

  /** Returns the start of the message, which precedes everything that is added to it. */
  start(replyId?: string): UiMessageChunk[] {
    if (this.#isStarted) return [];
    this.#isStarted = true;
    const messageId = this.#options.continued?.id ?? replyId;
    const start = { type: "start", ...(messageId !== undefined && { messageId }) } as const;
    return [start, ...this.#early.splice(0)];
  }

  /**
   * Returns the questions of a run that waits for approvals. The other calls of the reply wait with them: a page sends its
   * answers when all calls have one.
   */
  askFor({ pendingApprovals, decidedCalls = [] }: PendingBatch): UiMessageChunk[] {
    const isKnown = ({ toolCallId }: { readonly toolCallId: string }) =>
      this.#calls.has(toolCallId);
    return this.#startWith([
      ...pendingApprovals.filter(isKnown).map(({ toolCallId }) => toQuestion(toolCallId)),
      ...decidedCalls.filter(isKnown).flatMap((call) => this.#toDecided(call)),
    ]);
  }

  /** Returns the state of a call that its user need not decide. A page runs a tool of its own, and sends the output along. */
  #toDecided({ toolCallId, name: toolName, arguments: input, decision }: DecidedCall) {
    if (decision.type === "denied") {
      return this.#toError({ toolCallId, toolName, input, errorText: describeDenial(decision) });
    }
    if (this.#isClientTool(toolName)) {
      return [{ type: "tool-input-available", toolCallId, toolName, input } as const];
    }
    return [
      { ...toQuestion(toolCallId), isAutomatic: true } as const,
      { type: "tool-approval-response", approvalId: toolCallId, approved: true } as const,
    ];
  }

  /** Returns the error of a call. That of a tool of the page may have no complete input yet. */
  #toError({ errorText, ...call }: FailedCall): UiMessageChunk[] {
    const { toolCallId } = call;
    if (!this.#isClientTool(call.toolName)) {
      return [{ type: "tool-output-error", toolCallId, errorText }];
    }
    return [{ type: "tool-input-error", ...call, errorText }];
  }

  /** Returns the questions at the end of a turn, or of a run that has ended before its calls. */
  #askAtEnd({ pendingApprovals = [], decidedCalls }: Partial<PendingBatch>): UiMessageChunk[] {
    if (this.#hasAsked) return [];
    this.#hasAsked = pendingApprovals.length > 0;
    return this.askFor({ pendingApprovals, decidedCalls });
  }

  /** Returns chunks that are part of the message: they follow its start. */
  #startWith(chunks: UiMessageChunk[]): UiMessageChunk[] {
    return chunks.length === 0 ? [] : [...this.start(), ...chunks];
  }

  #startReply({ id }: AssistantMessage): UiMessageChunk[] {
    this.#isStepOpen = true;
    this.#hasReply = true;
    return [...this.start(id), { type: "start-step" }];
  }

  #endStep(): UiMessageChunk[] {
    if (!this.#isStepOpen) return [];
    this.#isStepOpen = false;
    return [{ type: "finish-step" }];
  }

  #append(delta: AssistantMessageDelta): UiMessageChunk[] {
    const { contentIndex } = delta;
    switch (delta.type) {
      case "tool_call_start": {
        const { id: toolCallId, name: toolName } = delta;
        this.#openCalls.set(contentIndex, { toolCallId, toolName });
        this.#calls.add(toolCallId);
        return [...this.#closeBlocks(), { type: "tool-input-start", toolCallId, toolName }];
      }
      case "tool_call_delta": {
        const call = this.#openCalls.get(contentIndex);
        if (!call) return [];
        const { toolCallId } = call;
        return [{ type: "tool-input-delta", toolCallId, inputTextDelta: delta.delta }];
      }
      case "text_delta":
      case "thinking_delta": {
        const type = BLOCK_TYPES[delta.type];
        const block = this.#openBlocks.get(contentIndex);
        if (block) return [{ type: `${type}-delta`, id: block.id, delta: delta.delta }];
        const id = `${type}-${++this.#blocks}`;
        const closed = this.#openBlock(contentIndex, { type, id });
        return [
          ...closed,
          { type: `${type}-start`, id },
          { type: `${type}-delta`, id, delta: delta.delta },
        ];
      }
    }
  }

  /** Opens a block. Texts end thoughts, and thoughts end texts. */
  #openBlock(contentIndex: number, block: OpenBlock): UiMessageChunk[] {
    const isOther = [...this.#openBlocks.values()].some(({ type }) => type !== block.type);
    const closed = isOther ? this.#closeBlocks() : [];
    this.#openBlocks.set(contentIndex, block);
    return closed;
  }

  #closeBlocks(): UiMessageChunk[] {
    const blocks = [...this.#openBlocks.values()];
    this.#openBlocks.clear();
    return blocks.map(({ type, id }) => ({ type: `${type}-end`, id }));
  }

  /** Takes back what a failed attempt has written. */
  #discard(): UiMessageChunk[] {
    this.#openBlocks.clear();
    for (const { toolCallId } of this.#openCalls.values()) this.#calls.delete(toolCallId);
    this.#openCalls.clear();
    return [{ type: "reset-step" }];
  }

  #endMessage(message: AgentMessage): UiMessageChunk[] {
    switch (message.role) {
      case "assistant":
        return this.#endReply(message);
      case "tool_result":
        return this.#endCall(message);
      case "user":
        return this.#addSteering(message);
      case "custom":
        return [];
    }
  }

  /** Ends a reply. The calls of one that was cut off are not executed. */
  #endReply({ content }: AssistantMessage): UiMessageChunk[] {
    const calls = content.flatMap((block) => block.type === "tool_call" ? [block] : []);
    for (const { id } of calls) this.#calls.add(id);
    const kept = new Set(calls.map(({ id }) => id));
    const lost = [...this.#openCalls.values()].filter(({ toolCallId }) => !kept.has(toolCallId));
    this.#openCalls.clear();
    return [
      ...this.#closeBlocks(),
      ...calls.flatMap((call) => this.#endInput(call)),
      ...lost.map((call) =>
        ({ type: "tool-input-error", ...call, input: {}, errorText: CUT_OFF }) as const
      ),
      ...listCitedPages(content).map((page) => ({ type: "source-url", ...page }) as const),
    ];
  }

  /** Completes the arguments of a call. A page runs a tool of its own when its input is available: see `#requestResult()`. */
  #endInput({ id: toolCallId, name: toolName, arguments: input }: ToolCallBlock): UiMessageChunk[] {
    if (!this.#isClientTool(toolName)) {
      return [{ type: "tool-input-available", toolCallId, toolName, input }];
    }
    return [
      { type: "tool-input-start", toolCallId, toolName },
      { type: "tool-input-delta", toolCallId, inputTextDelta: JSON.stringify(input) },
    ];
  }

  #isClientTool(name: string): boolean {
    return this.#options.clientTools?.includes(name) === true;
  }

  /** Has the page run a tool of its own: the policies and approvals of the agent have allowed the call. */
  #requestResult(
    { id: toolCallId, name: toolName, result }: ToolExecutionEndEvent,
  ): UiMessageChunk[] {
    if (!this.#isClientTool(toolName) || !isPlaceholder(result) || !this.#calls.has(toolCallId)) {
      return [];
    }
    const input = this.#arguments.get(toolCallId) ?? {};
    return this.#startWith([{ type: "tool-input-available", toolCallId, toolName, input }]);
  }

  #update({ id: toolCallId, update }: ToolExecutionUpdateEvent): UiMessageChunk[] {
    if (!this.#calls.has(toolCallId)) return [];
    const output = typeof update === "string" ? update : toUiOutput(update).output;
    return this.#startWith([
      { type: "tool-output-available", toolCallId, output, preliminary: true },
    ]);
  }

  #endCall(message: ToolResultMessage): UiMessageChunk[] {
    const { toolCallId } = message;
    const { clientTools = [] } = this.#options;
    // The page has the result of a tool that it runs.
    if (!this.#calls.has(toolCallId) || isKnownToClient(message, clientTools)) return [];
    return this.#startWith(this.#toResult(message));
  }

  #toResult(message: ToolResultMessage): UiMessageChunk[] {
    const { toolCallId, toolName, content, isError } = message;
    const { approvals = {} } = this.#options;
    const decision = Object.hasOwn(approvals, toolCallId) ? approvals[toolCallId] : undefined;
    if (decision?.type === "denied") return toRefusal(toolCallId, decision);
    if (isError) {
      const input = this.#arguments.get(toolCallId) ?? {};
      return this.#toError({ toolCallId, toolName, input, errorText: extractText(content) });
    }
    const { output, metadata } = toUiOutput(message);
    return [{
      type: "tool-output-available",
      toolCallId,
      output,
      ...(metadata && { providerMetadata: metadata }),
    }];
  }

  /** The page has the messages of the prompt; those of a queue are new to it. They follow the start, which has the id. */
  #addSteering({ id = "", content }: UserMessage): UiMessageChunk[] {
    const { continued, knownIds } = this.#options;
    if (knownIds ? knownIds.has(id) : !this.#hasCalledModel) return [];
    const parts = toUserParts(content);
    if (parts.length === 0) return [];
    this.#early.push({ type: "steering-message", id, parts });
    return this.#isStarted || continued ? [...this.start(), ...this.#early.splice(0)] : [];
  }

  #endRun(event: AgentEndEvent): UiMessageChunk[] {
    const { error, stopReason, abortReason } = event;
    const ended = [
      ...this.start(),
      ...this.#closeBlocks(),
      ...this.#askAtEnd(event),
      ...this.#endStep(),
    ];
    if (stopReason === "aborted" || error?.code === "aborted") {
      const reason = typeof abortReason === "string" ? { reason: abortReason } : {};
      return [...ended, this.#finish(event, "interrupted"), { type: "abort", ...reason }];
    }
    if (error) return [...ended, { type: "error", errorText: this.#describe(error) }];
    return [...ended, this.#finish(event, this.#getFinishReason(event))];
  }

  #describe(error: AgentError): string {
    return describeError(error, "The run has failed", this.#options.onError);
  }

  #finish(event: AgentEndEvent, finishReason: UiFinishReason): UiMessageChunk {
    const metadata = this.#options.messageMetadata?.(event);
    refusePromise(metadata, "messageMetadata()");
    return {
      type: "finish",
      finishReason,
      ...(metadata !== undefined && { messageMetadata: toJson(metadata) }),
    };
  }

  /** A page does not continue a message by itself that was interrupted: a policy has ended the run, or the agent itself. */
  #getFinishReason(event: AgentEndEvent): UiFinishReason {
    const { stopReason, pendingApprovals = [] } = event;
    const { clientTools = [] } = this.#options;
    const isWaiting = pendingApprovals.length > 0 || listClientCalls(event, clientTools).length > 0;
    if (isWaiting) return "tool-calls";
    return this.#hasReply ? FINISH_REASONS[stopReason] : "interrupted";
  }
}

function toQuestion(toolCallId: string) {
  return { type: "tool-approval-request", approvalId: toolCallId, toolCallId } as const;
}

/** Returns the end of a call that the user has refused, also by not answering: the page lacks an answer then. */
function toRefusal(toolCallId: string, { origin, reason }: Denial): UiMessageChunk[] {
  const answer = {
    type: "tool-approval-response",
    approvalId: toolCallId,
    approved: false,
    ...(reason !== undefined && { reason }),
  } as const;
  return [...(origin === "person" ? [] : [answer]), { type: "tool-output-denied", toolCallId }];
}

const CUT_OFF = "The reply was cut off before the call was complete";

/** Returns an event that is not part of a message, which a page gets in `onData`. */
function mapOther(event: AgentEvent): UiMessageChunk[] {
  const data = toPageEvent(event);
  if (data === undefined) return [];
  return [{ type: `data-swink-${event.type}`, data: toJson(data), transient: true }];
}
