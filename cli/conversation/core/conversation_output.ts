/**
 * The output of a conversation: text, tool calls and notices as lines, and the rows that change.
 *
 * @module
 */

import type { AgentEvent, AgentMessage, AssistantMessageDelta } from "../../../mod.ts";
import { getErrorMessage } from "../../../src/core/errors/errors.ts";
import type { Line } from "../../render/line/line.ts";
import { addStreamingMark } from "../../render/line/streaming_mark.ts";
import type { TextRenderer } from "../../render/line/text_renderer.ts";
import { RunNotices } from "../../render/run_notices.ts";
import { toPlainText } from "../../render/plain_text.ts";
import type { CallView } from "../../render/tools/call_view.ts";
import type { OutputSettings } from "../command/command_context.ts";
import type { ConversationView } from "../view/conversation_view.ts";
import { toLines, toMessage } from "../view/lines.ts";
import { type Activity, ConversationActivity } from "./conversation_activity.ts";
import { OrderedCalls } from "./ordered_calls.ts";
import { PlanProgress } from "./plan_progress.ts";
import type { RecordedConversation } from "./recorded_conversation.ts";
import type { ConversationRenderers } from "./renderers.ts";

/** Name of the tool with which an agent reports the progress of a plan. */
const STEP_TOOL = "update_step";

/** Options for {@linkcode ConversationOutput}. */
export interface ConversationOutputOptions {
  /** The terminal. */
  readonly view: ConversationView;
  /** The tool calls and agents. */
  readonly record: RecordedConversation;
  /** How output is shown. */
  readonly settings: OutputSettings;
  /** The renderers of text, calls and changes. */
  readonly renderers: ConversationRenderers;
  /** Whether plan mode is on. */
  readonly isPlanning: () => boolean;
  /** Returns the text of a queued message as it was typed, once; `undefined` for another message. */
  readonly takeTypedText: (messageId: string | undefined) => string | undefined;
  /** Value of `--base-url`, which errors name. */
  readonly baseUrl: string | undefined;
  /** Returns the current time in milliseconds. */
  readonly now: () => number;
}

/** Shows the events of a conversation. */
export class ConversationOutput {
  readonly #options: ConversationOutputOptions;
  readonly #calls: OrderedCalls;
  readonly #plan = new PlanProgress();
  #notices = new RunNotices();
  /** The activity that is awaited. */
  readonly activity: ConversationActivity;
  #text: TextRenderer | undefined;
  #thinking: TextRenderer | undefined;
  /** Whether text of the current reply was shown. */
  #hasText = false;
  /** Number of turns of the run. */
  turns = 0;
  /** Number of attempts of the last model call. */
  attempts = 1;
  /** The failures that were reported. */
  readonly #failures = new Set<string>();
  /** Ids of the calls whose changes the user has seen in a question. */
  readonly #reviewed = new Set<string>();

  constructor(options: ConversationOutputOptions) {
    this.#options = options;
    this.activity = new ConversationActivity(options.now);
    this.#calls = new OrderedCalls((id, call) => this.#printEnded(id, call));
  }

