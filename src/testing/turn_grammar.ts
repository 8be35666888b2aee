/**
 * What is legal within a turn.
 *
 * @module
 */

import { toolCallsOf } from "../core/content.ts";
import type { AgentEvent, TurnEndEvent } from "../core/event.ts";
import type { AgentMessage, AssistantMessage } from "../core/message.ts";
import { require } from "./event_violation.ts";
import { ReplyGrammar } from "./reply_grammar.ts";
import { isSame } from "./same.ts";
import { ToolsGrammar } from "./tools_grammar.ts";

type Stage =
  | { readonly type: "before_reply" }
  | { readonly type: "message"; readonly message: AgentMessage; readonly next: Stage }
  | { readonly type: "reply"; readonly reply: ReplyGrammar }
  | {
    readonly type: "after_reply";
    readonly message: AssistantMessage;
    readonly tools: ToolsGrammar;
  }
  | { readonly type: "over" };

/** Follows one turn: the messages that it begins with, its reply, its calls, its results. */
export class TurnGrammar {
  readonly #number: number;
  readonly #messages: AgentMessage[] = [];
  #stage: Stage = { type: "before_reply" };

  /** Begins the turn of a number. */
  constructor(number: number) {
    this.#number = number;
  }

  /** The messages that have ended, in order. */
  get messages(): readonly AgentMessage[] {
    return this.#messages;
  }

  /** Takes the next event of the turn. */
  take(event: AgentEvent): void {
    switch (event.type) {
      case "message_start":
        this.#stage = this.#begin(event.message);
        return;
      case "message_end":
        this.#messages.push(event.message);
        this.#stage = this.#finish(event.message);
        return;
      case "message_update":
        return this.#reply(event.type).delta(event.delta);
      case "retry":
        return this.#asking(event.type)?.retry(event);
      case "model_fallback":
      case "context_compacted":
        return this.#asking(event.type)?.restart();
      case "tool_approval_requested":
        return this.#tools(event.type).asked(event);
      case "tool_approval_resolved":
        return this.#tools(event.type).answered(event);
      case "tool_execution_start":
        return this.#tools(event.type).begun(event);
      case "tool_execution_update":
        return this.#tools(event.type).updated(event);
      case "tool_execution_end":
        return this.#tools(event.type).ended(event);
      case "turn_end":
        return this.#end(event);
      default:
        require(false, "turn", `${event.type} has no place within a turn`);
    }
  }

  #begin(message: AgentMessage): Stage {
    const stage = this.#stage;
    switch (stage.type) {
      case "before_reply": {
        const isReply = message.role === "assistant" && message.content.length === 0;
        return isReply
          ? { type: "reply", reply: new ReplyGrammar() }
          : { type: "message", message, next: stage };
      }
      case "after_reply":
        require(
          message.role === "tool_result",
          "message",
          `a message of the ${message.role} after the reply`,
        );
        stage.tools.resultBegun(message);
        return { type: "message", message, next: stage };
      case "message":
      case "reply":
      case "over":
        require(false, "message", "the message before it has not ended");
    }
  }

  #finish(message: AgentMessage): Stage {
    const stage = this.#stage;
    switch (stage.type) {
      case "message":
        require(
          isSame(message, stage.message),
          "message",
          "the message is not the one that has begun",
        );
        return stage.next;
      case "reply":
        require(
          message.role === "assistant",
          "message",
          "the message is not the reply that has begun",
        );
        stage.reply.end(message);
        return {
          type: "after_reply",
          message,
          tools: new ToolsGrammar(toolCallsOf(message.content)),
        };
      case "before_reply":
      case "after_reply":
      case "over":
        require(false, "message", "no message has begun");
    }
  }

  #reply(type: string): ReplyGrammar {
    require(this.#stage.type === "reply", "reply", `${type} where no reply streams`);
    return this.#stage.reply;
  }

  /** The reply while the model is being asked; nothing before it has begun. */
  #asking(type: string): ReplyGrammar | undefined {
    if (this.#stage.type === "before_reply") return undefined;
    return this.#reply(type);
  }

  #tools(type: string): ToolsGrammar {
    require(this.#stage.type === "after_reply", "tool", `${type} where no reply has just ended`);
    return this.#stage.tools;
  }

  #end({ turn, message, toolResults, reason }: TurnEndEvent): void {
    const stage = this.#stage;
    require(stage.type === "after_reply", "turn", "the turn ends without a finished reply");
    stage.tools.end();
    require(turn === this.#number, "turn", `turn ${turn} ends where turn ${this.#number} goes on`);
    require(isSame(message, stage.message), "summary", "message is not the reply");
    require(isSame(toolResults, stage.tools.results), "summary", "toolResults are not the results");
    requireReason(reason, stage.message, stage.tools.count);
    this.#stage = { type: "over" };
  }
}

function requireReason(
  reason: TurnEndEvent["reason"],
  { stopReason }: AssistantMessage,
  calls: number,
): void {
  const about = `the reason is ${reason}, but`;
  if (stopReason === "error" || stopReason === "aborted") {
    require(reason === stopReason, "summary", `${about} the reply stopped with ${stopReason}`);
  }
  switch (reason) {
    case "complete":
      return require(calls === 0, "summary", `${about} the reply has calls`);
    case "tools_executed":
    case "steering_interrupt":
      return require(calls > 0, "summary", `${about} the reply has no calls`);
    case "error":
      return require(
        stopReason === "error",
        "summary",
        `${about} the reply stopped with ${stopReason}`,
      );
    case "aborted":
      return;
  }
}
