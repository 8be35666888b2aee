/**
 * Checks the events of one turn.
 *
 * @module
 */

import { extractToolCalls } from "../core/content.ts";
import type { AgentEvent, TurnEndEvent } from "../core/event.ts";
import type { AgentMessage, AssistantMessage } from "../core/message.ts";
import { assertRule } from "./event_violation.ts";
import { ReplyGrammar } from "./reply_grammar.ts";
import { isJsonEqual } from "../core/json_equal.ts";
import { ToolsGrammar } from "./tools_grammar.ts";

type TurnStage =
  | { readonly type: "before_reply" }
  | { readonly type: "message"; readonly message: AgentMessage; readonly next: TurnStage }
  | { readonly type: "reply"; readonly reply: ReplyGrammar }
  | {
    readonly type: "after_reply";
    readonly message: AssistantMessage;
    readonly tools: ToolsGrammar;
  }
  | { readonly type: "ended" };

/** Checks one turn: input messages, reply, tool calls and results. */
export class TurnGrammar {
  readonly #turn: number;
  readonly #messages: AgentMessage[] = [];
  #stage: TurnStage = { type: "before_reply" };

  constructor(turn: number) {
    this.#turn = turn;
  }

  /** The messages that have ended so far, in order. */
  get messages(): readonly AgentMessage[] {
    return this.#messages;
  }

  /** Checks the next event. */
  accept(event: AgentEvent): void {
    switch (event.type) {
      case "message_start":
        this.#stage = this.#startMessage(event.message);
        return;
      case "message_end":
        this.#messages.push(event.message);
        this.#stage = this.#endMessage(event.message);
        return;
      case "model_call_start":
        return this.#getReply(event.type).acceptCallStart(event);
      case "model_call_end":
        return this.#getReply(event.type).acceptCallEnd(event);
      case "message_update":
        return this.#getReply(event.type).acceptDelta(event.delta);
      case "retry":
      case "model_fallback":
        return this.#findReply(event.type)?.acceptRetry(event);
      case "context_compacted":
        return this.#findReply(event.type)?.reset();
      case "tool_approval_requested":
        return this.#getTools(event.type).acceptApprovalRequest(event);
      case "tool_approval_resolved":
        return this.#getTools(event.type).acceptApprovalDecision(event);
      case "tool_execution_start":
        return this.#getTools(event.type).acceptStart(event);
      case "tool_execution_update":
        return this.#getTools(event.type).acceptUpdate(event);
      case "tool_execution_end":
        return this.#getTools(event.type).acceptEnd(event);
      case "turn_end":
        return this.#endTurn(event);
      default:
        assertRule(false, "turn", `${event.type} within a turn`);
    }
  }

  #startMessage(message: AgentMessage): TurnStage {
    const stage = this.#stage;
    switch (stage.type) {
      case "before_reply": {
        const isReply = message.role === "assistant" && message.content.length === 0;
        return isReply
          ? { type: "reply", reply: new ReplyGrammar() }
          : { type: "message", message, next: stage };
      }
      case "after_reply":
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
        return {
          type: "after_reply",
          message,
          tools: new ToolsGrammar(extractToolCalls(message.content)),
        };
      case "before_reply":
      case "after_reply":
      case "ended":
        assertRule(false, "message", "no message has started");
    }
  }

  #getReply(type: string): ReplyGrammar {
    assertRule(this.#stage.type === "reply", "reply", `${type} outside of a reply`);
    return this.#stage.reply;
  }

  /** Returns the streaming reply; `undefined` before it starts. */
  #findReply(type: string): ReplyGrammar | undefined {
    if (this.#stage.type === "before_reply") return undefined;
    return this.#getReply(type);
  }

  #getTools(type: string): ToolsGrammar {
    assertRule(this.#stage.type === "after_reply", "tool", `${type} not directly after a reply`);
    return this.#stage.tools;
  }

  #endTurn({ turn, message, toolResults, reason }: TurnEndEvent): void {
    const stage = this.#stage;
    assertRule(stage.type === "after_reply", "turn", "the turn ends without a complete reply");
    stage.tools.acceptTurnEnd();
    assertRule(turn === this.#turn, "turn", `turn is ${turn}, expected ${this.#turn}`);
    assertRule(
      isJsonEqual(message, stage.message),
      "summary",
      "message is not the reply of the turn",
    );
    assertRule(
      isJsonEqual(toolResults, stage.tools.results),
      "summary",
      "toolResults are not the results of the turn",
    );
    assertEndReason(reason, stage.message, stage.tools.size);
    this.#stage = { type: "ended" };
  }
}

function assertEndReason(
  reason: TurnEndEvent["reason"],
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
      return assertRule(callCount > 0, "summary", `${prefix} the reply has no calls`);
    case "error":
      return assertRule(
        stopReason === "error",
        "summary",
        `${prefix} the reply stopped with ${stopReason}`,
      );
    case "aborted":
      return;
  }
}
