/**
 * The runs of the agent in a conversation: prompts, what is sent during a run, and tasks that the user can abort.
 *
 * @module
 */

import type { Agent, AgentEvent, AgentResult, PromptInput } from "../../../mod.ts";
import { getPromptText } from "../../hooks/hook_output.ts";
import type { Delivery, QueueControl, QueuedText, RunControl } from "../command/command_context.ts";
import { getTypedPrompt, getTypedText } from "../command/typed_text.ts";
import { getUserText } from "./user_text.ts";

/** Options for {@linkcode ConversationRuns}. */
export interface ConversationRunsOptions {
  /** The agent. */
  readonly agent: Agent;
  /**
   * Returns the input for a text: with the files that it names, and the output of hooks.
   *
   * @throws {CliError} If a hook blocks it.
   */
  readonly createInput: (text: string, signal: AbortSignal) => Promise<PromptInput>;
  /** Prepares an input that was not created from a text. */
  readonly prepareInput: (input: PromptInput, signal: AbortSignal) => Promise<PromptInput>;
  /** Called with the events of other agents that get what the user sends. */
  readonly onEvent: (event: AgentEvent) => Promise<void>;
  /** Called before each run with its text. */
  readonly onStart: (text: string) => void | Promise<void>;
  /** Called before each task. */
  readonly onTask: () => void;
  /** Called at the start of the run of a text that was sent after an abort, and that has waited for the end of that run. */
  readonly onDelayedStart: (text: string) => void | Promise<void>;
  /** Resolves when the file changes of what was aborted are recorded, which belong to the run. */
  readonly untilRecorded: () => Promise<void>;
  /** Called after each run. */
  readonly onEnd: (end: EndedRun) => void | Promise<void>;
  /** Called when a text cannot be sent, with the text, and when a task fails. */
  readonly onError: (error: unknown, text?: string) => void | Promise<void>;
  /** Called when a task has ended without a result because the user has aborted it. */
  readonly onAbort: () => void | Promise<void>;
  /** Called when a run or a task, which has a label, has started or ended. */
  readonly onActivity: (
    activity: { readonly isActive: boolean; readonly label?: string | undefined },
  ) => void;
  /** Returns the current time in milliseconds. */
  readonly now: () => number;
}

/** A run that has ended. */
export interface EndedRun {
  /** The result. */
  readonly result: AgentResult;
  /** Time since the text was sent, in milliseconds. */
  readonly durationMs: number;
}

/** The text of a run. */
interface StartedText {
  /** The text for `onStart`. */
  readonly label: string;
  /** The text as the user has typed it. Default: the input was not typed. */
  readonly text?: string;
}

/** A run or a task. */
interface Activity {
  readonly controller: AbortController;
  readonly ended: Promise<void>;
  /** Whether queued messages are delivered after it: not after a failure, which the next run would repeat. */
  mayContinue: boolean;
}

/** The reason of the abort of a run by the user. */
const ABORT_REASON = "the user";

/** Runs the prompts of a conversation one after the other. */
export class ConversationRuns implements RunControl, QueueControl {
  readonly #options: ConversationRunsOptions;
  /** The agents that get what the user sends, the current one last. */
  readonly #agents: Agent[];
  /** The texts of queued messages as they were typed, by the id of the message. */
  readonly #typed = new Map<string, string>();
  #activity: Activity | undefined;
  /** Number of times that the user has aborted. */
  #aborts = 0;
  /** Resolves when the texts that were sent during a run are queued, in order. */
  #sending: Promise<void> = Promise.resolve();

  constructor(options: ConversationRunsOptions) {
    this.#options = options;
    this.#agents = [options.agent];
  }

  get isRunning(): boolean {
    return this.#activity !== undefined;
  }

  /** The agent that gets what the user sends. */
  get agent(): Agent {
    return this.#agents.at(-1) ?? this.#options.agent;
  }

  get texts(): readonly QueuedText[] {
    const { steering, followUp } = this.agent.queued;
    const toText =
      (delivery: Delivery) => ({ id, message }: typeof steering[number]): QueuedText => ({
        id,
        text: this.#typed.get(message.id ?? "") ?? getUserText(message),
        delivery,
      });
    return [...steering.map(toText("steering")), ...followUp.map(toText("follow_up"))];
  }

  remove(id: string): boolean {
    const { steering, followUp } = this.agent.queued;
    const queued = [...steering, ...followUp].find((candidate) => candidate.id === id);
    this.takeTypedText(queued?.message.id);
    return this.agent.cancelQueued(id);
  }

  clear(): void {
    for (const { id } of this.texts) this.remove(id);
  }

