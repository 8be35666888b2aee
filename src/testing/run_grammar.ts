/**
 * Checks the events of one run.
 *
 * @module
 */

import type {
  AgentEndEvent,
  AgentEvent,
  MessageEndEvent,
  MessageStartEvent,
  SubAgentEvent,
  TurnEndEvent,
  TurnStartEvent,
} from "../core/events/event.ts";
import { isJsonEqual } from "../core/json/json_equal.ts";
import { hasContent } from "../core/messages/history.ts";
import type { AgentMessage } from "../core/messages/message.ts";
import { assertRule } from "./event_violation.ts";
import { MessageIds } from "./message_ids.ts";
import { type PendingReply, TurnGrammar } from "./turn_grammar.ts";

type RunStage =
  | { readonly type: "between_turns" }
  | { readonly type: "turn"; readonly turn: TurnGrammar }
  /** The input of a turn that a policy refused; `open` is the message that has started but not ended. */
  | { readonly type: "refused"; readonly open?: AgentMessage }
  /** The last turn is over, and no other one may start. */
  | { readonly type: "complete"; readonly reason: "error" | "aborted" | "approval_pending" };

/** Checks one run: the `seq` of its events, its turns and its summary. */
export class RunGrammar {
  #seq = 0;
  #turnCount = 0;
  #stage: RunStage = { type: "between_turns" };
  #pending: PendingReply | undefined;
  readonly #ids = new MessageIds();
  readonly #messages: AgentMessage[] = [];
  readonly #startedCalls = new Set<string>();

  /** Creates the grammar of a run; `pending` is the reply that the previous run left pending, if known. */
  constructor(pending: PendingReply | undefined) {
    this.#pending = pending;
  }

  /** The reply that is pending after the run. */
  get pending(): PendingReply | undefined {
    return this.#pending;
  }

  /** The `seq` that the next event must have. */
  get nextSeq(): number {
    return this.#seq + 1;
  }

  /** Checks the next event, beginning with `agent_start`. */
  accept(event: AgentEvent): void {
    this.#checkSeq(event);
    if (this.#seq === 1 || isAllowedAnywhere(event)) return;
    if (event.type === "sub_agent") return this.#checkCall(event);
    if (event.type === "tool_execution_start") this.#startedCalls.add(event.id);
    assertRule(event.type !== "agent_start", "run", "the previous run has no agent_end");
    const stage = this.#stage;
    if (stage.type === "turn") return this.#acceptInTurn(stage.turn, event);
    switch (event.type) {
      case "turn_start":
        return this.#startTurn(event);
      case "message_start":
      case "message_end":
        return this.#acceptRefusedInput(event);
      case "agent_end":
        return this.#endRun(event);
      default:
        assertRule(false, "turn", `${event.type} outside of a turn`);
    }
  }

  /** Checks that an event is of an agent that a call has started; the agent may continue after the call. */
  #checkCall({ path: [id = ""] }: SubAgentEvent): void {
    assertRule(this.#startedCalls.has(id), "tool", `call ${id} has not started`);
  }

  #startTurn({ turn }: TurnStartEvent): void {
    const next = this.#turnCount + 1;
    const stage = this.#stage;
    assertRule(stage.type !== "refused", "turn", "the previous turn was refused");
    if (stage.type === "complete") {
      assertRule(false, "turn", `the previous turn ended with ${stage.reason}`);
    }
    assertRule(turn === next, "turn", `turn ${next} is next`);
    this.#turnCount = turn;
    this.#stage = {
      type: "turn",
      turn: new TurnGrammar({ turn, ids: this.#ids, pending: this.#pending }),
    };
  }

  #acceptInTurn(turn: TurnGrammar, event: AgentEvent): void {
    turn.accept(event);
    if (event.type === "turn_end") this.#endTurn(turn, event);
  }

  #endTurn(turn: TurnGrammar, { message, reason }: TurnEndEvent): void {
    const { pendingApprovals: approvals } = turn;
    this.#messages.push(...turn.messages.filter(isInHistory));
    this.#pending = reason === "approval_pending" ? { message, approvals } : undefined;
    this.#stage = reason === "error" || reason === "aborted" || reason === "approval_pending"
      ? { type: "complete", reason }
      : { type: "between_turns" };
  }

  /** Accepts the input of a refused turn, after which no turn may start. */
  #acceptRefusedInput({ type, message }: MessageStartEvent | MessageEndEvent): void {
    const stage = this.#stage;
    const open = stage.type === "refused" ? stage.open : undefined;
    assertRule(stage.type !== "complete", "message", "a message after the last turn");
    if (type === "message_start") {
      assertRule(open === undefined, "message", "the previous message has not ended");
      this.#ids.add(message);
      this.#stage = { type: "refused", open: message };
      return;
    }
    assertRule(open !== undefined, "message", "no message has started");
    assertRule(
      isJsonEqual(message, open),
      "message",
      "the message differs from its message_start",
    );
    this.#messages.push(message);
    this.#stage = { type: "refused" };
  }

  #endRun(event: AgentEndEvent): void {
    const stage = this.#stage;
    if (stage.type === "refused") {
      assertRule(stage.open === undefined, "message", "the previous message has not ended");
      assertRule(
        event.stoppedBy !== undefined,
        "summary",
        "a turn was refused, but stoppedBy is missing",
      );
    }
    assertRule(
      isJsonEqual(event.messages, this.#messages),
      "summary",
      "messages are not the messages of the run in their order",
    );
    this.#checkStopReason(event);
    this.#checkPending(event);
  }

  #checkStopReason({ stopReason, error, stoppedBy }: AgentEndEvent): void {
    assertRule(
      (stopReason === "error") === (error !== undefined),
      "summary",
      `stopReason is ${stopReason}, but the error is ${error ? "present" : "missing"}`,
    );
    const stage = this.#stage;
    if (stage.type !== "complete" || stage.reason === "approval_pending") return;
    const { reason } = stage;
    // A policy that stops the tool calls of a turn leaves the stop reason of its reply.
    const isStopped = reason === "aborted" && stoppedBy !== undefined && stopReason !== "error";
    assertRule(
      stopReason === reason || isStopped,
      "summary",
      `stopReason is ${stopReason}, but the last turn ended with ${reason}`,
    );
  }

  /** Checks the pending approvals: those of the last turn, or of the previous run if its batch was not resumed. */
  #checkPending({ pendingApprovals }: AgentEndEvent): void {
    const pending = this.#pending?.approvals;
    if (this.#turnCount > 0) {
      assertRule(
        isJsonEqual(pendingApprovals, pending),
        "summary",
        "pendingApprovals are not the approvals that the last turn waits for",
      );
      return;
    }
    if (pendingApprovals === undefined) this.#pending = undefined;
    else if (pending !== undefined) {
      assertRule(
        isJsonEqual(pendingApprovals, pending),
        "summary",
        "pendingApprovals are not those of the previous run",
      );
    }
  }

  #checkSeq({ seq }: AgentEvent): void {
    this.#seq++;
    assertRule(seq === this.#seq, "number", `seq is ${seq}, expected ${this.#seq}`);
  }
}

/** Whether an event is allowed anywhere, also between runs. */
export function isAllowedAnywhere({ type }: AgentEvent): boolean {
  return type === "queue_changed" || type === "model_changed" || type === "warning" ||
    type === "custom";
}

/** Whether a message is kept in the history. An empty reply is emitted, but not kept. */
function isInHistory(message: AgentMessage): boolean {
  return message.role !== "assistant" || hasContent(message.content);
}
