/**
 * The grammar of the events that an agent emits.
 *
 * ```text
 * events   = (idle | run)*
 * run      = agent_start turn* input* agent_end   the input of a turn that a policy refused
 * turn     = turn_start input* (reply approval* | resumed) call* result* turn_end
 * input    = message_start message_end            the prompt, steering, follow-ups, injected messages
 * reply    = message_start (attempt | retry | model_fallback | context_compacted)* message_end
 * attempt  = model_call_start message_update* model_call_end
 * approval = tool_approval_requested tool_approval_resolved?      without a decision, the turn ends pending
 * resumed  = tool_approval_resolved*              a batch of tool calls of an earlier run
 * call     = tool_execution_start tool_execution_update* tool_execution_end       calls may overlap
 * result   = message_start message_end            one for each call, in call order
 * idle     = queue_changed | model_changed | warning | custom | sub_agent      also allowed anywhere in a run
 * ```
 *
 * @module
 */

import type {
  AgentEndEvent,
  AgentEvent,
  MessageEndEvent,
  MessageStartEvent,
} from "../core/event.ts";
import { hasContent } from "../core/history.ts";
import type { AgentMessage } from "../core/message.ts";
import {
  assertRule,
  EventOrderError,
  type EventViolation,
  RuleViolation,
} from "./event_violation.ts";
import { isJsonEqual } from "../core/json_equal.ts";
import { TurnGrammar } from "./turn_grammar.ts";

/**
 * Checks a sequence of events one by one, and explains the first illegal one.
 *
 * @example
 * ```ts
 * import { EventGrammar } from "@swink/agent/testing";
 *
 * const grammar = new EventGrammar();
 * grammar.accept({ type: "agent_start", runId: "run_1", seq: 1 }); // undefined: the event is legal
 * grammar.accept({ type: "turn_start", turn: 2, seq: 2 })?.message; // "turn 1 is next"
 * ```
 */
export class EventGrammar {
  #run: RunGrammar | undefined;
  #position = 0;

