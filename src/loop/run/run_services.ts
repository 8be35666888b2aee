/**
 * The services of one run.
 *
 * @module
 */

import type { AgentContext } from "../../core/context/context.ts";
import type { AgentError } from "../../core/errors/errors.ts";
import { refusePromise } from "../../core/errors/refuse_promise.ts";
import { type RunSession, runSessions } from "../../core/events/run_session.ts";
import {
  type Instrumentation,
  instrumentations,
  type RunObserver,
} from "../../core/hooks/instrumentation.ts";
import type { ToolCallBlock } from "../../core/messages/content.ts";
import type { AgentMessage } from "../../core/messages/message.ts";
import { checkModelSpec } from "../../core/models/model.ts";
import { checkTools } from "../../core/tools/check_tool.ts";
import type { AgentTool } from "../../core/tools/tool.ts";
import type { Cancellation } from "../callbacks/cancellation.ts";
import { toHookError } from "../callbacks/hook_error.ts";
import { startObserver } from "../callbacks/safe_observer.ts";
import type { EventPipe } from "../events/event_pipe.ts";
import { HistoryConverter, MessageConverter } from "../messages/convert.ts";
import type { Arrivals } from "../queues/arrivals.ts";
import type { MessageSource } from "../queues/message_source.ts";
import { type SourceOptions, toMessageSource } from "../queues/polled_source.ts";
import { Steering } from "../queues/steering.ts";
import { BackgroundRuns } from "./background_runs.ts";
import type { CheckOption } from "./check_config.ts";
import type { ResolvedConfig, TurnSettings } from "./config.ts";
import { ParentRun, RunTree } from "./parent_run.ts";
import { RunHistory } from "./run_history.ts";
import { LateSpendingCounter } from "./sub_agent_spending.ts";

/** Options for `new RunServices()`: what a run has from its start. */
export interface RunServicesOptions {
  /** Id of the run. */
  readonly runId: string;
  /** Time of the start, in milliseconds since the epoch. */
  readonly startedAt: number;
  /** The system prompt and the tools. */
  readonly context: AgentContext;
  /** The history; the run appends to it. */
  readonly messages: AgentMessage[];
  /** The configuration of the run. */
  readonly config: ResolvedConfig;
  /** Aborts the run. */
  readonly cancellation: Cancellation;
  /** Emits events. */
  readonly events: EventPipe;
  /** The steering queue of the run, if it is one of the library. */
  readonly arrivals: Arrivals;
  /** Models, and parts of their costs, whose missing price has been reported; grows during the run. */
  readonly unpricedModels: Set<string>;
  /** Ids of calls of the last reply that wait for an approval. */
  readonly pendingCalls: ReadonlySet<string>;
  /** Whether a queue is one of the library; passed for the same reason as `checkStreamOptions`. */
  readonly isOwnQueue: SourceOptions["isOwnQueue"];
  /** Whether tracing observes it. Default: `true`. */
  readonly isObserved?: boolean;
  /** Checks the options of a model call; passed, since an import would split the code that a page initially loads. */
  readonly checkStreamOptions: CheckOption;
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
  readonly events: EventPipe;
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
  /** Models, and parts of their costs, whose missing price has been reported. */
  readonly unpricedModels: Set<string>;
  /** Checks the options of a model call. */
  readonly checkStreamOptions: CheckOption;
  /** Tools whose schema has been reported as checked only in part. */
  readonly warnedTools: WeakSet<AgentTool> = new WeakSet();
  /** Warnings of model streams that have been emitted, as JSON. */
  readonly streamWarnings: Set<string> = new Set();
  /** Extra fields of requests that have been reported as left out. */
  readonly removedFields: Set<string> = new Set();
  /** Tool calls whose start was emitted. */
  readonly startedCalls: WeakSet<ToolCallBlock> = new WeakSet();
  /** Valid tool calls that do not run, which the policies know. */
  readonly refusedCalls: WeakSet<ToolCallBlock> = new WeakSet();
  /** Whether a policy has read the new messages of a turn; `undefined` until all policies were called before one. */
  areMessagesChecked: boolean | undefined;
  /** Counts the agents below the run of the host. */
  readonly tree: RunTree;
  /** Number of runs above this one. */
  readonly depth: number;
  /** The work of tools that continues after their calls. */
  readonly background: BackgroundRuns;
  /** Counts the spending of agents after the end of the tool calls that run them. */
  readonly lateSpending: LateSpendingCounter = new LateSpendingCounter();
  /** Observes the runs of the agent and of those below it, if something does. */
  readonly instrumentation: Instrumentation | undefined;
  /** Observes the run, if something does. */
  readonly observer: RunObserver | undefined;
  readonly #context: AgentContext;
  readonly #startedAt: number;
  readonly #initialSettings: TurnSettings;
  #settings: TurnSettings;
  #settingsError: AgentError | undefined;

