/**
 * Checks the events of one turn.
 *
 * @module
 */

import type { PendingApproval } from "../core/approval/approval.ts";
import type { AgentEvent, TurnEndEvent, TurnEndReason } from "../core/events/event.ts";
import { isJsonEqual } from "../core/json/json_equal.ts";
import { extractToolCalls } from "../core/messages/content.ts";
import type {
  AgentMessage,
  AssistantMessage,
  ToolResultMessage,
} from "../core/messages/message.ts";
import type { ResumedReply } from "./approval_grammar.ts";
import { assertRule } from "./event_violation.ts";
import type { MessageIds } from "./message_ids.ts";
import { RecordedBatch } from "./recorded_batch.ts";
import { ReplyGrammar } from "./reply_grammar.ts";
import { type BatchEvent, ToolsGrammar } from "./tools_grammar.ts";

/** A reply whose tool calls wait for approvals, at the end of a run. */
export interface PendingReply {
  /** The reply. */
  readonly message: AssistantMessage;
  /** The approvals that it waits for, in call order. */
  readonly approvals: readonly PendingApproval[];
}

/** Options for `new TurnGrammar()`. */
export interface TurnGrammarOptions {
  /** Number of the turn in the run, from 1. */
  readonly turn: number;
  /** The ids of the messages of the run. */
  readonly ids: MessageIds;
  /** The reply that waits for approvals, if known; the first turn may run its calls instead of calling the model. */
  readonly pending: PendingReply | undefined;
}

type TurnStage =
  | { readonly type: "input" }
  /** The model is about to be called, so that no input may follow. */
  | { readonly type: "request" }
  | { readonly type: "message"; readonly message: AgentMessage; readonly next: TurnStage }
  | { readonly type: "reply"; readonly reply: ReplyGrammar }
  | { readonly type: "tools"; readonly message: AssistantMessage; readonly tools: ToolsGrammar }
  /** The calls of an earlier reply run, which is known only from `turn_end`. */
  | { readonly type: "resumed"; readonly tools: RecordedBatch }
  | { readonly type: "ended"; readonly tools: ToolsGrammar };

/** Checks one turn: input messages, reply, tool calls and results. */
export class TurnGrammar {
  readonly #options: TurnGrammarOptions;
  readonly #messages: AgentMessage[] = [];
  #stage: TurnStage = { type: "input" };

  constructor(options: TurnGrammarOptions) {
    this.#options = options;
  }

  /** The messages that have ended so far, in order. */
  get messages(): readonly AgentMessage[] {
    return this.#messages;
  }

  /** The approvals that wait for a decision, when the turn has ended. */
  get pendingApprovals(): readonly PendingApproval[] {
    return this.#stage.type === "ended" ? this.#stage.tools.pendingApprovals : [];
  }

  /** Checks the next event. */
  accept(event: AgentEvent): void {
    switch (event.type) {
      case "message_start":
        this.#stage = this.#startMessage(event.message);
        return;
      case "message_end":
        this.#stage = this.#endMessage(event.message);
        this.#messages.push(event.message);
        return;
      case "model_call_start":
        return this.#getReply(event.type).acceptCallStart(event);
      case "model_call_end":
        return this.#getReply(event.type).acceptCallEnd(event);
      case "message_update":
        return this.#getReply(event.type).acceptDelta(event.delta);
      case "retry":
      case "model_fallback": {
        const reply = this.#prepareRequest(event.type);
        if (reply) return reply.acceptRetry(event);
        assertRule(!event.discard, "reply", "discard is true before the reply");
        return;
      }
      case "context_compacted":
        return this.#prepareRequest(event.type)?.acceptCompaction(event);
      case "tool_approval_requested":
      case "tool_approval_resolved":
      case "tool_execution_start":
      case "tool_execution_update":
      case "tool_execution_end":
        return this.#getTools(event).accept(event);
      case "turn_end":
        return this.#endTurn(event);
      default:
        assertRule(false, "turn", `${event.type} within a turn`);
    }
  }