  /** Accepts the next event. Returns a violation if it is illegal here. */
  accept(event: AgentEvent): EventViolation | undefined {
    const position = this.#position++;
    return catchViolation(() => this.#acceptEvent(event), { position, event });
  }

  /** Ends the sequence. Returns a violation if a run has not ended. */
  end(): EventViolation | undefined {
    return catchViolation(
      () => assertRule(this.#run === undefined, "run", "the run has no agent_end"),
      { position: this.#position },
    );
  }

  #acceptEvent(event: AgentEvent): void {
    if (!this.#run) return this.#acceptIdle(event);
    this.#run.accept(event);
    if (event.type === "agent_end") this.#run = undefined;
  }

  #acceptIdle(event: AgentEvent): void {
    if (event.type === "agent_start") {
      this.#run = new RunGrammar();
      return this.#run.start(event);
    }
    assertRule(isAllowedAnywhere(event), "run", `${event.type} outside of a run`);
    assertRule(event.seq === undefined, "number", "an event between runs must have no seq");
  }
}

/**
 * Checks a complete sequence of events.
 *
 * @returns The first violation, or `undefined` if all events are legal.
 */
export function findViolation(events: Iterable<AgentEvent>): EventViolation | undefined {
  const grammar = new EventGrammar();
  for (const event of events) {
    const violation = grammar.accept(event);
    if (violation) return violation;
  }
  return grammar.end();
}

/**
 * Reads a stream or a list of events to its end, checks their order and returns them.
 *
 * @throws {EventOrderError} At the first illegal event.
 *
 * @example
 * ```ts
 * import { Agent } from "@swink/agent";
 * import { checkEvents, reply, scriptedStream } from "@swink/agent/testing";
 *
 * const agent = new Agent({ model: "test/model", streamFn: scriptedStream([reply("Hello")]) });
 * const events = await checkEvents(agent.promptStream("Hi"));
 * events.at(-1)?.type; // "agent_end"
 * ```
 */
export async function checkEvents(
  events: AsyncIterable<AgentEvent> | Iterable<AgentEvent>,
): Promise<AgentEvent[]> {
  const grammar = new EventGrammar();
  const checked: AgentEvent[] = [];
  for await (const event of events) {
    throwIfViolation(grammar.accept(event));
    checked.push(event);
  }
  throwIfViolation(grammar.end());
  return checked;
}

/**
 * Passes the events of a stream through, and errors with an {@linkcode EventOrderError} at the first illegal one.
 *
 * Reads nothing ahead. Cancelling the returned stream cancels the source.
 */
export function checkStream(stream: ReadableStream<AgentEvent>): ReadableStream<AgentEvent> {
  const grammar = new EventGrammar();
  const reader = stream.getReader();
  return new ReadableStream<AgentEvent>({
    async pull(controller): Promise<void> {
      const { done, value } = await reader.read();
      const violation = done ? grammar.end() : grammar.accept(value);
      if (violation) {
        const error = new EventOrderError(violation);
        controller.error(error);
        return reader.cancel(error);
      }
      if (done) controller.close();
      else controller.enqueue(value);
    },
    cancel: (reason) => reader.cancel(reason),
  }, { highWaterMark: 0 });
}

/** Checks one run: the `seq` of its events and its turns. */
class RunGrammar {
  #seq = 0;
  #turnCount = 0;
  #turn: TurnGrammar | undefined;
  #refusedInput: { readonly message: AgentMessage; readonly open: boolean } | undefined;
  #failure: "error" | "aborted" | undefined;
  readonly #messages: AgentMessage[] = [];

  start(event: AgentEvent): void {
    this.#checkSeq(event);
  }

  accept(event: AgentEvent): void {
    this.#checkSeq(event);
    assertRule(event.type !== "agent_start", "run", "the previous run has no agent_end");
    if (isAllowedAnywhere(event)) return;
    if (this.#turn) return this.#acceptInTurn(this.#turn, event);
    if (event.type === "agent_end") return this.#checkRunEnd(event);
    if (event.type === "message_start" || event.type === "message_end") {
      return this.#acceptRefusedInput(event);
    }
    assertRule(event.type === "turn_start", "turn", `${event.type} outside of a turn`);
    assertRule(this.#failure === undefined, "turn", "the previous turn failed or was aborted");
    assertRule(!this.#refusedInput, "turn", "the previous turn was refused");
    assertRule(event.turn === this.#turnCount + 1, "turn", `turn ${this.#turnCount + 1} is next`);
    this.#turnCount = event.turn;
    this.#turn = new TurnGrammar(event.turn);
  }

  /** Accepts the input of a turn that a policy refused, after which no turn may start. */
  #acceptRefusedInput({ type, message }: MessageStartEvent | MessageEndEvent): void {
    if (type === "message_start") {
      assertRule(
        this.#refusedInput?.open !== true,
        "message",
        "the previous message has not ended",
      );
      this.#refusedInput = { message, open: true };
      return;
    }
    const isStarted = this.#refusedInput?.open && isJsonEqual(message, this.#refusedInput.message);
    assertRule(isStarted === true, "message", "the message differs from its message_start");
    this.#refusedInput = { message, open: false };
    this.#messages.push(message);
  }

  #acceptInTurn(turn: TurnGrammar, event: AgentEvent): void {
    turn.accept(event);
    if (event.type !== "turn_end") return;
    this.#turn = undefined;
    if (event.reason === "error" || event.reason === "aborted") this.#failure = event.reason;
    this.#messages.push(...turn.messages.filter(isInHistory));
  }

  #checkRunEnd({ messages, stopReason }: AgentEndEvent): void {
    assertRule(
      isJsonEqual(messages.filter(isReported), this.#messages.filter(isReported)),
      "summary",
      "messages are not the messages of the run in their order",
    );
    assertRule(
      this.#failure === undefined || stopReason === this.#failure,
      "summary",
      `stopReason is ${stopReason}, but the last turn ended with ${this.#failure}`,
    );
  }

  #checkSeq(event: AgentEvent): void {
    this.#seq++;
    assertRule(event.seq === this.#seq, "number", `seq is ${event.seq}, expected ${this.#seq}`);
  }
}

function isAllowedAnywhere({ type }: AgentEvent): boolean {
  return type === "queue_changed" || type === "model_changed" || type === "warning" ||
    type === "custom" || type === "sub_agent";
}

/** Whether a message is kept in the history. An empty reply is emitted, but not kept. */
function isInHistory(message: AgentMessage): boolean {
  return message.role !== "assistant" || hasContent(message.content);
}

/** Whether `agent_end` must repeat a message. Custom messages may be kept without being emitted. */
function isReported(message: AgentMessage): boolean {
  return message.role !== "custom";
}

function catchViolation(
  check: () => void,
  location: Pick<EventViolation, "position" | "event">,
): EventViolation | undefined {
  try {
    check();
  } catch (error) {
    if (!(error instanceof RuleViolation)) throw error;
    const { rule, message } = error;
    return { rule, message, ...location };
  }
}

function throwIfViolation(violation: EventViolation | undefined): void {
  if (violation) throw new EventOrderError(violation);
}
