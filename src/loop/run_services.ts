/**
 * The services of one run.
 *
 * @module
 */

import type { AgentContext } from "../core/context.ts";
import { getErrorMessage } from "../core/errors.ts";
import { defaultPorts } from "../core/ports.ts";
import type { AgentTool } from "../core/tool.ts";
import type { Cancellation } from "./cancellation.ts";
import type { ResolvedConfig, TurnSettings } from "./config.ts";
import { HistoryConverter, MessageConverter } from "./convert.ts";
import type { EventPipe } from "./event_pipe.ts";
import type { MessageSource } from "./message_source.ts";
import { type GetMessages, PolledSource } from "./polled_source.ts";
import { RunEvents } from "./run_events.ts";
import { RunHistory } from "./run_history.ts";
import { Steering } from "./steering.ts";

/** Options for `new RunServices()`. */
export interface RunServicesOptions {
  /** The system prompt, tools and history that the run starts with. */
  readonly context: AgentContext;
  /** The configuration of the run. */
  readonly config: ResolvedConfig;
  /** Delivers the run's events. */
  readonly pipe: EventPipe;
  /** Aborts the run. */
  readonly cancellation: Cancellation;
  /** Models whose missing price has been reported; grows during the run. */
  readonly unpricedModels: Set<string>;
  /** Ids of calls of the last reply that wait for an approval. */
  readonly pendingCalls: ReadonlySet<string>;
}

/** The dependencies of the stages of a run; the state that they pass on is in `RunProgress`. */
export class RunServices {
  /** Id of the run. */
  readonly runId: string;
  /** The configuration, with defaults filled in. */
  readonly config: ResolvedConfig;
  /** Aborts the run and limits the time of hooks after an abort. */
  readonly cancellation: Cancellation;
  /** Emits events. */
  readonly events: RunEvents;
  /** The history of the run. */
  readonly history: RunHistory;
  /** The steering messages of the run. */
  readonly steering: Steering;
  /** The queue of follow-up messages, if there is one. */
  readonly followUp: MessageSource | undefined;
  /** Converts the growing history for the provider. */
  readonly historyConverter: HistoryConverter;
  /** Converts the messages that `transformContext` selects. */
  readonly messageConverter: MessageConverter;
  /** Models whose missing price has been reported. */
  readonly unpricedModels: Set<string>;
  /** Tools whose schema has been reported as checked only in part. */
  readonly warnedTools: WeakSet<AgentTool> = new WeakSet();
  readonly #context: AgentContext;
  readonly #startedAt: number;

  constructor(options: RunServicesOptions) {
    const { context, config, pipe, cancellation, unpricedModels, pendingCalls } = options;
    this.config = config;
    this.cancellation = cancellation;
    this.runId = config.newId("run");
    this.events = new RunEvents(pipe, cancellation);
    this.history = new RunHistory({
      messages: context.messages,
      pendingCalls,
      events: this.events,
      newCallId: () => config.newId("call"),
      newMessageId: () => config.newId("message"),
      hasRandomIds: config.newId === defaultPorts.newId,
    });
    this.steering = new Steering(this.#createSource(config.steering));
    this.followUp = this.#createSource(config.followUp);
    this.historyConverter = new HistoryConverter(config.convertToLlm);
    this.messageConverter = new MessageConverter(config.convertToLlm);
    this.unpricedModels = unpricedModels;
    this.#context = context;
    this.#startedAt = config.now();
  }

  /** Milliseconds since the run started. */
  get elapsedMs(): number {
    return this.config.now() - this.#startedAt;
  }

  /** Returns the settings of the next turn. */
  getSettings(): TurnSettings {
    const { systemPrompt, tools } = this.#context;
    return this.config.settings?.() ?? { model: this.config.model, systemPrompt, tools };
  }

  /** Returns a queue; a function is read before each turn and after each tool call. */
  #createSource(source: MessageSource | GetMessages | undefined): MessageSource | undefined {
    if (typeof source !== "function") return source;
    const onFailure = (thrown: unknown): void => {
      const message = `The message queue failed: ${getErrorMessage(thrown)}`;
      void this.events.warn("message_source_failed", message);
    };
    return new PolledSource(source, {
      onFailure,
      withGrace: (work) => this.cancellation.withGrace(work),
    });
  }

  /** Unsubscribes from the steering queue and from the caller's signal. */
  dispose(): void {
    this.steering.dispose();
    this.cancellation.dispose();
  }
}
