/**
 * A run in this process, with its session.
 *
 * @module
 */

import type { Agent } from "../../agent/agent.ts";
import type { AgentResult } from "../../agent/agent_result.ts";
import type { ContinueOptions } from "../../agent/run_options.ts";
import type { AgentEvent } from "../../core/events/event.ts";
import { createDeferred } from "../../core/ports/deferred.ts";
import type { Clock } from "../../core/ports/ports.ts";
import type { SessionActivity } from "../../core/sessions/session_activity.ts";
import type { SessionRecording } from "../../memory/recording/session_recording.ts";
import type { QueuedInput, RunEnd, RunInput, StartOptions } from "./agent_runner.ts";
import { hasCompleted } from "./has_completed.ts";
import type { ActiveLog, LiveEvents } from "./live_events.ts";
import { HANDED_OVER } from "./stored_session.ts";

/** Parts of a {@linkcode LocalRun}. */
export interface LocalRunOptions {
  /** The agent, whose session is restored. */
  readonly agent: Agent;
  /** The recording of the agent. */
  readonly recording: SessionRecording;
  /** Receives the events. */
  readonly live: LiveEvents;
  /** Releases the agent. */
  readonly dispose: () => Promise<void>;
  /** Time and timers. */
  readonly clock: Clock;
}

/** Maximum time for which a listener of the application may delay the answer to a queued message, in milliseconds. */
const MAX_DELAY_MS = 1_000;

/** A run that is active. */
export class LocalRun implements ActiveLog {
  /** The agent. */
  readonly agent: Agent;
  readonly #options: LocalRunOptions;
  readonly #accepted = createDeferred();
  #isHandedOver = false;
  #stopReason: RunEnd["stopReason"] | undefined;
  #ended: Promise<RunEnd> | undefined;

  constructor(options: LocalRunOptions) {
    this.agent = options.agent;
    this.#options = options;
  }

  /** The session. */
  get session(): SessionRecording["session"] {
    return this.#options.recording.session;
  }

  /** Resolves when the run has ended and its session is closed. */
  get ended(): Promise<unknown> {
    return this.#ended ?? Promise.resolve();
  }

  /** Resolves when all entries so far are persisted. */
  flush(): Promise<void> {
    return this.#options.recording.flush();
  }

  /** Returns what the session does now. */
  getActivity(): SessionActivity {
    const { runId, streamingMessage, pendingApprovals } = this.agent.state;
    const { queued } = this.agent;
    return {
      status: "running",
      runId,
      pendingApprovals,
      queued,
      ...(streamingMessage && { streamingMessage }),
    };
  }

  /**
   * Starts the run; resolves when its input is persisted, with a promise of its end. Rejects if the input does not fit
   * the session, which is closed then.
   */
  async start(
    input: RunInput,
    options: StartOptions,
  ): Promise<{ readonly ended: Promise<RunEnd> }> {
    const { live, recording } = this.#options;
    const unsubscribe = this.agent.subscribe((event) => this.#onEvent(event, input));
    live.setActive(this);
    const running = this.#run(input, options);
    const ended = running.finally(async () => {
      unsubscribe();
      await this.#close();
    });
    this.#ended = ended;
    // The rejection of a run that could not be started is that of `start()`.
    ended.catch(() => {});
    await Promise.race([this.#accepted.promise, running]);
    await recording.flush();
    return { ended };
  }

  /**
   * Queues a message for the run; resolves to its id when it is persisted, or after one second in which a listener of the
   * application has not ended, which may wait for the answer.
   */
  async send({ type, message }: QueuedInput): Promise<string> {
    const recorded = createDeferred();
    const recordedIds = new Set<string>();
    const limit = new AbortController();
    let queuedId = "";
    // The recording gets the event first; it is delayed while listeners handle another one.
    const unsubscribe = this.agent.subscribe((event) => {
      if (event.type !== "queue_changed") return;
      const { steering, followUp } = event.queued;
      for (const { id } of [...steering, ...followUp]) recordedIds.add(id);
      if (recordedIds.has(queuedId)) recorded.resolve();
    });
    try {
      const queued = type === "steer"
        ? this.agent.steer([message])
        : this.agent.followUp([message]);
      queuedId = queued.id;
      const expired = this.#options.clock.sleep(MAX_DELAY_MS, limit.signal);
      if (!recordedIds.has(queuedId)) await Promise.race([recorded.promise, expired]);
    } finally {
      limit.abort();
      unsubscribe();
    }
    await this.flush();
    return queuedId;
  }

  /** Closes the session without a run. */
  async discard(): Promise<void> {
    await this.#close();
  }

  /** Aborts the run; with `isHandedOver` it is marked, so that another process continues it. */
  abort(reason: string, { isHandedOver }: { readonly isHandedOver: boolean }): void {
    this.#isHandedOver ||= isHandedOver;
    this.agent.abort(reason);
  }

  async #run(input: RunInput, { policies }: StartOptions): Promise<RunEnd> {
    let result = await this.#startAgent(input, { policies });
    // A message that was queued as the run ended starts the next one.
    while (this.agent.hasPendingMessages && hasCompleted(result)) {
      result = await this.agent.continue({ policies });
    }
    const { stopReason, usage, cost } = result;
    this.#stopReason = stopReason;
    return { stopReason, usage, cost };
  }

  #startAgent(input: RunInput, options: ContinueOptions): Promise<AgentResult> {
    switch (input.type) {
      case "prompt":
        return this.agent.prompt([input.message], options);
      case "continue":
        return this.agent.continue(options);
      case "approvals":
        return this.agent.continue({ ...options, approvals: input.decisions });
    }
  }

  #onEvent(event: AgentEvent, input: RunInput): void {
    this.#options.live.push(event, this.session.outline.length);
    switch (event.type) {
      case "message_end":
        if (input.type === "prompt" && event.message.id === input.message.id) {
          this.#accepted.resolve();
        }
        return;
      case "model_call_start":
      case "tool_execution_start":
      case "agent_end":
        // The recording has begun.
        this.#accepted.resolve();
    }
  }

  async #close(): Promise<void> {
    const { recording, live, dispose } = this.#options;
    // First, since a closed session cannot be read.
    live.setActive(undefined);
    try {
      // A run that has completed is not continued.
      if (this.#isHandedOver && this.#stopReason === "aborted") {
        this.session.append({ type: "custom", name: HANDED_OVER, data: {} });
      }
      await recording.stop();
    } catch {
      // The run was aborted with the error, which its last event has.
    } finally {
      live.notify();
      await dispose();
    }
  }
}
