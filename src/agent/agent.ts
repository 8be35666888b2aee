/**
 * The agent: a history, a model, tools and message queues, with one run at a time.
 *
 * @module
 */

import { checkTools } from "../core/check_tool.ts";
import {
  AlreadyRunningError,
  BadRequestError,
  getErrorMessage,
  NoMessagesError,
} from "../core/errors.ts";
import type { AgentEvent, AgentEventBody, QueuedMessage, QueuedMessages } from "../core/event.ts";
import { type HistoryRepair, repairHistory } from "../core/history.ts";
import type { Infer, SchemaSource } from "../core/infer.ts";
import type { JsonSchema } from "../core/json.ts";
import { type AgentMessage, type PromptInput, toAgentMessages } from "../core/message.ts";
import { type ModelSpec, modelSpec, type ThinkingLevel } from "../core/model.ts";
import { defaultPorts, type Sleep } from "../core/ports.ts";
import type { AgentTool } from "../core/tool.ts";
import { type AgentLoopConfig, checkConfig, type TurnSettings } from "../loop/config.ts";
import { EventPipe } from "../loop/event_pipe.ts";
import { createContinueInput, hasValidMessages, type LoopOptions } from "../loop/loop.ts";
import { MessageQueue } from "../loop/message_queue.ts";
import type { TurnInput } from "../loop/message_source.ts";
import { type StartedRun, startRun } from "../loop/start_run.ts";
import { type AgentResult, collectResult } from "./collect.ts";
import { drainPreviousRun, type LatestRun } from "./latest_run.ts";
import type { AgentOptions } from "./options.ts";
import { type AgentState, applyEvent, LiveState } from "./state.ts";
import {
  StructuredAnswer,
  type StructuredOutputOptions,
  type StructuredOutputResult,
} from "./structured_output.ts";
import { type AgentListener, Subscribers } from "./subscribers.ts";

/** Options for one run. */
export interface RunOptions extends LoopOptions {}

/** Overrides of the configuration for one run. */
interface RunOverrides {
  readonly config?: Partial<Pick<AgentLoopConfig, "settings" | "policies" | "streamOptions">>;
  /** Awaited before the run starts; a rejection fails the run. */
  readonly prepare?: () => Promise<void>;
}

/**
 * Calls a model, runs the tools that the model calls, and keeps the history.
 *
 * One run at a time: a second `prompt()` while a run is active is rejected with an `AlreadyRunningError`. An active run
 * can be steered, followed up and aborted.
 *
 * @example
 * ```ts
 * import { Agent } from "@swink/agent";
 * import { reply, scriptedStream } from "@swink/agent/testing";
 *
 * const agent = new Agent({ model: "any/model", streamFn: scriptedStream([reply("Hello!")]) });
 * const result = await agent.prompt("Greet me");
 * result.messages.length; // 2: the prompt and the reply
 * ```
 */
export class Agent {
  readonly #options: AgentOptions;
  readonly #model: ModelSpec;
  readonly #now: () => number;
  readonly #sleep: Sleep;
  readonly #subscribers: Subscribers;
  readonly #steering: MessageQueue;
  readonly #followUp: MessageQueue;
  /** Models whose missing price has been reported. */
  #unpricedModels = new Set<string>();
  #state: LiveState;
  /** Whether the last model call ended in a context overflow. */
  #overflowed = false;
  #repairs: readonly HistoryRepair[] = [];
  #activeRun: StartedRun | undefined;
  #latestRun: LatestRun;

