/**
 * The reply of one model call, from its first event to its end.
 *
 * @module
 */

import {
  type AgentError,
  BudgetExceededError,
  getErrorMessage,
  NetworkError,
  StreamError,
} from "../../core/errors/errors.ts";
import type { StoppedBy } from "../../core/events/stopped_by.ts";
import { toJsonValue } from "../../core/json/json.ts";
import type { StopReason } from "../../core/models/model.ts";
import { type Cost, type Usage, zeroUsage } from "../../core/models/usage.ts";
import { type AccumulatedReply, ReplyAccumulator } from "../../core/streams/accumulate.ts";
import type { AssistantMessageEvent, StreamWarningEvent } from "../../core/streams/stream.ts";
import type { AgentTool } from "../../core/tools/tool.ts";
import { prepareValidation } from "../../core/tools/validate_arguments.ts";
import type { Cancellation } from "../callbacks/cancellation.ts";
import type { RunServices } from "../run/run_services.ts";
import type { TurnContext } from "../run/turn_context.ts";
import type { ReadOptions, ReadOutcome } from "./read_events.ts";
import { parseReplyEnd, type ReplyEnd, toAbortedError } from "./reply_end.ts";
import { ValidatorPreload } from "./validator_preload.ts";

/** The end of a reply, with what was received until then. */
export interface ReplyOutcome {
  /** The reason why it ended. */
  readonly stopReason: StopReason;
  /** The content that was received. */
  readonly reply: AccumulatedReply;
  /** Whether any content was emitted. */
  readonly hasOutput: boolean;
  /** Token counts. */
  readonly usage: Usage;
  /** The cost that the provider reported, if any. */
  readonly reportedCost?: Cost;
  /** The provider's id of the reply, if it has one. */
  readonly responseId?: string;
  /** The error, if it failed or was aborted. */
  readonly error?: AgentError;
  /** The policy that stopped it, if one did. */
  readonly stoppedBy?: StoppedBy;
}

/** Maximum number of warnings that a run remembers, since a server may send any number. */
const MAX_STREAM_WARNINGS = 1_000;

/** Accumulates a reply and emits its deltas as they arrive. */
export class StreamedReply implements ReadOptions {
  /** Ends reading. */
  readonly cancellation: Cancellation;
  readonly #turn: TurnContext;
  readonly #run: RunServices;
  readonly #reply = new ReplyAccumulator();
  readonly #tools: readonly AgentTool[];
  readonly #callIds: string[] = [];
  #preparedTool: string | undefined;
  #firstTokenAt: number | undefined;
  readonly #preload: ValidatorPreload;
  #end: ReplyEnd | undefined;

  /** Creates a reply without content; `tools` are those that it may call. */
  constructor(turn: TurnContext, tools: readonly AgentTool[]) {
    this.cancellation = turn.cancellation;
    this.#turn = turn;
    this.#run = turn.run;
    this.#tools = tools;
    this.#preload = new ValidatorPreload(tools, turn.run.config.validator);
  }

  /** Length of the text, thinking and arguments so far, in UTF-16 code units. */
  get characters(): number {
    return this.#reply.characters;
  }

  /** Time of the first content, in milliseconds since the epoch; `undefined` before it. */
  get firstTokenAt(): number | undefined {
    return this.#firstTokenAt;
  }

  /** Accumulates an event and emits deltas and warnings. */
  accept(event: AssistantMessageEvent): Promise<void> | undefined {
    switch (event.type) {
      case "text_delta":
      case "thinking_delta":
      case "tool_call_delta": {
        // A copy, since a stream function may use one object for all deltas.
        const { type, contentIndex, delta } = event;
        this.#reply.append(event);
        this.#markContent();
        return this.#run.events.emitDelta({ type, contentIndex, delta });
      }
      case "tool_call_start": {
        const { type, contentIndex, name } = event;
        const id = this.#run.history.claimCallId(event.id);
        this.#callIds.push(id);
        this.#prepareTool(name);
        const delta = { type, contentIndex, id, name };
        this.#reply.apply(delta);
        this.#markContent();
        return this.#run.events.emitDelta(delta);
      }
      case "warning":
        return this.#warn(event);
      case "done":
      case "error":
        this.#end = parseReplyEnd(event);
        this.#reply.apply(event);
        return undefined;
      default:
        this.#reply.apply(event);
        return undefined;
    }
  }

