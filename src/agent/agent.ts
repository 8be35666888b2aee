/**
 * The agent: a history, a model, tools, queues and one run at a time.
 *
 * @module
 */

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
import type { AgentTool } from "../core/tool.ts";
import {
  type AgentLoopConfig,
  checkConfig,
  createLoopMemory,
  type LoopMemory,
} from "../loop/config.ts";
import { EventPipe } from "../loop/event_pipe.ts";
import { createContinueInput, hasValidMessages, type StartedRun, startRun } from "../loop/loop.ts";
import type { TurnInput } from "../loop/message_source.ts";
import { defaultPorts, type Sleep } from "../core/ports.ts";
import { type AgentResult, collectResult } from "./collect.ts";
import { drainPreviousRun, type LatestRun } from "./latest_run.ts";
import { MessageQueue } from "./message_queue.ts";
import { type AgentOptions, assertUniqueTools } from "./options.ts";
import { type AgentState, applyEvent, LiveState } from "./state.ts";
import { StructuredAnswer, type StructuredOutputOptions } from "./structured_output.ts";
import { type AgentListener, Subscribers } from "./subscribers.ts";

/** Options of one run. */
export interface RunOptions {
  /** Aborts the run. */
  readonly signal?: AbortSignal;
}

/** What differs from the agent's own configuration for one run. */
interface RunOverrides {
  /** Members of the configuration. */
  readonly config?: Partial<Pick<AgentLoopConfig, "settings" | "policies" | "streamOptions">>;
  /** What must be done before the run begins. */
  readonly prepare?: () => Promise<void>;
}

