/**
 * Maps the events of a run to the chunks of AI SDK UI.
 *
 * @module
 */

import type { PendingApproval } from "../../core/approval/approval.ts";
import type { AgentEndEvent, AgentEvent } from "../../core/events/event.ts";
import { toJsonValue } from "../../core/json/json.ts";
import { extractText } from "../../core/messages/content.ts";
import type {
  AgentMessage,
  AssistantMessage,
  ToolResultMessage,
  UserMessage,
} from "../../core/messages/message.ts";
import type { StopReason } from "../../core/models/model.ts";
import type { AssistantMessageDelta } from "../../core/streams/stream.ts";
import { isKnownToClient, listClientCalls } from "../web_client/client_tools.ts";
import { toClientEvent } from "./to_client_event.ts";
import { listCitedPages, toUiOutput, toUserParts } from "./to_ui_parts.ts";
import type { UiFinishReason, UiMessageChunk } from "./ui_message.ts";

/** Options for `new ChunkMapper()`. */
export interface ChunkMapperOptions {
  /** The message of the page that the run continues, such as one with answered approvals. Default: a new one. */
  readonly continued?: ContinuedMessage | undefined;
  /** Ids of the messages that the page has. Default: none. */
  readonly knownIds?: ReadonlySet<string> | undefined;
  /** Names of the tools that the page runs, whose results it has itself. Default: none. */
  readonly clientTools?: readonly string[] | undefined;
  /** Returns the metadata of the message when the run has ended. Default: none. */
  readonly messageMetadata?: ((end: AgentEndEvent) => unknown) | undefined;
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
  readonly contentIndex: number;
}

/** A call that is being written. */
interface OpenCall {
  readonly toolCallId: string;
  readonly toolName: string;
}

const BLOCK_TYPES = { text_delta: "text", thinking_delta: "reasoning" } as const;