  constructor(options: RunServicesOptions) {
    const { context, config, cancellation, events, messages, pendingCalls } = options;
    this.config = config;
    this.cancellation = cancellation;
    this.runId = options.runId;
    this.events = events;
    const { newId, now } = config;
    this.history = new RunHistory({ messages, pendingCalls, events, newId, now });
    this.steering = new Steering(options.arrivals);
    const source = { events, cancellation, isOwnQueue: options.isOwnQueue };
    if (config.steering && !options.isOwnQueue(config.steering)) {
      options.arrivals.watch(toMessageSource(config.steering, source));
    }
    this.followUp = config.followUp && toMessageSource(config.followUp, source);
    this.historyConverter = new HistoryConverter(config.convertToLlm);
    this.messageConverter = new MessageConverter(config.convertToLlm);
    this.unpricedModels = options.unpricedModels;
    this.checkStreamOptions = options.checkStreamOptions;
    const { parent } = config;
    this.tree = parent instanceof ParentRun ? parent.tree : new RunTree();
    this.depth = parent ? parent.depth + 1 : 0;
    this.background = new BackgroundRuns(this);
    this.#context = context;
    this.#startedAt = options.startedAt;
    const { systemPrompt, tools } = context;
    this.#initialSettings = this.#settings = { model: config.model, systemPrompt, tools };
    this.instrumentation = instrumentations.get(context) ??
      (parent instanceof ParentRun ? parent.instrumentation : undefined);
    this.observer = options.isObserved === false ? undefined : this.#startObserver();
  }

  #startObserver(): RunObserver | undefined {
    const { parent } = this.config;
    const getModel = () => this.getSettings().model;
    const observer = startObserver(this.instrumentation, {
      runId: this.runId,
      parent: parent instanceof ParentRun ? parent.call : undefined,
      sessionId: this.session?.id,
      // Only an observer reads it, since the function of the application that returns the settings is called for it.
      get model() {
        return getModel();
      },
      getTools: () => this.#settings.tools,
      isAborted: () => this.cancellation.aborted,
    });
    this.events.tap = observer?.onEvent;
    return observer;
  }

  /** The session that records the run, if one does. */
  get session(): RunSession | undefined {
    return runSessions.get(this.#context);
  }

  /** Milliseconds since the run started. */
  get elapsedMs(): number {
    return this.config.now() - this.#startedAt;
  }

  /** Resolves when listeners and the reader have handled every event so far, or on abort; `undefined` if they have. */
  untilDelivered(): Promise<void> | undefined {
    const { events, cancellation } = this;
    // An abort releases the reader's side by itself.
    if (!events.delivering) return events.drained();
    return cancellation.untilAborted(Promise.resolve(events.drained())).catch(() => {});
  }

  /** Returns the settings of the next turn; those of the last one if the application's function fails. */
  getSettings(): TurnSettings {
    const { settings } = this.config;
    if (!settings) return this.#settings;
    try {
      const next = settings() ?? this.#initialSettings;
      refusePromise(next, "settings");
      if (next !== this.#settings) checkSettings(next, this.#settings);
      return this.#settings = next;
    } catch (thrown) {
      this.#settingsError = toHookError("settings", thrown);
      return this.#settings;
    }
  }

  /**
   * Ends the turn if its settings are unknown.
   *
   * @throws {AgentError} If the function that returns the settings has failed.
   */
  assertSettings(): void {
    if (this.#settingsError) throw this.#settingsError;
  }
}

/** Checks what differs from checked settings. */
function checkSettings({ model, systemPrompt, tools }: TurnSettings, checked: TurnSettings): void {
  if (model !== checked.model) checkModelSpec(model);
  if (tools !== checked.tools) checkTools(tools);
  if (typeof systemPrompt !== "string") throw new TypeError("systemPrompt must be a string");
}