  /** The end of the text that may still change, with a mark while more is coming. */
  get open(): readonly Line[] {
    const { view, now } = this.#options;
    const open = (this.#text ?? this.#thinking)?.open ?? [];
    if (!this.#text) return open;
    return addStreamingMark(open, { display: view.display, columns: view.columns, now: now() });
  }

  /** Notes that the user has seen the changes of a call in a question. */
  markReviewed(toolCallId: string): void {
    this.#reviewed.add(toolCallId);
  }

  /** Prints lines that were held back for too long, such as a table that stopped growing. Called once per frame. */
  poll(): void {
    const lines = (this.#text ?? this.#thinking)?.poll() ?? [];
    if (lines.length > 0) void this.#options.view.print(lines);
  }

  /** Shows an event. Never rejects, because an agent sends no further events to a listener that has failed. */
  async onEvent(event: AgentEvent): Promise<void> {
    const { record, view } = this.#options;
    try {
      const call = await record.onEvent(event);
      await this.#show(event, call);
    } catch (error) {
      await this.#reportFailure(getErrorMessage(error));
    }
    view.redraw();
  }

  async #reportFailure(message: string): Promise<void> {
    if (this.#failures.has(message)) return;
    this.#failures.add(message);
    await this.printError(`A part of the output cannot be shown: ${message}`);
  }

  /** Sets what is awaited. */
  setActivity(activity: Activity | undefined): void {
    this.activity.set(activity);
    this.#options.view.redraw();
  }

  async #show(event: AgentEvent, call: CallView | undefined): Promise<void> {
    switch (event.type) {
      case "agent_start":
        this.turns = 0;
        this.#notices = new RunNotices();
        return;
      case "turn_start":
        this.turns++;
        this.attempts = 1;
        return;
      case "message_start":
        return await this.#startMessage(event.message);
      case "message_update":
        return await this.#onDelta(event.delta);
      case "message_end":
        if (event.message.role !== "assistant") return;
        await this.#endText();
        this.activity.set(undefined);
        return this.#calls.expect(
          event.message.content.filter((block) => block.type === "tool_call").map(({ id }) => id),
        );
      case "tool_execution_end":
        if (call) await this.#calls.end(event.id, call);
        return;
      case "turn_end":
        return await this.#calls.flush();
      case "agent_end":
        await this.#endText();
        return this.activity.set(undefined);
      case "retry":
        this.attempts++;
        await this.#endText();
        this.activity.set({ label: "retrying", endsInMs: event.delayMs });
        return await this.#notify(event);
      case "model_fallback":
        await this.#endText();
        return await this.#notify(event);
      case "custom":
        return await this.#options.view.print(this.#plan.formatEvent(event));
      default:
        return await this.#notify(event);
    }
  }

  async #startMessage(message: AgentMessage): Promise<void> {
    const { view, takeTypedText } = this.#options;
    switch (message.role) {
      case "user": {
        const typed = takeTypedText(message.id);
        if (typed !== undefined) await view.echo(typed);
        return;
      }
      case "assistant":
        this.#hasText = false;
        this.activity.set({ label: `waiting for ${message.modelId}` });
        return;
      default:
        return;
    }
  }

  async #onDelta(delta: AssistantMessageDelta): Promise<void> {
    switch (delta.type) {
      case "thinking_delta":
        return await this.#addThinking(delta.delta);
      case "text_delta":
        return await this.#addText(delta.delta);
      case "tool_call_start":
        await this.#endText();
        return this.activity.set({ label: `preparing ${toPlainText(delta.name)}` });
      default:
        return;
    }
  }

  async #addThinking(text: string): Promise<void> {
    const { renderers, view } = this.#options;
    if (!this.#thinking) this.activity.set({ label: "thinking" });
    await this.#endTextBlock();
    this.#thinking ??= await renderers.createThinking(this.#options.isPlanning());
    await view.print(this.#thinking.push(text));
  }

  async #addText(text: string): Promise<void> {
    const { renderers, view } = this.#options;
    await this.#endThinking();
    if (!this.#text) {
      this.activity.set({ label: "writing" });
      this.#text = await renderers.createText(this.#options.isPlanning());
    }
    this.#hasText = true;
    await view.print(this.#text.push(text));
  }

  async #endText(): Promise<void> {
    await this.#endThinking();
    await this.#endTextBlock();
  }

  async #endTextBlock(): Promise<void> {
    const text = this.#text;
    this.#text = undefined;
    if (text) await this.#options.view.print(text.end());
  }

  async #endThinking(): Promise<void> {
    const thinking = this.#thinking;
    this.#thinking = undefined;
    if (thinking) await this.#options.view.print(thinking.end());
  }

  /** Prints a call that has ended, and its change unless the user has seen that in a question. */
  async #printEnded(id: string, call: CallView): Promise<void> {
    const { view, renderers, settings } = this.#options;
    // The progress of the plan is shown already.
    if (call.name === STEP_TOOL && !call.end?.isError) return;
    const isReviewed = this.#reviewed.delete(id);
    if (settings.expandsTools) {
      return await view.print(await renderers.formatExpandedCall(call));
    }
    await view.print([renderers.formatEndedCall(call)]);
    // A call that failed or was refused has made no change.
    if (isReviewed || call.end?.isError || !call.changes) return;
    await view.print(await renderers.formatChanges(call));
  }

  async #notify(event: AgentEvent): Promise<void> {
    const { view, baseUrl } = this.#options;
    const notice = this.#notices.get(event, { baseUrl, isTextShown: this.#hasText });
    if (notice === undefined) return;
    await this.#endText();
    await view.print(toMessage("warning", notice.replace(/^warning: /, ""), view));
  }

  /** Prints the error of a command or a prompt. */
  async printError(message: string, advice = ""): Promise<void> {
    const advised = advice === "" ? [] : toLines(advice);
    const { view } = this.#options;
    await view.print([...toMessage("error", message, view), ...advised]);
  }

  /** Prints a remark of the program. */
  async printNote(text: string): Promise<void> {
    const { view } = this.#options;
    await view.print(toMessage("notice", text, view));
  }
}
