/**
 * The work of tools that continues after their calls.
 *
 * @module
 */

import { BadRequestError, getErrorMessage } from "../../core/errors/errors.ts";
import type { AgentEvent } from "../../core/events/event.ts";
import type { BackgroundWork } from "../../core/events/run_handle.ts";
import { type AgentMessage, toAgentMessages } from "../../core/messages/message.ts";
import type { Cancellation } from "../callbacks/cancellation.ts";
import type { ResolvedConfig } from "./config.ts";

/** Options for `new BackgroundRuns()`. */
export interface BackgroundRunsOptions {
  readonly config: Pick<ResolvedConfig, "now">;
  /** Aborts the work. */
  readonly cancellation: Cancellation;
}

/** The tool call that starts work. */
export interface StartingCall {
  /** Id of the call. */
  readonly id: string;
  /** Name of the tool. */
  readonly name: string;
  /** Emits an event of an agent, and counts what it spends. */
  readonly onEvent: (event: AgentEvent) => Promise<void>;
}

/** The background work of one run. */
export class BackgroundRuns {
  readonly #options: BackgroundRunsOptions;
  readonly #active = new Set<Promise<void>>();
  /** Created with the first work, since most runs start none. */
  #cancellation: Cancellation | undefined;
  #messages: readonly AgentMessage[] = [];
  #isClosed = false;

  /** Creates the background work of a run that has started none. */
  constructor(options: BackgroundRunsOptions) {
    this.#options = options;
  }

  /** Whether any work has not ended, or has messages that were not taken. */
  get isPending(): boolean {
    return this.#active.size > 0 || this.#messages.length > 0;
  }

  /**
   * Starts work for a tool call.
   *
   * @throws {BadRequestError} If the run has ended.
   */
  start(call: StartingCall, work: BackgroundWork): void {
    if (this.#isClosed) {
      throw new BadRequestError("The run has ended: start work in the background before it ends");
    }
    const { signal } = this.#cancellation ??= this.#options.cancellation.child();
    const onEvent = this.createChannel(call);
    const active: Promise<void> = this.#run(call, () => work({ signal, onEvent }))
      .finally(() => this.#active.delete(active));
    this.#active.add(active);
  }

  /** Returns a function that emits events of a call until the run has ended. */
  createChannel(call: Pick<StartingCall, "onEvent">): StartingCall["onEvent"] {
    return async (event) => {
      if (!this.#isClosed) await call.onEvent(event);
    };
  }

  async #run({ id, name }: StartingCall, work: () => ReturnType<BackgroundWork>): Promise<void> {
    const { now } = this.#options.config;
    try {
      await Promise.resolve();
      const messages = toAgentMessages(await work(), now());
      this.#messages = [...this.#messages, ...messages];
    } catch (thrown) {
      const text = `The work of the tool call ${id} (${name}) failed: ${getErrorMessage(thrown)}`;
      this.#messages = [...this.#messages, ...toAgentMessages(text, now())];
    }
  }

  /** Removes and returns the messages of work that has ended. */
  take(): readonly AgentMessage[] {
    const messages = this.#messages;
    this.#messages = [];
    return messages;
  }

  /** Resolves when some work has ended, or on an abort of the run or of `cancellation`. */
  async nextEnd(cancellation: Cancellation): Promise<void> {
    // A race of nothing never ends.
    if (this.#active.size === 0) return;
    await cancellation.untilAborted(Promise.race(this.#active)).catch(() => {});
  }

  /** Resolves when all work has ended, or on an abort of the run or of `cancellation`. */
  async untilEnded(cancellation: Cancellation): Promise<void> {
    while (this.#active.size > 0 && !cancellation.aborted) await this.nextEnd(cancellation);
  }

  /** Cancels what is active and refuses further work; resolves when it has ended, or soon after. */
  async close(): Promise<void> {
    const cancellation = this.#cancellation;
    if (cancellation && this.#active.size > 0) {
      cancellation.abort();
      await cancellation.withGrace(Promise.all(this.#active)).catch(() => {});
    }
    this.#isClosed = true;
    cancellation?.dispose();
  }
}
