/**
 * The grammar of events: which sequences an agent may emit.
 *
 * ```text
 * events   = (idle | run)*
 * run      = agent_start turn* agent_end
 * turn     = turn_start given* reply (question answer)* call* result* turn_end
 * given    = message_start message_end                      the prompt, steering, follow-ups, injected messages
 * reply    = message_start (message_update | retry | model_fallback | context_compacted)* message_end
 * call     = tool_execution_start tool_execution_update* tool_execution_end      calls may overlap
 * result   = message_start message_end                      one for each call, in call order
 * idle     = queue_changed | model_changed | warning | custom     these may also stand anywhere in a run
 * ```
 *
 * @module
 */

import type { AgentEndEvent, AgentEvent } from "../core/event.ts";
import { hasContent } from "../core/history.ts";
import type { AgentMessage } from "../core/message.ts";
import { BrokenRule, EventOrderError, type EventViolation, require } from "./event_violation.ts";
import { isSame } from "./same.ts";
import { TurnGrammar } from "./turn_grammar.ts";

/**
 * Follows a sequence of events and says at the first illegal one what is wrong with it.
 *
 * @example
 * ```ts
 * import { EventGrammar } from "@swink/agent/testing";
 *
 * const grammar = new EventGrammar();
 * grammar.take({ type: "agent_start", runId: "run_1", seq: 1 }); // undefined: legal
 * grammar.take({ type: "turn_start", turn: 2, seq: 2 })?.message; // "turn 1 is next"
 * ```
 */
export class EventGrammar {
  #run: RunGrammar | undefined;
  #position = 0;

  /** Takes the next event; gives the violation if it is not legal here. */
  take(event: AgentEvent): EventViolation | undefined {
    const position = this.#position++;
    return violationOf(() => this.#step(event), { position, event });
  }

  /** Takes the end of the sequence; gives a violation if a run goes on. */
  end(): EventViolation | undefined {
    return violationOf(
      () => require(this.#run === undefined, "run", "the run has no agent_end"),
      { position: this.#position },
    );
  }

  #step(event: AgentEvent): void {
    if (!this.#run) return this.#idle(event);
    this.#run.take(event);
    if (event.type === "agent_end") this.#run = undefined;
  }

  #idle(event: AgentEvent): void {
    if (event.type === "agent_start") {
      this.#run = new RunGrammar();
      return this.#run.begin(event);
    }
    require(isFree(event), "run", `${event.type} where no run goes on`);
    require(event.seq === undefined, "number", "an event between runs has no number");
  }
}

/**
 * Checks a whole sequence of events.
 *
 * @returns The first violation, or `undefined` when all of it is legal.
 */
export function findViolation(events: Iterable<AgentEvent>): EventViolation | undefined {
  const grammar = new EventGrammar();
  for (const event of events) {
    const violation = grammar.take(event);
    if (violation) return violation;
  }
  return grammar.end();
}

/**
 * Checks a stream or a list of events to its end, and gives all of them.
 *
 * @throws {EventOrderError} At the first event that is not legal where it stands.
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
  const taken: AgentEvent[] = [];
  for await (const event of events) {
    raise(grammar.take(event));
    taken.push(event);
  }
  raise(grammar.end());
  return taken;
}

/**
 * Passes a stream on, and fails with an {@linkcode EventOrderError} at the first event that is not legal. Reads
 * nothing ahead; cancelling it cancels the stream.
 */
export function checkedStream(stream: ReadableStream<AgentEvent>): ReadableStream<AgentEvent> {
  const grammar = new EventGrammar();
  const reader = stream.getReader();
  return new ReadableStream<AgentEvent>({
    async pull(controller): Promise<void> {
      const { done, value } = await reader.read();
      const violation = done ? grammar.end() : grammar.take(value);
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

/** Follows one run: its numbers and its turns. */
class RunGrammar {
  #number = 0;
  #turns = 0;
  #turn: TurnGrammar | undefined;
  #failed: "error" | "aborted" | undefined;
  readonly #messages: AgentMessage[] = [];

  begin(event: AgentEvent): void {
    this.#count(event);
  }

  take(event: AgentEvent): void {
    this.#count(event);
    require(event.type !== "agent_start", "run", "the run before it has no agent_end");
    if (isFree(event)) return;
    if (this.#turn) return this.#inTurn(this.#turn, event);
    if (event.type === "agent_end") return this.#end(event);
    require(event.type === "turn_start", "turn", `${event.type} outside of a turn`);
    require(this.#failed === undefined, "turn", "the turn before it failed or was aborted");
    require(event.turn === this.#turns + 1, "turn", `turn ${this.#turns + 1} is next`);
    this.#turns = event.turn;
    this.#turn = new TurnGrammar(event.turn);
  }

  #inTurn(turn: TurnGrammar, event: AgentEvent): void {
    turn.take(event);
    if (event.type !== "turn_end") return;
    this.#turn = undefined;
    if (event.reason === "error" || event.reason === "aborted") this.#failed = event.reason;
    this.#messages.push(...turn.messages.filter(isKept));
  }

  #end({ messages, stopReason }: AgentEndEvent): void {
    require(
      isSame(messages.filter(isTold), this.#messages.filter(isTold)),
      "summary",
      "messages are not those that the run has told of, in their order",
    );
    require(
      this.#failed === undefined || stopReason === this.#failed,
      "summary",
      `stopReason is ${stopReason}, but the last turn ended with ${this.#failed}`,
    );
  }

  #count(event: AgentEvent): void {
    this.#number++;
    require(event.seq === this.#number, "number", `${event.seq} where ${this.#number} is next`);
  }
}

/** An event that may stand anywhere. */
function isFree({ type }: AgentEvent): boolean {
  return type === "queue_changed" || type === "model_changed" || type === "warning" ||
    type === "custom";
}

/** A reply that says nothing is told but not kept in the history. */
function isKept(message: AgentMessage): boolean {
  return message.role !== "assistant" || hasContent(message.content);
}

/** The application's own messages may be kept without being told of. */
function isTold(message: AgentMessage): boolean {
  return message.role !== "custom";
}

function violationOf(
  step: () => void,
  where: Pick<EventViolation, "position" | "event">,
): EventViolation | undefined {
  try {
    step();
  } catch (broken) {
    if (!(broken instanceof BrokenRule)) throw broken;
    const { rule, message } = broken;
    return { rule, message, ...where };
  }
}

function raise(violation: EventViolation | undefined): void {
  if (violation) throw new EventOrderError(violation);
}
