/**
 * The workflow of a run of a session.
 *
 * @module
 */

import type { Agent } from "../../agent/agent.ts";
import type { AgentResult } from "../../agent/agent_result.ts";
import type { WorkflowFunction } from "../../core/durable/durable_engine.ts";
import type { DurableSteps } from "../../core/durable/durable_steps.ts";
import type { AgentEvent } from "../../core/events/event.ts";
import type { UserMessage } from "../../core/messages/message.ts";
import type { Clock } from "../../core/ports/ports.ts";
import type { SessionStore } from "../../core/sessions/session.ts";
import type { SessionHeader } from "../../core/sessions/session_entry.ts";
import { type DurableSession, openDurableSession } from "../../durable/agent/durable_session.ts";
import { scopeSessions } from "../../memory/storage/scoped_store.ts";
import { callApplication } from "../http/problem.ts";
import type { RunEnd } from "../runner/agent_runner.ts";
import { hasCompleted } from "../runner/has_completed.ts";
import { serializeEvent } from "../runner/live_events.ts";
import { disposeServed, type ServedAgent, toServedAgentParts } from "../runner/served_agent.ts";
import type { BeginRecord, RunRecord } from "./run_record.ts";

/**
 * Creates the agent for a run of a session with `durableAgent()`: again in each process that executes the run, with the
 * same tools and policies.
 */
export type CreateDurableAgent = (
  session: SessionHeader,
  steps: DurableSteps,
) => ServedAgent | Promise<ServedAgent>;

/** The recorded input of a run. */
export interface SessionRunInput {
  /** The session. */
  readonly header: SessionHeader;
  /** The entry after which the run continues. */
  readonly leaf: string | null;
  /** The first record of the run. */
  readonly begin: BeginRecord;
  /** The prompt. Default: the run continues the history. */
  readonly prompt?: UserMessage & { readonly id: string };
}

/** Options for {@linkcode createSessionWorkflow}. */
export interface SessionWorkflowOptions {
  /** The sessions. */
  readonly store: SessionStore;
  /** Creates the agent. */
  readonly createAgent: CreateDurableAgent;
  /** Timers. */
  readonly clock: Clock;
  /** Called when this process begins and ends to execute a run of a session. */
  readonly onExecution: (sessionId: string, change: 1 | -1) => void;
}

/** Creates the workflow. */
export function createSessionWorkflow(
  { store, createAgent, clock, onExecution }: SessionWorkflowOptions,
): WorkflowFunction<SessionRunInput, RunEnd> {
  return async (steps, input) => {
    const { id, tenant, user } = input.header;
    onExecution(id, 1);
    try {
      const create = () => createAgent(input.header, steps);
      const served = toServedAgentParts(await callApplication(create));
      await using _ending = { [Symbol.asyncDispose]: () => disposeServed(served, clock) };
      const { agent } = served;
      const own = scopeSessions(store, input.header);
      const { leaf } = input;
      const log = await openDurableSession(agent, own, { id, tenant, user, steps, leaf });
      return await new SessionRun({ agent, log, steps }).execute(input);
    } finally {
      onExecution(id, -1);
    }
  };
}

class SessionRun {
  readonly #agent: Agent;
  readonly #log: DurableSession;
  readonly #steps: DurableSteps;

  constructor(
    { agent, log, steps }: {
      readonly agent: Agent;
      readonly log: DurableSession;
      readonly steps: DurableSteps;
    },
  ) {
    this.#agent = agent;
    this.#log = log;
    this.#steps = steps;
  }

  async execute({ begin, prompt }: SessionRunInput): Promise<RunEnd> {
    const agent = this.#agent;
    await this.#publish(begin);
    agent.subscribe((event) => this.#onEvent(event));
    let result = prompt ? await agent.prompt([prompt]) : await agent.continue();
    // A message that was accepted as the run ended starts the next one. Messages are refused only when none is left: a run
    // that continues after that can be neither aborted nor approved.
    while (this.#canContinue(result) || !await this.#steps.refuseMessages()) {
      if (!this.#canContinue(result)) continue;
      await this.#save(result);
      result = await agent.continue();
    }
    // Last, so that the session has all messages that a run has left in the queues, as one that was aborted.
    await this.#save(result);
    const { stopReason, usage, cost } = result;
    await this.#publish({ type: "finished", stopReason, usage, cost });
    return { stopReason, usage, cost };
  }

  #canContinue(result: AgentResult): boolean {
    return this.#agent.hasPendingMessages && hasCompleted(result);
  }

  async #onEvent(event: AgentEvent): Promise<void> {
    const { seq: _, ...body } = JSON.parse(serializeEvent(event));
    await this.#publish({ type: "agent", event: body });
    // The prompt is in the log before the model is called, and each turn when it has ended.
    const isSaved = event.type === "model_call_start" || event.type === "turn_end";
    if (isSaved && this.#log.unsaved > 0) await this.#save();
  }

  async #save(result?: AgentResult): Promise<void> {
    const { entries: position, entryId } = await this.#log.save(result);
    await this.#publish({ type: "saved", position, entryId, queued: this.#agent.queued });
  }

  async #publish(record: RunRecord): Promise<void> {
    const { type } = record;
    const isCheckpoint = type === "begin" || type === "saved" || type === "finished";
    await this.#steps.publish(record, { isCheckpoint });
  }
}
