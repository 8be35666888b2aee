/**
 * The agent: a history, a model, tools and message queues, with one run at a time.
 *
 * @module
 */

import type { PendingBatch } from "../core/approval/approval.ts";
import { AlreadyRunningError, NoMessagesError } from "../core/errors/errors.ts";
import type { AgentEventBody, QueuedMessage, QueuedMessages } from "../core/events/event.ts";
import { cloneJson } from "../core/json/json.ts";
import { type HistoryRepair, repairHistory } from "../core/messages/history.ts";
import {
  type AgentMessage,
  checkMessages,
  type PromptInput,
  toAgentMessages,
  withTimestamps,
} from "../core/messages/message.ts";
import { type ModelSpec, modelSpec, type ThinkingLevel } from "../core/models/model.ts";
import { type Ports, resolvePorts } from "../core/ports/ports.ts";
import type { Infer, SchemaSource } from "../core/schemas/infer.ts";
import { createValidate } from "../core/schemas/parameters.ts";
import { toJsonSchema } from "../core/schemas/standard_schema.ts";
import type { StreamFn } from "../core/streams/stream.ts";
import { checkTools } from "../core/tools/check_tool.ts";
import type { AgentTool, ExpectedContext } from "../core/tools/tool.ts";
import { EventPipe } from "../loop/events/event_pipe.ts";
import { createContinueInput, hasValidMessages } from "../loop/loop.ts";
import { MessageQueue } from "../loop/queues/message_queue.ts";
import { checkSystemPrompt } from "../loop/run/check_config.ts";
import type { AgentLoopConfig, TurnSettings } from "../loop/run/config.ts";
import type { TurnInput } from "../loop/run/turn_input.ts";
import { type StartedRun, startRun, type StartRunOptions } from "../loop/start_run.ts";
import { checkPending, getPendingIds } from "../loop/tool_calls/pending_batch.ts";
import type { AgentResult } from "./agent_result.ts";
import { type AgentStream, awaitRun, openStream } from "./agent_stream.ts";
import { type AgentToolOptions, createAgentTool } from "./agent_tool.ts";
import { createCustomEvent } from "./create_custom_event.ts";
import { createQueueEvent } from "./create_queue_event.ts";
import { createDefaultStream } from "./default_stream.ts";
import { enqueue } from "./enqueue.ts";
import type { LatestRun } from "./latest_run.ts";
import { type AgentState, LiveState } from "./live_state.ts";
import { type AgentOptions, checkAgentOptions, internalsByAgent } from "./options.ts";
import {
  addRunTools,
  applyRunOptions,
  type ContinueOptions,
  refuseApprovals,
  type RunOptions,
} from "./run_options.ts";
import type {
  StructuredAnswer,
  StructuredAnswerOptions,
  StructuredOutputOptions,
  StructuredOutputResult,
} from "./structured_output.ts";
import { type AgentListener, Subscribers } from "./subscribers.ts";

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
export class Agent<Tool extends AgentTool<never> = AgentTool> {
  readonly #options: AgentOptions;
  readonly #model: ModelSpec;
  readonly #streamFn: StreamFn;
  readonly #ports: Ports;
  readonly #subscribers: Subscribers;
  readonly #steering: MessageQueue;
  readonly #followUp: MessageQueue;
  /** Models, and parts of their costs, whose missing price has been reported. */
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
   * @throws {BadRequestError} If the model name, a tool, a message or another option is invalid.
   */
  constructor(typedOptions: AgentOptions<Tool>) {
    // Only callers need the type of the context.
    const options = typedOptions as unknown as AgentOptions;
    checkAgentOptions(options);
    const { model, streamFn = createDefaultStream(), steeringMode, followUpMode } = options;
    this.#ports = resolvePorts(options);
    const queue = {
      newId: () => this.#ports.newId("queued"),
      onChange: () => this.#emit(createQueueEvent(this.#steering, this.#followUp)),
    };
    this.#options = options;
    this.#model = modelSpec(model);
    this.#streamFn = streamFn;
    this.#subscribers = new Subscribers((message) =>
      this.#emit({ type: "warning", code: "listener_failed", message })
    );
    this.#steering = new MessageQueue({ ...queue, mode: steeringMode });
    this.#followUp = new MessageQueue({ ...queue, mode: followUpMode });
    const { messages = [], pendingApprovals = [], decidedCalls } = options;
    checkMessages(messages);
    const pending = checkPending({ pendingApprovals, decidedCalls }, messages);
    this.#state = this.#createState(this.#repair(messages, pending), pending);
    const pipe = new EventPipe({ observer: this.#subscribers });
    this.#latestRun = { pipe, settled: Promise.resolve() };
    internalsByAgent.set(this, {
      options,
      getEvents: () => this.#latestRun.pipe,
      createConfig: () => this.#createConfig(),
    });
  }

  /** The state as of the last event. */
  get state(): AgentState {
    return this.#state;
  }

  /**
   * Sends a prompt and waits for the run to finish. Failures of the run are in the result; only misuse rejects. An empty
   * array sends the queued messages, as `continue()` does.
   */
  prompt<Added extends AgentTool<never> = never>(
    input: PromptInput,
    options: RunOptions<Added, Tool> = {},
  ): Promise<AgentResult> {
    return awaitRun(() => this.#startRun(() => this.#createPromptInput(input, options), options));
  }

  /** Sends a prompt and streams the events of the run. Cancelling the stream aborts the run; misuse errors it. */
  promptStream<Added extends AgentTool<never> = never>(
    input: PromptInput,
    options: RunOptions<Added, Tool> = {},
  ): AgentStream {
    return openStream(() => this.#startRun(() => this.#createPromptInput(input, options), options));
  }

  /**
   * Continues with the history, the queued messages or the decisions on pending approvals, and waits for the run to
   * finish.
   */
  continue<Added extends AgentTool<never> = never>(
    options: ContinueOptions<Added, Tool> = {},
  ): Promise<AgentResult> {
    return awaitRun(() => this.#startRun(() => this.#createContinueInput(options), options));
  }

  /** Like {@linkcode Agent.continue}, but streams the events of the run. */
  continueStream<Added extends AgentTool<never> = never>(
    options: ContinueOptions<Added, Tool> = {},
  ): AgentStream {
    return openStream(() => this.#startRun(() => this.#createContinueInput(options), options));
  }

  /**
   * Sends a prompt and returns an answer that matches a schema: the output of a validator, or the value with the defaults
   * of a JSON Schema. An answer that does not match is sent back with the errors, at most `maxRetries` times. With
   * `full`, the usage, cost and messages of the run are returned with the value.
   *
   * Rejects with a `StructuredOutputFailedError` when no answer matches, when a policy stops the run or when it waits for
   * approvals, with a `BudgetExceededError` when the budget stops it, and with the run's error when the run fails.
   */
  structuredOutput<const Schema extends SchemaSource, Added extends AgentTool<never> = never>(
    input: PromptInput,
    schema: Schema,
    options: RunOptions<Added, Tool> & StructuredOutputOptions & { readonly full: true },
  ): Promise<StructuredOutputResult<Infer<Schema>>>;
  /** Sends a prompt and returns only the answer. */
  structuredOutput<const Schema extends SchemaSource, Added extends AgentTool<never> = never>(
    input: PromptInput,
    schema: Schema,
    options?:
      & RunOptions<Added, Tool>
      & StructuredOutputOptions
      & { readonly full?: false | undefined },
  ): Promise<Infer<Schema>>;
  async structuredOutput<Added extends AgentTool<never>>(
    input: PromptInput,
    schema: SchemaSource,
    options: RunOptions<Added, Tool> & StructuredOutputOptions = {},
  ): Promise<unknown> {
    const tools = addRunTools(this.#state.tools, options);
    const subject = "The schema of the answer";
    const jsonSchema = toJsonSchema(schema, subject);
    const answerOptions: StructuredAnswerOptions = {
      ...options,
      schema: jsonSchema,
      validate: createValidate(schema, jsonSchema, subject),
      tools,
      getSettings: () => this.#getSettings(),
    };
    let answer: StructuredAnswer | undefined;
    const prepare: StartRunOptions["prepare"] = async (config, cancellation) => {
      const { StructuredAnswer } = await import("./run_code.ts");
      answer = new StructuredAnswer(answerOptions);
      return await answer.configure(config, cancellation);
    };
    const createInput = () => this.#createPromptInput(input, options);
    const run = await awaitRun(() => this.#startRun(createInput, options, prepare));
    // Only a run that was prepared has a result.
    const result = answer?.getResult(run);
    return options.full ? result : result?.value;
  }

  /**
   * Queues a message for the next turn of the run. With `interrupt: "cancel"` it also cancels unfinished tool calls.
   * Input of several messages queues all of them and returns the last one.
   *
   * @throws {NoMessagesError} If the input is empty.
   */
  steer(input: PromptInput): QueuedMessage {
    return enqueue(this.#steering, input, this.#ports);
  }

  /**
   * Queues a message for when the run would otherwise end. Input of several messages queues all of them and returns the
   * last one.
   *
   * @throws {NoMessagesError} If the input is empty.
   */
  followUp(input: PromptInput): QueuedMessage {
    return enqueue(this.#followUp, input, this.#ports);
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
    this.#steering.clear();
    this.#followUp.clear();
  }

  /** Whether any message is queued. */
  get hasPendingMessages(): boolean {
    return this.#steering.size + this.#followUp.size > 0;
  }

  /** Aborts the active run. Queued messages stay queued. */
  abort(reason?: unknown): void {
    this.#activeRun?.abort(reason);
  }

  /**
   * Resolves when no run is active, and a run that `reset()` aborted has ended. Do not await it in a listener, a tool or
   * a hook of the run: the run waits for them.
   */
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

  /**
   * Creates a tool for another agent. Each call runs a new agent with the options, model, system prompt and tools of this
   * one, without its history; its events are emitted as `sub_agent`, and its usage counts towards the calling run. The
   * calling run is its `parent`: the policies and the approval of that run limit its calls, and a call that a person would
   * be asked about is denied.
   *
   * @throws {BadRequestError} If the name is invalid.
   */
  asTool(options: AgentToolOptions): AgentTool<ExpectedContext<Tool>> {
    const { model, ...settings } = this.#getSettings();
    const start = { ...this.#options, ...settings, messages: [], pendingApprovals: [] };
    return createAgentTool(
      (own) => new Agent({ ...start, ...own }),
      { ...options, model, transform: start.transformContext },
    );
  }

  /**
   * Emits an event of the application, in order with all others. `data` must be JSON.
   *
   * @throws {BadRequestError} If the name is empty, or the data is not JSON.
   */
  emitCustom(name: string, data: unknown): void {
    this.#emit(createCustomEvent(name, data));
  }

  /**
   * Calls `listener` with every event, during runs and while idle; returns a function that unsubscribes. A listener that
   * throws or rejects is removed and reported as a `warning` event. The agent runs until the listeners have handled
   * `agent_end`, so that a new prompt must wait for the result of the run.
   */
  subscribe(listener: AgentListener): () => void {
    return this.#subscribers.add(listener);
  }

  /**
   * Sets the system prompt of the following turns.
   *
   * @throws {BadRequestError} If it is no string.
   */
  setSystemPrompt(systemPrompt: string): void {
    checkSystemPrompt(systemPrompt);
    this.#state.systemPrompt = systemPrompt;
  }

  /**
   * Sets the model of the following turns.
   *
   * @throws {BadRequestError} If the name is invalid.
   */
  setModel(model: ModelSpec | string): void {
    const from = this.#state.model;
    const to = this.#state.model = modelSpec(model);
    this.#emit({ type: "model_changed", from: cloneJson(from), to: cloneJson(to) });
  }

  /** Sets the thinking level of the following turns. */
  setThinkingLevel(thinkingLevel: ThinkingLevel): void {
    this.setModel({ ...this.#state.model, thinkingLevel });
  }

  /**
   * Sets the tools of the following turns.
   *
   * @throws {BadRequestError} If a value is no tool, or two tools have the same name.
   */
  setTools(tools: readonly AgentTool<never>[]): void {
    this.#state.tools = checkTools(tools as readonly AgentTool[]);
  }

  /**
   * Replaces the history by these messages, not copies. Invalid ones are repaired, which the next run reports as a warning.
   * The tool calls of the last reply may be pending, from an earlier result or session.
   *
   * @throws {AlreadyRunningError} While a run is active.
   * @throws {BadRequestError} If a value is no message, or the last reply does not make a pending call.
   */
  setMessages(messages: readonly AgentMessage[], pending?: PendingBatch): void {
    this.#assertIdle();
    checkMessages(messages);
    const waiting = checkPending(pending, messages);
    this.#overflowed = false;
    this.#repairs = [];
    this.#state.messages = this.#repair(messages, waiting);
    this.#state.pending = waiting;
  }

  /**
   * Appends these messages, not copies. Invalid ones are repaired, which the next run reports as a warning.
   * Pending approvals end: their tool calls are answered as lost, unless the messages have their results.
   *
   * @throws {AlreadyRunningError} While a run is active.
   * @throws {BadRequestError} If a value is no message.
   */
  appendMessages(messages: readonly AgentMessage[]): void {
    this.#assertIdle();
    checkMessages(messages);
    this.#state.messages = this.#repair([...this.#state.messages, ...messages]);
    this.#state.pending = undefined;
  }

  /**
   * Clears the history.
   *
   * @throws {AlreadyRunningError} While a run is active.
   */
  clearMessages(): void {
    this.setMessages([]);
  }

  #startRun<Added extends AgentTool<never>>(
    createInput: () => TurnInput,
    typedOptions: RunOptions<Added, Tool>,
    prepare?: StartRunOptions["prepare"],
  ): StartedRun {
    this.#assertIdle();
    const options = typedOptions as unknown as RunOptions;
    const state = this.#state;
    const load = async (previous: LatestRun) => {
      const { StateObserver, drainPreviousRun } = await import("./run_code.ts");
      run.pipe.observer = new StateObserver(state, this.#subscribers, run);
      await drainPreviousRun(previous, { nextPipe: () => run.pipe, sleep: this.#ports.sleep });
    };
    const config = applyRunOptions(this.#createConfig(), options, () => this.#getSettings());
    const start: Omit<StartRunOptions, "input"> = {
      context: state,
      repairs: this.#repairs,
      config,
      signal: options.signal,
      overflowed: this.#overflowed,
      pendingCalls: getPendingIds(state.pending),
      unpricedModels: this.#unpricedModels,
      after: () => load(this.#latestRun),
      prepare,
      observer: this.#subscribers,
      onSettled: (progress) => {
        state.isRunning = false;
        if (this.#activeRun !== run) return;
        this.#activeRun = undefined;
        if (progress) this.#overflowed = progress.overflowed;
        if (progress) this.#repairs = [];
      },
    };
    const run: StartedRun = state.startRun(() => startRun({ ...start, input: createInput() }));
    this.#steering.taken = this.#followUp.taken = []; // Those of an earlier run.
    return this.#activeRun = this.#latestRun = run;
  }

  #createConfig(): AgentLoopConfig {
    return {
      ...this.#options,
      model: this.#model,
      streamFn: this.#streamFn,
      steering: this.#steering,
      followUp: this.#followUp,
    };
  }

  #getSettings(): TurnSettings {
    const { model, systemPrompt, tools } = this.#state;
    return { model, systemPrompt, tools };
  }

  #createPromptInput(input: PromptInput, options: object): TurnInput {
    refuseApprovals(options);
    const prompt = toAgentMessages(input, this.#ports.now());
    if (hasValidMessages(prompt)) return { messages: prompt, declined: this.#state.pending };
    if (this.hasPendingMessages) return this.#createContinueInput();
    throw new NoMessagesError();
  }

  #createContinueInput({ approvals }: Pick<ContinueOptions, "approvals"> = {}): TurnInput {
    const { messages, pending } = this.#state;
    return createContinueInput(messages, {
      steering: this.#steering,
      followUp: this.#followUp,
      pending,
      approvals,
    });
  }

  #createState(messages: AgentMessage[], pending?: PendingBatch): LiveState {
    const { systemPrompt = "", tools = [] } = this.#options;
    const model = this.#model;
    return new LiveState({ systemPrompt, model, tools: checkTools(tools), messages, pending });
  }

  /** Returns a repaired copy of a history; the calls of its last reply may be pending. */
  #repair(history: readonly AgentMessage[], pending?: PendingBatch): AgentMessage[] {
    const { messages, repairs } = repairHistory(history, { pendingCalls: getPendingIds(pending) });
    this.#repairs = [...this.#repairs, ...repairs];
    return withTimestamps(messages, this.#ports.now);
  }

  #assertIdle(): void {
    if (this.#state.isRunning) throw new AlreadyRunningError();
  }

  /** Emits an event in order with all others: as an event of the active run, or while idle to the subscribers only. */
  #emit(event: AgentEventBody): void {
    void this.#latestRun.pipe.emit(event);
  }
}