  /**
   * Creates an idle agent.
   *
   * @throws {BadRequestError} If `streamFn` is missing, the model name is invalid, two tools have the same name, or
   * another option is invalid.
   */
  constructor(options: AgentOptions) {
    if (typeof options.streamFn !== "function") {
      throw new BadRequestError(
        "The option streamFn must be a function: pass connect() of the adapters, or a StreamFn of your own",
      );
    }
    const { model, ...config } = options;
    checkConfig(config);
    const { newId = defaultPorts.newId, steeringMode, followUpMode } = options;
    const queue = { newId: () => newId("queued"), onChange: () => this.#emitQueueChanged() };
    this.#options = options;
    this.#model = modelSpec(model);
    this.#now = options.now ?? defaultPorts.now;
    this.#sleep = options.sleep ?? defaultPorts.sleep;
    this.#subscribers = new Subscribers((thrown) => this.#warnListenerFailed(thrown));
    this.#steering = new MessageQueue({ ...queue, ...(steeringMode && { mode: steeringMode }) });
    this.#followUp = new MessageQueue({ ...queue, ...(followUpMode && { mode: followUpMode }) });
    this.#state = this.#createState(this.#repair(options.messages ?? []));
    const pipe = new EventPipe({ observe: (event) => this.#subscribers.notify(event) });
    this.#latestRun = { pipe, settled: Promise.resolve() };
  }

  /** The state as of the last event. */
  get state(): AgentState {
    return this.#state;
  }

  /** Sends a prompt and waits for the run to finish. Failures of the run are in the result; only misuse rejects. */
  prompt(input: PromptInput, options?: RunOptions): Promise<AgentResult> {
    return collectResult(this.promptStream(input, options));
  }

  /** Sends a prompt and streams the events of the run. Cancelling the stream aborts the run; misuse errors it. */
  promptStream(input: PromptInput, options: RunOptions = {}): ReadableStream<AgentEvent> {
    return this.#startRun(() => this.#createPromptInput(input), options);
  }

  /** Continues with the history or the queued messages, and waits for the run to finish. */
  continue(options?: RunOptions): Promise<AgentResult> {
    return collectResult(this.continueStream(options));
  }

  /** Continues with the history or the queued messages, and streams the events of the run. */
  continueStream(options: RunOptions = {}): ReadableStream<AgentEvent> {
    return this.#startRun(() => this.#createContinueInput(), options);
  }

  /**
   * Sends a prompt and returns an answer that matches a schema: the output of a validator, or the value with the defaults
   * of a JSON Schema. An answer that does not match is sent back with the errors, at most `maxRetries` times. With
   * `full`, the usage, cost and messages of the run are returned with the value.
   *
   * Rejects with a `StructuredOutputFailedError` when no answer matches or a policy stops the run, with a
   * `BudgetExceededError` when the budget does, and with the run's error when the run fails.
   */
  structuredOutput<const Schema extends SchemaSource>(
    input: PromptInput,
    schema: Schema,
    options: RunOptions & StructuredOutputOptions & { readonly full: true },
  ): Promise<StructuredOutputResult<Infer<Schema>>>;
  structuredOutput<const Schema extends SchemaSource>(
    input: PromptInput,
    schema: Schema,
    options?: RunOptions & StructuredOutputOptions & { readonly full?: false },
  ): Promise<Infer<Schema>>;
  async structuredOutput(
    input: PromptInput,
    schema: SchemaSource,
    options: RunOptions & StructuredOutputOptions = {},
  ): Promise<unknown> {
    const answer = StructuredAnswer.from(schema, {
      ...options,
      tools: this.#state.tools,
      supportsSchema: (schema) => this.#supportsStrictSchema(schema),
      validator: this.#options.validator,
      now: this.#now,
    });
    const config = {
      settings: () => answer.extendSettings(this.#getSettings()),
      policies: [...(this.#options.policies ?? []), answer.policy],
      streamOptions: { ...this.#options.streamOptions, ...answer.streamOptions },
    };
    const overrides = { config, prepare: () => answer.prepare() };
    const stream = this.#startRun(() => this.#createPromptInput(input), options, overrides);
    const result = answer.getResult(await collectResult(stream));
    return options.full ? result : result.value;
  }

  /**
   * Queues a message for the next turn of the run. With `interrupt: "cancel"` it also cancels unfinished tool calls.
   * Input of several messages queues all of them and returns the last one.
   *
   * @throws {NoMessagesError} If the input is empty.
   */
  steer(input: PromptInput): QueuedMessage {
    return this.#enqueue(this.#steering, input);
  }

  /**
   * Queues a message for when the run would otherwise end. Input of several messages queues all of them and returns the
   * last one.
   *
   * @throws {NoMessagesError} If the input is empty.
   */
  followUp(input: PromptInput): QueuedMessage {
    return this.#enqueue(this.#followUp, input);
  }

  /** The messages in both queues. */
  get queued(): QueuedMessages {
    return { steering: this.#steering.queued, followUp: this.#followUp.queued };
  }

  /** Removes a queued message; returns `false` if it is not queued. */
  cancelQueued(id: string): boolean {
    return this.#steering.cancel(id) || this.#followUp.cancel(id);
  }

  /** Removes all steering messages. */
  clearSteering(): void {
    this.#steering.clear();
  }

  /** Removes all follow-up messages. */
  clearFollowUp(): void {
    this.#followUp.clear();
  }

  /** Removes all queued messages. */
  clearQueues(): void {
    this.clearSteering();
    this.clearFollowUp();
  }

  /** Whether any message is queued. */
  get hasPendingMessages(): boolean {
    return this.#steering.queued.length + this.#followUp.queued.length > 0;
  }

  /** Aborts the active run. Queued messages stay queued. */
  abort(reason?: unknown): void {
    this.#activeRun?.abort(reason);
  }

  /** Resolves when no run is active, and a run that `reset()` aborted has ended. */
  waitForIdle(): Promise<void> {
    return this.#latestRun.settled;
  }

  /**
   * Restores the model, prompt and tools of the options, and clears the history and the queues. Aborts an active run;
   * the agent can be prompted immediately.
   */
  reset(): void {
    this.clearQueues();
    this.abort("reset");
    this.#activeRun = undefined;
    this.#overflowed = false;
    this.#unpricedModels = new Set();
    this.#repairs = [];
    this.#state = this.#createState([]);
  }

  /** Calls `listener` with every event, during runs and while idle; returns a function that unsubscribes. */
  subscribe(listener: AgentListener): () => void {
    return this.#subscribers.add(listener);
  }

  /** Sets the system prompt of the following turns. */
  setSystemPrompt(systemPrompt: string): void {
    this.#state.systemPrompt = systemPrompt;
  }

  /**
   * Sets the model of the following turns.
   *
   * @throws {BadRequestError} If the name is invalid.
   */
  setModel(model: ModelSpec | string): void {
    const from = this.#state.model;
    const to = modelSpec(model);
    this.#state.model = to;
    this.#emit({ type: "model_changed", from, to });
  }

  /** Sets the thinking level of the following turns. */
  setThinkingLevel(thinkingLevel: ThinkingLevel): void {
    this.setModel({ ...this.#state.model, thinkingLevel });
  }

  /**
   * Sets the tools of the following turns.
   *
   * @throws {BadRequestError} If two tools have the same name.
   */
  setTools(tools: readonly AgentTool[]): void {
    this.#state.tools = checkTools(tools);
  }

  /**
   * Replaces the history. Invalid messages are repaired, and the next run reports the repairs as a warning.
   *
   * @throws {AlreadyRunningError} While a run is active.
   */
  setMessages(messages: readonly AgentMessage[]): void {
    this.#assertIdle();
    this.#repairs = [];
    this.#state.messages = [...this.#repair(messages)];
  }

  /**
   * Appends to the history. Invalid messages are repaired, and the next run reports the repairs as a warning.
   *
   * @throws {AlreadyRunningError} While a run is active.
   */
  appendMessages(messages: readonly AgentMessage[]): void {
    this.#assertIdle();
    this.#state.messages = [...this.#repair([...this.#state.messages, ...messages])];
  }

  /**
   * Clears the history.
   *
   * @throws {AlreadyRunningError} While a run is active.
   */
  clearMessages(): void {
    this.setMessages([]);
  }

  #startRun(
    createInput: () => TurnInput,
    { signal }: RunOptions,
    { config, prepare }: RunOverrides = {},
  ): ReadableStream<AgentEvent> {
    try {
      this.#assertIdle();
      const state = this.#state;
      const drain = { nextPipe: () => run.pipe, sleep: this.#sleep };
      const run: StartedRun = startRun({
        input: createInput(),
        context: state,
        repairs: this.#repairs,
        config: { ...this.#createConfig(), ...config },
        ...(signal && { signal }),
        overflowed: this.#overflowed,
        unpricedModels: this.#unpricedModels,
        after: drainPreviousRun(this.#latestRun, drain).then(prepare),
        observe: (event, withGrace) => {
          applyEvent(state, event);
          return this.#subscribers.notify(event, withGrace);
        },
        onSettled: (progress) => {
          state.isRunning = false;
          if (this.#activeRun !== run) return;
          this.#activeRun = undefined;
          this.#overflowed = progress?.overflowed ?? this.#overflowed;
        },
      });
      state.isRunning = true;
      this.#repairs = [];
      this.#activeRun = this.#latestRun = run;
      return run.stream;
    } catch (error) {
      return new ReadableStream({ start: (controller) => controller.error(error) });
    }
  }

  #createConfig(): AgentLoopConfig {
    return {
      ...this.#options,
      model: this.#model,
      steering: this.#steering,
      followUp: this.#followUp,
      settings: () => this.#getSettings(),
    };
  }

  #getSettings(): TurnSettings {
    const { model, systemPrompt, tools } = this.#state;
    return { model, systemPrompt, tools };
  }

  #createPromptInput(input: PromptInput): TurnInput {
    const messages = toAgentMessages(input, this.#now());
    if (hasValidMessages(messages)) return { messages };
    if (!this.hasPendingMessages) throw new NoMessagesError();
    return this.#createContinueInput();
  }

  #createContinueInput(): TurnInput {
    const { messages } = this.#state;
    return createContinueInput(messages, { steering: this.#steering, followUp: this.#followUp });
  }

  #enqueue(queue: MessageQueue, input: PromptInput): QueuedMessage {
    const [first, ...rest] = repairHistory(toAgentMessages(input, this.#now())).messages;
    if (!first) {
      throw new NoMessagesError("There is no message to queue: pass at least one valid message");
    }
    return rest.reduce((_last, message) => queue.add(message), queue.add(first));
  }

  #createState(messages: readonly AgentMessage[]): LiveState {
    const { systemPrompt = "", tools = [] } = this.#options;
    return new LiveState({
      systemPrompt,
      model: this.#model,
      tools: checkTools(tools),
      messages,
    });
  }

  #repair(history: readonly AgentMessage[]): readonly AgentMessage[] {
    const { messages, repairs } = repairHistory(history);
    this.#repairs = [...this.#repairs, ...repairs];
    return messages;
  }

  /** Whether the provider enforces a schema. Never with tools, since some providers accept either tools or a schema. */
  #supportsStrictSchema(schema: JsonSchema): boolean {
    const { model, tools } = this.#state;
    return tools.length === 0 && (this.#options.streamFn.hasStrictSchema?.(model, schema) ?? false);
  }

  #assertIdle(): void {
    if (this.#state.isRunning) throw new AlreadyRunningError();
  }

  /** Emits an event in order with all others: as an event of the active run, or while idle to the subscribers only. */
  #emit(event: AgentEventBody): void {
    void this.#latestRun.pipe.emit(event);
  }

  #emitQueueChanged(): void {
    this.#emit({ type: "queue_changed", queued: this.queued });
  }

  #warnListenerFailed(thrown: unknown): void {
    const message = `A listener failed and was removed: ${getErrorMessage(thrown)}`;
    this.#emit({ type: "warning", code: "listener_failed", message });
  }
}