  #startMessage(message: AgentMessage): TurnStage {
    this.#options.ids.add(message);
    const stage = this.#stage;
    switch (stage.type) {
      case "input":
      case "request": {
        if (message.role === "assistant" && message.content.length === 0) {
          return { type: "reply", reply: new ReplyGrammar(this.#options.turn, message) };
        }
        assertRule(stage.type === "input", "message", "input after the request was prepared");
        return { type: "message", message, next: stage };
      }
      case "tools":
      case "resumed":
        assertRule(
          message.role === "tool_result",
          "message",
          `message of role ${message.role} after the reply`,
        );
        stage.tools.acceptResult(message);
        return { type: "message", message, next: stage };
      case "message":
      case "reply":
      case "ended":
        assertRule(false, "message", "the previous message has not ended");
    }
  }

  #endMessage(message: AgentMessage): TurnStage {
    const stage = this.#stage;
    switch (stage.type) {
      case "message":
        assertRule(
          isJsonEqual(message, stage.message),
          "message",
          "the message differs from its message_start",
        );
        return stage.next;
      case "reply":
        assertRule(
          message.role === "assistant",
          "message",
          "the started message is a reply, but the ended one is not",
        );
        stage.reply.acceptEnd(message);
        return { type: "tools", message, tools: createTools(message) };
      case "input":
      case "request":
      case "tools":
      case "resumed":
      case "ended":
        assertRule(false, "message", "no message has started");
    }
  }

  #getReply(type: string): ReplyGrammar {
    assertRule(this.#stage.type === "reply", "reply", `${type} outside of a reply`);
    return this.#stage.reply;
  }

  /** Returns the streaming reply; before it starts, ends the input and returns `undefined`. */
  #prepareRequest(type: string): ReplyGrammar | undefined {
    if (this.#stage.type === "input") this.#stage = { type: "request" };
    return this.#stage.type === "request" ? undefined : this.#getReply(type);
  }

  #getTools({ type }: BatchEvent): ToolsGrammar | RecordedBatch {
    const stage = this.#stage;
    if (stage.type === "tools" || stage.type === "resumed") return stage.tools;
    const isResuming = type === "tool_approval_requested" || type === "tool_approval_resolved" ||
      type === "tool_execution_start";
    assertRule(
      stage.type === "input" && isResuming && this.#options.turn === 1,
      "tool",
      `${type} not directly after a reply`,
    );
    return this.#resumeTools();
  }

  /** Begins to run the calls of an earlier reply. */
  #resumeTools(): ToolsGrammar | RecordedBatch {
    const { pending } = this.#options;
    assertRule(
      this.#messages.length === 0,
      "message",
      "a message between the tool calls and their results",
    );
    if (!pending) {
      const tools = new RecordedBatch();
      this.#stage = { type: "resumed", tools };
      return tools;
    }
    const { message, approvals } = pending;
    const tools = createTools(message, { approvals });
    this.#stage = { type: "tools", message, tools };
    return tools;
  }

  #endTurn({ turn, message, toolResults, reason }: TurnEndEvent): void {
    const stage = this.#stage;
    assertRule(
      stage.type === "tools" || stage.type === "resumed",
      "turn",
      "the turn ends without a complete reply",
    );
    assertRule(
      turn === this.#options.turn,
      "turn",
      `turn is ${turn}, expected ${this.#options.turn}`,
    );
    if (stage.type === "tools") {
      assertRule(
        isJsonEqual(message, stage.message),
        "summary",
        "message is not the reply of the turn",
      );
    }
    const tools = stage.type === "tools"
      ? stage.tools
      : stage.tools.replay(createTools(message, {}));
    tools.acceptTurnEnd(reason);
    assertResults(toolResults, tools);
    assertEndReason(reason, message, tools.size);
    this.#stage = { type: "ended", tools };
  }
}

function createTools({ content }: AssistantMessage, resumed?: ResumedReply): ToolsGrammar {
  return new ToolsGrammar(extractToolCalls(content), resumed);
}

function assertResults(toolResults: readonly ToolResultMessage[], { results }: ToolsGrammar): void {
  assertRule(
    isJsonEqual(toolResults, results),
    "summary",
    "toolResults are not the results of the turn",
  );
}

function assertEndReason(
  reason: TurnEndReason,
  { stopReason }: AssistantMessage,
  callCount: number,
): void {
  const prefix = `the reason is ${reason}, but`;
  if (stopReason === "error" || stopReason === "aborted") {
    assertRule(reason === stopReason, "summary", `${prefix} the reply stopped with ${stopReason}`);
  }
  switch (reason) {
    case "complete":
      return assertRule(callCount === 0, "summary", `${prefix} the reply has calls`);
    case "tools_executed":
    case "steering_interrupt":
    case "approval_pending":
      return assertRule(callCount > 0, "summary", `${prefix} the reply has no calls`);
    case "error":
      return assertRule(
        stopReason === "error" || callCount > 0,
        "summary",
        `${prefix} the reply stopped with ${stopReason}`,
      );
    case "aborted":
      return;
  }
}