/**
 * An agent. It talks to one model at a time, runs the tools that the model calls, and keeps the history.
 *
 * One run at a time: a second `prompt` while one is active is refused with {@linkcode AlreadyRunningError}.
 * Meanwhile the run can be steered, followed up and aborted.
 *
 * @example
 * ```ts
 * import { Agent, extractText } from "@swink/agent";
 * import { reply, scriptedStream } from "@swink/agent/testing";
 *
 * const agent = new Agent({ model: "any/model", streamFn: scriptedStream([reply("Hello!")]) });
 * const result = await agent.prompt("Say hello");
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
  #state: LiveState;
  #memory: LoopMemory = createLoopMemory();
  #repairs: readonly HistoryRepair[] = [];
  #activeRun: StartedRun | undefined;
  #latestRun: LatestRun;

  /**
   * Makes an idle agent.
   *
   * @throws {BadRequestError} When the model's name cannot be read, two tools share a name, there is no `streamFn`,
   * or another option cannot be meant.
   */
  constructor(options: AgentOptions) {
    if (typeof options.streamFn !== "function") {
      throw new BadRequestError(
        "The agent needs a streamFn: connect() from the adapters, or one of your own",
      );
    }
    const { model, ...others } = options;
    checkConfig(others);
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

  /** Says something and waits for the run's end. Rejects only for misuse; failures are in the result. */
  prompt(input: PromptInput, options?: RunOptions): Promise<AgentResult> {
    return collectResult(this.promptStream(input, options));
  }

  /** Says something and streams the run; leaving the stream aborts it. Misuse errors the stream. */
  promptStream(input: PromptInput, options: RunOptions = {}): ReadableStream<AgentEvent> {
    return this.#stream(() => this.#createPromptInput(input), options);
  }

  /** Goes on with the history as it is, or with what is queued, and waits for the run's end. */
  continue(options?: RunOptions): Promise<AgentResult> {
    return collectResult(this.continueStream(options));
  }

  /** Goes on with the history as it is, or with what is queued, and streams the run. */
  continueStream(options: RunOptions = {}): ReadableStream<AgentEvent> {
    return this.#stream(() => this.#createContinueInput(), options);
  }

  /**
   * Asks for an answer of a schema's shape, and asks again with the errors when the answer does not fit.
   *
   * Rejects with {@linkcode StructuredOutputFailedError} when no answer fits, and with the run's error when it
   * fails.
   */
  async structuredOutput<const Schema extends SchemaSource>(
    input: PromptInput,
    schema: Schema,
    options: RunOptions & StructuredOutputOptions = {},
  ): Promise<Infer<Schema>> {
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
    const stream = this.#stream(() => this.#createPromptInput(input), options, overrides);
    return answer.getValue(await collectResult(stream)) as Infer<Schema>;
  }

  /** Queues a message for the running turn; under the `"cancel"` policy it cancels unfinished tool calls. */
  steer(input: PromptInput): QueuedMessage {
    return this.#enqueue(this.#steering, input);
  }

  /** Queues a message for when the agent would stop. */
  followUp(input: PromptInput): QueuedMessage {
    return this.#enqueue(this.#followUp, input);
  }

  /** What waits in both queues. */
  get queued(): QueuedMessages {
    return { steering: this.#steering.queued, followUp: this.#followUp.queued };
  }

  /** Takes a queued message back; `false` when it does not wait any more. */
  cancelQueued(id: string): boolean {
    return this.#steering.cancel(id) || this.#followUp.cancel(id);
  }

  /** Takes all steering back. */
  clearSteering(): void {
    this.#steering.clear();
  }

  /** Takes all follow-ups back. */
  clearFollowUp(): void {
    this.#followUp.clear();
  }

  /** Takes everything that is queued back. */
  clearQueues(): void {
    this.clearSteering();
    this.clearFollowUp();
  }

  /** Whether anything is queued. */
  get hasPendingMessages(): boolean {
    return this.#steering.queued.length + this.#followUp.queued.length > 0;
  }

  /** Aborts the active run, if there is one. What is queued stays queued. */
  abort(reason?: unknown): void {
    this.#activeRun?.abort(reason);
  }

  /** Settles when no run is active, and none that was reset is still ending. */
  waitForIdle(): Promise<void> {
    return this.#latestRun.settled;
  }

  /**
   * Goes back to the options' model, prompt and tools, with an empty history and empty queues. Aborts an active
   * run; the agent can be prompted at once.
   */
  reset(): void {
    this.clearQueues();
    this.abort("reset");
    this.#activeRun = undefined;
    this.#memory = createLoopMemory();
    this.#repairs = [];
    this.#state = this.#createState([]);
  }

  /** Tells `listener` of every event, of runs and while idle; returns how to stop. */
  subscribe(listener: AgentListener): () => void {
    return this.#subscribers.add(listener);
  }

  /** Sets the system prompt, from the next turn on. */
  setSystemPrompt(systemPrompt: string): void {
    this.#state.systemPrompt = systemPrompt;
  }

  /**
   * Sets the model, from the next turn on.
   *
   * @throws {BadRequestError} When the name cannot be read.
   */
  setModel(model: ModelSpec | string): void {
    const from = this.#state.model;
    const to = modelSpec(model);
    this.#state.model = to;
    this.#emit({ type: "model_changed", from, to });
  }

  /** Sets how hard the model thinks, from the next turn on. */
  setThinkingLevel(thinkingLevel: ThinkingLevel): void {
    this.setModel({ ...this.#state.model, thinkingLevel });
  }

  /**
   * Sets the tools, from the next turn on.
   *
   * @throws {BadRequestError} When two tools share a name.
   */
  setTools(tools: readonly AgentTool[]): void {
    this.#state.tools = assertUniqueTools(tools);
  }

  /**
   * Replaces the history; what is not valid is mended, and the next run tells of it.
   *
   * @throws {AlreadyRunningError} While a run is active.
   */
  setMessages(messages: readonly AgentMessage[]): void {
    this.#assertIdle();
    this.#repairs = [];
    this.#state.messages = [...this.#repair(messages)];
  }

  /**
   * Adds to the history; what is not valid is mended, and the next run tells of it.
   *
   * @throws {AlreadyRunningError} While a run is active.
   */
  appendMessages(messages: readonly AgentMessage[]): void {
    this.#assertIdle();
    this.#state.messages = [...this.#repair([...this.#state.messages, ...messages])];
  }

  /**
   * Empties the history.
   *
   * @throws {AlreadyRunningError} While a run is active.
   */
  clearMessages(): void {
    this.setMessages([]);
  }

  #stream(
    begin: () => TurnInput,
    options: RunOptions,
    overrides: RunOverrides = {},
  ): ReadableStream<AgentEvent> {
    try {
      this.#assertIdle();
      return this.#start(begin(), options, overrides);
    } catch (error) {
      return new ReadableStream({ start: (controller) => controller.error(error) });
    }
  }

  #start(
    incoming: TurnInput,
    { signal }: RunOptions,
    { config, prepare }: RunOverrides,
  ): ReadableStream<AgentEvent> {
    const state = this.#state;
    const run: StartedRun = startRun({
      input: incoming,
      context: state,
      repairs: this.#repairs,
      config: { ...this.#createConfig(), ...config },
      ...(signal && { signal }),
      after: drainPreviousRun(this.#latestRun, { nextPipe: () => run.pipe, sleep: this.#sleep })
        .then(prepare),
      observe: (event, withGrace) => {
        applyEvent(state, event);
        return this.#subscribers.notify(event, withGrace);
      },
      onSettled: () => {
        state.isRunning = false;
        if (this.#activeRun === run) this.#activeRun = undefined;
      },
    });
    state.isRunning = true;
    this.#repairs = [];
    this.#activeRun = this.#latestRun = run;
    return run.stream;
  }

  #createConfig(): AgentLoopConfig {
    return {
      ...this.#options,
      model: this.#model,
      steering: this.#steering,
      followUp: this.#followUp,
      settings: () => this.#getSettings(),
      memory: this.#memory,
    };
  }

  #getSettings(): ReturnType<NonNullable<AgentLoopConfig["settings"]>> {
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
    const [first, ...others] = repairHistory(toAgentMessages(input, this.#now())).messages;
    if (!first) throw new NoMessagesError("There is no message to queue");
    return others.reduce((_last, message) => queue.add(message), queue.add(first));
  }

  #createState(messages: readonly AgentMessage[]): LiveState {
    const { systemPrompt = "", tools = [] } = this.#options;
    return new LiveState({
      systemPrompt,
      model: this.#model,
      tools: assertUniqueTools(tools),
      messages,
    });
  }

  #repair(history: readonly AgentMessage[]): readonly AgentMessage[] {
    const { messages, repairs } = repairHistory(history);
    this.#repairs = [...this.#repairs, ...repairs];
    return messages;
  }

  /** Not beside tools: some providers take either tools or a schema. */
  #supportsStrictSchema(schema: JsonSchema): boolean {
    const { model, tools } = this.#state;
    return tools.length === 0 && (this.#options.streamFn.hasStrictSchema?.(model, schema) ?? false);
  }

  #assertIdle(): void {
    if (this.#state.isRunning) throw new AlreadyRunningError();
  }

  /** Says something in the order of all events: as one of the run's, or while idle to the subscribers alone. */
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