  /** Treats the messages that wait in a continued session like texts that were queued here. */
  restoreQueued(): void {
    const { steering, followUp } = this.agent.queued;
    for (const { message } of [...steering, ...followUp]) {
      if (message.id === undefined || this.#typed.has(message.id)) continue;
      this.#typed.set(message.id, getTypedPrompt(message));
    }
  }

  /** Returns the text of a delivered message as it was typed; `undefined` if it was not queued here. */
  takeTypedText(messageId: string | undefined): string | undefined {
    const text = this.#typed.get(messageId ?? "");
    if (messageId !== undefined) this.#typed.delete(messageId);
    return text;
  }

  send(text: string, delivery: Delivery = "steering"): void {
    const { createInput } = this.#options;
    if (this.#activity?.controller.signal.aborted) return void this.#sendAfterAbort(text, delivery);
    if (this.#activity) return this.#queue(text, delivery);
    this.#startRun({ label: text, text }, async (signal) => await createInput(text, signal));
  }

  prompt(input: PromptInput): void {
    const { prepareInput } = this.#options;
    const label = getTypedText(getPromptText(input));
    this.#startRun({ label }, async (signal) => await prepareInput(input, signal));
  }

  startTask(label: string, task: (signal: AbortSignal) => Promise<void>): void {
    const { onTask, onError, onAbort } = this.#options;
    void this.#runActivity(label, async (signal) => {
      try {
        onTask();
        await task(signal);
      } catch (error) {
        await (signal.aborted ? onAbort() : onError(error));
      }
    });
  }

  async withAgent<Result>(agent: Agent, use: () => Promise<Result>): Promise<Result> {
    this.#agents.push(agent);
    const unsubscribe = agent.subscribe(this.#options.onEvent);
    try {
      return await use();
    } finally {
      await this.#options.untilRecorded();
      unsubscribe();
      this.#agents.splice(this.#agents.lastIndexOf(agent), 1);
      this.#adoptQueued(agent);
    }
  }

  abort(): void {
    this.#aborts++;
    this.#activity?.controller.abort(ABORT_REASON);
  }

  async untilIdle(): Promise<void> {
    while (this.#activity) await this.#activity.ended;
  }

  /** Queues the messages that another agent has not read for the current one. */
  #adoptQueued(other: Agent): void {
    const { steering, followUp } = other.queued;
    other.clearQueues();
    for (const { message } of steering) this.agent.steer(message);
    for (const { message } of followUp) this.agent.followUp(message);
  }

  /**
   * Sends a text after the end of an aborted run, which reads nothing more; queued messages wait for the next prompt,
   * which this text is. If the user aborts again, or leaves, the text must not start a run.
   */
  async #sendAfterAbort(text: string, delivery: Delivery): Promise<void> {
    const { createInput, onDelayedStart, onError } = this.#options;
    const aborts = this.#aborts;
    while (this.#activity?.controller.signal.aborted) await this.#activity.ended;
    if (this.#aborts !== aborts) {
      return await onError(
        new Error("A text was not sent, since you have aborted again: ↑ returns it"),
      );
    }
    if (this.#activity) return this.#queue(text, delivery);
    this.#startRun({ label: text, text }, async (signal) => {
      await onDelayedStart(text);
      return await createInput(text, signal);
    });
  }

  /** Queues a text for the active run. */
  #queue(text: string, delivery: Delivery): void {
    const { createInput, onError } = this.#options;
    const signal = this.#activity?.controller.signal ?? new AbortController().signal;
    this.#sending = this.#sending.then(async () => {
      try {
        const input = await createInput(text, signal);
        const { agent } = this;
        const queued = delivery === "steering" ? agent.steer(input) : agent.followUp(input);
        if (queued.message.id !== undefined) this.#typed.set(queued.message.id, text);
        // The run may have ended while the input was prepared.
        if (!this.#activity) void this.#runActivity(undefined, () => Promise.resolve());
      } catch (error) {
        await onError(error, text);
      }
    });
  }

  /** Starts a run with an input. */
  #startRun(
    { label, text }: StartedText,
    createInput: (signal: AbortSignal) => Promise<PromptInput>,
  ): void {
    const { onStart, onError } = this.#options;
    void this.#runActivity(undefined, async (signal) => {
      let input: PromptInput;
      try {
        await onStart(label);
        input = await createInput(signal);
      } catch (error) {
        if (!signal.aborted) await onError(error, text);
        return;
      }
      if (signal.aborted) return;
      await this.#runAgent((agent) => agent.prompt(input, { signal }));
    });
  }

  /** Runs an activity, and then the agent as long as messages wait. */
  async #runActivity(
    label: string | undefined,
    work: (signal: AbortSignal) => Promise<void>,
  ): Promise<void> {
    const controller = new AbortController();
    const { promise: ended, resolve } = Promise.withResolvers<void>();
    this.#activity = { controller, ended, mayContinue: true };
    const { onActivity, onError } = this.#options;
    onActivity({ isActive: true, label });
    try {
      await work(controller.signal);
      await this.#deliverQueued(controller.signal);
    } catch (error) {
      await onError(error);
    } finally {
      this.#activity = undefined;
      onActivity({ isActive: false });
      resolve();
    }
  }

  /** Continues the agent with the messages that a run has not read, unless it has failed or was aborted. */
  async #deliverQueued(signal: AbortSignal): Promise<void> {
    await this.#sending;
    while (this.agent.hasPendingMessages && this.#activity?.mayContinue && !signal.aborted) {
      await this.#options.onStart(this.texts[0]?.text ?? "");
      await this.#runAgent((agent) => agent.continue({ signal }));
      await this.#sending;
    }
  }

  /** Runs the agent, and reports the end of the run. */
  async #runAgent(run: (agent: Agent) => Promise<AgentResult>): Promise<void> {
    const { now, onEnd, untilRecorded } = this.#options;
    const startedAt = now();
    const result = await run(this.agent);
    const isComplete = !result.error && !result.stoppedBy && result.stopReason !== "aborted";
    if (this.#activity) this.#activity.mayContinue = isComplete;
    await onEnd({ result, durationMs: now() - startedAt });
    await untilRecorded();
  }
}