const FINISH_REASONS: Readonly<Record<StopReason, UiFinishReason>> = {
  stop: "stop",
  tool_use: "tool-calls",
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
  readonly #denied = new Set<string>();
  #block: OpenBlock | undefined;
  #blocks = 0;
  #isStarted = false;
  #isStepOpen = false;
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
        return [...this.askFor(event.pendingApprovals ?? []), ...this.#endStep()];
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
      case "tool_approval_resolved":
        if (event.decision.type === "denied") this.#denied.add(event.id);
        return [];
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
      case "tool_execution_start":
      case "tool_execution_end":
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
    return [{ type: "start", ...(messageId !== undefined && { messageId }) }];
  }

  /** Returns the questions of a run that waits for approvals. */
  askFor(approvals: readonly PendingApproval[]): UiMessageChunk[] {
    const known = approvals.filter(({ toolCallId }) => this.#calls.has(toolCallId));
    return known.flatMap(({ toolCallId }) => [
      ...this.start(),
      { type: "tool-approval-request", approvalId: toolCallId, toolCallId } as const,
    ]);
  }

  #startReply({ id }: AssistantMessage): UiMessageChunk[] {
    this.#isStepOpen = true;
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
        return [...this.#closeBlock(), { type: "tool-input-start", toolCallId, toolName }];
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
        const opened = this.#openBlock(type, contentIndex);
        return [...opened, { type: `${type}-delta`, id: this.#blockId, delta: delta.delta }];
      }
    }
  }

  get #blockId(): string {
    return this.#block?.id ?? "";
  }

  #openBlock(type: OpenBlock["type"], contentIndex: number): UiMessageChunk[] {
    if (this.#block?.contentIndex === contentIndex) return [];
    const closed = this.#closeBlock();
    this.#block = { type, contentIndex, id: `${type}-${++this.#blocks}` };
    return [...closed, { type: `${type}-start`, id: this.#blockId }];
  }

  #closeBlock(): UiMessageChunk[] {
    const block = this.#block;
    this.#block = undefined;
    return block ? [{ type: `${block.type}-end`, id: block.id }] : [];
  }

  /** Takes back what a failed attempt has written. */
  #discard(): UiMessageChunk[] {
    this.#block = undefined;
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
    const inputs = content.flatMap((block): UiMessageChunk[] => {
      if (block.type !== "tool_call") return [];
      const { id: toolCallId, name: toolName, arguments: input } = block;
      this.#calls.add(toolCallId);
      return [{ type: "tool-input-available", toolCallId, toolName, input }];
    });
    const kept = new Set(content.flatMap((block) => block.type === "tool_call" ? [block.id] : []));
    const lost = [...this.#openCalls.values()].filter(({ toolCallId }) => !kept.has(toolCallId));
    this.#openCalls.clear();
    return [
      ...this.#closeBlock(),
      ...listCitedPages(content).map((page) => ({ type: "source-url", ...page }) as const),
      ...inputs,
      ...lost.map((call) =>
        ({ type: "tool-input-error", ...call, input: {}, errorText: CUT_OFF }) as const
      ),
    ];
  }

  #update(
    { id: toolCallId, update }: Extract<AgentEvent, { type: "tool_execution_update" }>,
  ): UiMessageChunk[] {
    if (!this.#calls.has(toolCallId)) return [];
    const output = typeof update === "string" ? update : toUiOutput(update).output;
    return [{ type: "tool-output-available", toolCallId, output, preliminary: true }];
  }

  #endCall(message: ToolResultMessage): UiMessageChunk[] {
    const { toolCallId, content, isError } = message;
    const { clientTools = [], continued } = this.#options;
    // The page has the result of a tool that it runs.
    if (!this.#calls.has(toolCallId) || isKnownToClient(message, clientTools)) return [];
    const started = this.start();
    // Its user has refused the call; one that the application refuses is an error with a reason.
    if (this.#denied.has(toolCallId) && continued?.toolCallIds.includes(toolCallId)) {
      return [...started, { type: "tool-output-denied", toolCallId }];
    }
    if (isError) {
      return [...started, {
        type: "tool-output-error",
        toolCallId,
        errorText: extractText(content),
      }];
    }
    const { output, metadata } = toUiOutput(message);
    return [...started, {
      type: "tool-output-available",
      toolCallId,
      output,
      ...(metadata && { providerMetadata: metadata }),
    }];
  }

  /** The page has the messages of the prompt; those that are queued later are new to it. */
  #addSteering({ id = "", content }: UserMessage): UiMessageChunk[] {
    if (!this.#hasCalledModel || this.#options.knownIds?.has(id)) return [];
    const parts = toUserParts(content);
    return parts.length === 0 ? [] : [{ type: "steering-message", id, parts }];
  }

  #endRun(event: AgentEndEvent): UiMessageChunk[] {
    const { error, stopReason, abortReason, pendingApprovals = [] } = event;
    const ended = [...this.start(), ...this.#closeBlock(), ...this.#endStep()];
    if (stopReason === "aborted" || error?.code === "aborted") {
      const reason = typeof abortReason === "string" ? { reason: abortReason } : {};
      return [...ended, { type: "abort", ...reason }];
    }
    if (error) return [...ended, { type: "error", errorText: error.message }];
    const { clientTools = [], messageMetadata } = this.#options;
    const isWaiting = pendingApprovals.length > 0 || listClientCalls(event, clientTools).length > 0;
    const metadata = messageMetadata?.(event);
    return [...ended, {
      type: "finish",
      finishReason: isWaiting ? "tool-calls" : FINISH_REASONS[stopReason],
      ...(metadata !== undefined && { messageMetadata: toJson(metadata) }),
    }];
  }
}

const CUT_OFF = "The reply was cut off before the call was complete";

/** Returns an event that is not part of a message, which a page gets in `onData`. */
function mapOther(event: AgentEvent): UiMessageChunk[] {
  const data = toClientEvent(event);
  if (data === undefined) return [];
  return [{ type: `data-swink-${event.type}`, data: toJson(data), transient: true }];
}

/** Returns a copy that is JSON; `null` for a value that cannot be. */
function toJson(value: unknown): unknown {
  const copy = toJsonValue(value);
  return "value" in copy ? copy.value : null;
}