  /** Reads the terminal event of an aborted reply; blocks that are still open no longer matter. */
  acceptTerminal(event: AssistantMessageEvent): void {
    if (event.type === "done" || event.type === "error") this.#end = parseReplyEnd(event);
  }

  /** Loads the validator if the first reply of a run takes long. */
  startPreload(): void {
    if (this.#turn.progress.turn <= 1 && this.#tools.length > 0) this.#preload.start();
  }

  /** Does not load the validator any more, since the reply has ended. */
  stopPreload(): void {
    this.#preload.stop();
  }

  /** Ends the reply when its events have been read. */
  finish(outcome: ReadOutcome): ReplyOutcome {
    const end = this.#end;
    const stoppedBy = this.#turn.monitor?.stoppedBy;
    if (stoppedBy || outcome === "aborted") return this.#endAborted();
    if (!end) {
      return this.fail(new NetworkError("The model stream ended before the reply was complete"));
    }
    if (end.error) return this.fail(end.error);
    const { stopReason, cost, responseId } = end;
    if (stopReason === "aborted") return this.#endAborted();
    if (stopReason === "error") {
      return this.fail(new StreamError('The model stream ended with the stop reason "error"'));
    }
    return {
      ...this.#snapshot(),
      stopReason,
      ...(cost && { reportedCost: cost }),
      ...(responseId !== undefined && { responseId }),
    };
  }

  /** Ends the reply with an error; as aborted if an abort has come first. */
  fail(error: AgentError): ReplyOutcome {
    const isAborted = this.#end?.type === "error" && this.#end.stopReason === "aborted";
    if (this.#turn.cancellation.aborted || isAborted) return this.#endAborted();
    return { ...this.#withoutToolCalls(), stopReason: "error", error };
  }

  #endAborted(): ReplyOutcome {
    const stoppedBy = this.#turn.monitor?.stoppedBy;
    const error = stoppedBy
      ? new BudgetExceededError(stoppedBy.reason)
      : toAbortedError(this.#run.cancellation.reason);
    const outcome = { ...this.#withoutToolCalls(), stopReason: "aborted", error } as const;
    return stoppedBy ? { ...outcome, stoppedBy } : outcome;
  }

  /** Drops the tool calls: those of a failed reply get no results, so they must not enter the history. */
  #withoutToolCalls(): Pick<ReplyOutcome, "reply" | "hasOutput" | "usage"> {
    this.#run.history.releaseCallIds(this.#callIds);
    const { reply, ...rest } = this.#snapshot();
    const content = reply.content.filter(({ type }) => type !== "tool_call");
    return { reply: { content, calls: [] }, ...rest };
  }

  #snapshot(): Pick<ReplyOutcome, "reply" | "hasOutput" | "usage"> {
    const hasOutput = this.#firstTokenAt !== undefined;
    return { reply: this.#reply.finish(), hasOutput, usage: this.#end?.usage ?? zeroUsage() };
  }

  /**
   * Emits a warning, as text whatever its parts are; data that is not JSON is omitted. The same one is emitted once in a
   * run, since most of them concern every request, such as an option that a model does not have.
   */
  #warn({ code, message, data }: StreamWarningEvent): Promise<void> | undefined {
    const { events, streamWarnings } = this.#run;
    const copy = toJsonValue(data);
    const json = "value" in copy ? copy.value : undefined;
    const texts = [getErrorMessage(code), getErrorMessage(message)] as const;
    const key = JSON.stringify([...texts, json]);
    if (streamWarnings.has(key)) return undefined;
    if (streamWarnings.size < MAX_STREAM_WARNINGS) streamWarnings.add(key);
    return events.warn(...texts, json);
  }

  #markContent(): void {
    if (this.#firstTokenAt !== undefined) return;
    this.#firstTokenAt = this.#run.config.now();
    this.#preload.stop();
  }

  /** Compiles the schema of a tool while the model still writes its arguments. */
  #prepareTool(name: string): void {
    if (name === this.#preparedTool) return;
    this.#preparedTool = name;
    const tool = this.#tools.find((tool) => tool.name === name);
    if (tool) prepareValidation(tool, this.#run.config.validator);
  }
}
