/**
 * The grammar of the events that an agent emits.
 *
 * ```text
 * events   = (idle | run)*
 * run      = agent_start turn* input* agent_end   the input of a turn that a policy refused
 * turn     = turn_start (input* request reply approval* | resumed) call* result* turn_end
 * input    = message_start message_end            the prompt, steering, follow-ups, injected messages
 * request  = (context_compacted | retry | model_fallback)*        before the model is first called
 * reply    = message_start (attempt | retry | model_fallback | context_compacted)* message_end
 * attempt  = model_call_start message_update* model_call_end
 * approval = tool_approval_requested tool_approval_resolved?      without a decision, no call of the turn runs
 * resumed  = tool_approval_resolved* approval*    the calls of the reply that the previous run left pending
 * call     = tool_execution_start tool_execution_update* tool_execution_end        calls may overlap
 * result   = message_start message_end            one for each call, in call order
 * agent    = sub_agent                            anywhere in a run after the start of its call
 * idle     = queue_changed | model_changed | warning | custom     also allowed anywhere in a run
 * ```
 *
 * @module
 */

import { checkNames } from "../core/checks/check_names.ts";
import { checkObject } from "../core/checks/check_object.ts";
import { BadRequestError } from "../core/errors/errors.ts";
import type { AgentEvent, SubAgentEvent } from "../core/events/event.ts";
import { isJsonObject } from "../core/json/json.ts";
import { checkEventSource } from "./collect_events.ts";
import {
  assertRule,
  EventOrderError,
  type EventViolation,
  RuleViolation,
} from "./event_violation.ts";
import { isAllowedAnywhere, RunGrammar } from "./run_grammar.ts";
import type { PendingReply } from "./turn_grammar.ts";

/** Options for {@linkcode EventGrammar}. */
export interface EventGrammarOptions {
  /**
   * Whether the events that a tool call forwards as `sub_agent` must be legal too. A call that forwards only some events
   * of an agent, or runs several agents at a time, breaks the rules. Default: `false`.
   */
  readonly checksSubAgents?: boolean | undefined;
}

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
  readonly #checksSubAgents: boolean;
  /** The grammars of the agents that tool calls have started, by the id of the call. */
  readonly #subAgents = new Map<string, EventGrammar>();
  #run: RunGrammar | undefined;
  /** The reply that the last run left pending. */
  #pending: PendingReply | undefined;
  #position = 0;

  /** Creates a grammar that expects the first event of a sequence. */
  constructor(options: EventGrammarOptions = {}) {
    checkObject(options, "Pass options such as { checksSubAgents: true }");
    checkNames(options, ["checksSubAgents"], "the grammar");
    const { checksSubAgents = false } = options;
    this.#checksSubAgents = checksSubAgents;
  }

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
    assertRule(isJsonObject(event), "run", "it is no event");
    if (!this.#run && event.type !== "agent_start") return this.#acceptIdle(event);
    this.#run ??= new RunGrammar(this.#pending);
    this.#run.accept(event);
    switch (event.type) {
      case "sub_agent":
        return this.#acceptSubAgent(event);
      case "tool_execution_start":
        this.#subAgents.delete(event.id);
        return;
      case "agent_end":
        this.#subAgents.clear();
        this.#pending = this.#run.pending;
        this.#run = undefined;
    }
  }

  #acceptIdle(event: AgentEvent): void {
    assertRule(isAllowedAnywhere(event), "run", `${event.type} outside of a run`);
    assertRule(event.seq === undefined, "number", "an event between runs must have no seq");
  }

  /** Checks an event of the agent that a call runs; one with a longer path is from an agent that this agent runs. */
  #acceptSubAgent({ path: [id = "", ...path], event }: SubAgentEvent): void {
    if (!this.#checksSubAgents) return;
    const grammar = this.#subAgents.get(id) ?? new EventGrammar({ checksSubAgents: true });
    this.#subAgents.set(id, grammar);
    // The tool call that forwarded a nested event has dropped its number in this agent's run.
    const nested: AgentEvent = path.length > 0
      ? { type: "sub_agent", path, event, seq: grammar.#run?.nextSeq ?? 0 }
      : event;
    const violation = grammar.accept(nested);
    if (violation) throw new RuleViolation(violation.rule, `agent of ${id}: ${violation.message}`);
  }
}

/**
 * Checks a complete sequence of events.
 *
 * @returns The first violation, or `undefined` if all events are legal.
 */
export function findViolation(
  events: Iterable<AgentEvent>,
  options?: EventGrammarOptions,
): EventViolation | undefined {
  checkEventSource(events);
  const grammar = new EventGrammar(options);
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
  options?: EventGrammarOptions,
): Promise<AgentEvent[]> {
  checkEventSource(events);
  const grammar = new EventGrammar(options);
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
export function checkStream(
  stream: ReadableStream<AgentEvent>,
  options?: EventGrammarOptions,
): ReadableStream<AgentEvent> {
  const grammar = new EventGrammar(options);
  if (!(stream instanceof ReadableStream)) {
    throw new BadRequestError("Pass a stream of events, such as that of promptStream()");
  }
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
