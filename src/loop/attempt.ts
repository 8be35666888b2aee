/**
 * One attempt of a model call: reads the stream, emits its deltas and accumulates the reply.
 *
 * @module
 */

import { type AccumulatedReply, ReplyAccumulator } from "../core/accumulate.ts";
import {
  AbortedError,
  AgentError,
  BudgetExceededError,
  getErrorMessage,
  NetworkError,
  StreamError,
} from "../core/errors.ts";
import type { ModelSpec, StopReason } from "../core/model.ts";
import type { StoppedBy } from "../core/policy.ts";
import type { RetryStrategy } from "../core/retry.ts";
import type { AssistantMessageEvent, LlmContext, StreamFn, StreamOptions } from "../core/stream.ts";
import { type Cost, type Usage, zeroUsage } from "../core/usage.ts";
import type { GetApiKey } from "./config.ts";
import { toHookError } from "./hook_error.ts";
import { readEvents } from "./read_events.ts";
import { ReplyMonitor } from "./reply_monitor.ts";
import { resolveStreamOptions } from "./request.ts";
import type { RunServices } from "./run_services.ts";
import type { TurnContext } from "./turn_context.ts";

/** A model to call, with its own options. */
export interface Candidate {
  /** The model. */
  readonly model: ModelSpec;
  /** Calls the model. */
  readonly streamFn: StreamFn;
  /** Returns the API key of the model's provider. */
  readonly getApiKey: GetApiKey | undefined;
  /** Decides whether a failed call is retried. */
  readonly retry: RetryStrategy;
}

/** The result of an attempt. */
export interface Attempt {
  /** The reason why the attempt ended. */
  readonly stopReason: StopReason;
  /** The content that was received. */
  readonly reply: AccumulatedReply;
  /** Whether any content was emitted. */
  readonly hasOutput: boolean;
  /** Token counts of the attempt. */
  readonly usage: Usage;
  /** The cost that the provider reported, if any. */
  readonly cost?: Cost;
  /** The error, if the attempt failed or was aborted. */
  readonly error?: AgentError;
  /** The policy that stopped the attempt, if one did. */
  readonly stoppedBy?: StoppedBy;
}

/** Calls the model once. Never rejects: every failure is an {@linkcode Attempt}. */
export async function attempt(
  { run, progress }: TurnContext,
  { model, streamFn, getApiKey }: Candidate,
  context: LlmContext,
): Promise<Attempt> {
  let options: StreamOptions | undefined;
  try {
    options = await resolveStreamOptions(run, { model, getApiKey });
  } catch (thrown) {
    if (!run.cancellation.aborted) return createFailedAttempt(toHookError("getApiKey", thrown));
  }
  if (!options || run.cancellation.aborted) return createAbortedAttempt(run);
  const reader = new ReplyReader(run);
  const cancellation = run.cancellation.child();
  const monitor = ReplyMonitor.start(run, { progress, reader, cancellation, model });
  try {
    const source = streamFn({ model, context, options, signal: cancellation.signal });
    const { accept, acceptTerminal } = reader;
    const outcome = await readEvents(source, { cancellation, accept, acceptTerminal });
    return reader.finish(outcome, monitor?.stoppedBy);
  } catch (thrown) {
    return reader.fail(toStreamError(thrown));
  } finally {
    monitor?.stop();
    cancellation.dispose();
  }
}

/** Accumulates a reply and emits its deltas as they arrive. */
class ReplyReader {
  readonly #run: RunServices;
  readonly #reply = new ReplyAccumulator();
  readonly #callIds: string[] = [];
  #hasOutput = false;
  #terminal: Extract<AssistantMessageEvent, { type: "done" | "error" }> | undefined;

  constructor(run: RunServices) {
    this.#run = run;
  }

  get characters(): number {
    return this.#reply.characters;
  }

  /** Accumulates an event and emits deltas and warnings. */
  readonly accept = (event: AssistantMessageEvent): Promise<void> | undefined => {
    switch (event.type) {
      case "text_delta":
      case "thinking_delta":
      case "tool_call_delta":
        this.#reply.append(event);
        this.#hasOutput = true;
        return this.#run.events.emitDelta(event);
      case "tool_call_start": {
        const id = this.#run.history.claimCallId(event.id);
        this.#callIds.push(id);
        const delta = id === event.id ? event : { ...event, id };
        this.#reply.apply(delta);
        this.#hasOutput = true;
        return this.#run.events.emitDelta(delta);
      }
      case "warning":
        return this.#run.events.warn(event.code, event.message, event.data);
      case "done":
      case "error":
        this.#terminal = event;
        this.#reply.apply(event);
        return undefined;
      default:
        this.#reply.apply(event);
        return undefined;
    }
  };

  /** Stores the terminal event of an aborted reply; blocks that are still open no longer matter. */
  readonly acceptTerminal = (event: AssistantMessageEvent): void => {
    if (event.type === "done" || event.type === "error") this.#terminal = event;
  };

  finish(outcome: "terminal" | "closed" | "aborted", stoppedBy: StoppedBy | undefined): Attempt {
    if (stoppedBy) return this.#stop(stoppedBy);
    const terminal = this.#terminal;
    if (outcome === "aborted") return this.#abort(terminal?.usage);
    if (!terminal) {
      return this.fail(new NetworkError("The model stream ended before the reply was complete"));
    }
    if (terminal.type === "error") {
      return this.fail(terminal.error, terminal.usage, terminal.stopReason);
    }
    if (terminal.stopReason === "aborted") return this.#abort(terminal.usage);
    if (terminal.stopReason === "error") {
      return this.fail(
        new StreamError('The model stream ended with the stop reason "error"'),
        terminal.usage,
      );
    }
    const { stopReason, usage, cost } = terminal;
    return { ...this.#snapshot(), stopReason, usage, ...(cost && { cost }) };
  }

  fail(error: AgentError, usage?: Usage, stopReason: StopReason = "error"): Attempt {
    if (this.#run.cancellation.aborted || stopReason === "aborted") return this.#abort(usage);
    return { ...this.#withoutToolCalls(), stopReason: "error", usage: usage ?? zeroUsage(), error };
  }

  #abort(usage: Usage = zeroUsage()): Attempt {
    const error = createAbortedError(this.#run);
    return { ...this.#withoutToolCalls(), stopReason: "aborted", usage, error };
  }

  #stop(stoppedBy: StoppedBy): Attempt {
    const error = new BudgetExceededError(stoppedBy.reason);
    const usage = this.#terminal?.usage ?? zeroUsage();
    return { ...this.#withoutToolCalls(), stopReason: "aborted", usage, error, stoppedBy };
  }

  /** Drops the tool calls: those of a failed reply get no results, so they must not enter the history. */
  #withoutToolCalls(): Pick<Attempt, "reply" | "hasOutput"> {
    this.#run.history.releaseCallIds(this.#callIds);
    const { reply, hasOutput } = this.#snapshot();
    const content = reply.content.filter(({ type }) => type !== "tool_call");
    return { reply: { content, calls: [] }, hasOutput };
  }

  #snapshot(): Pick<Attempt, "reply" | "hasOutput"> {
    return { reply: this.#reply.finish(), hasOutput: this.#hasOutput };
  }
}

const NO_OUTPUT = { reply: { content: [], calls: [] }, hasOutput: false, usage: zeroUsage() };

/** Creates the result of an attempt that failed before anything was sent. */
export function createFailedAttempt(error: AgentError): Attempt {
  return { ...NO_OUTPUT, stopReason: "error", error };
}

/** Creates the result of an attempt that was not made because the run was aborted. */
export function createAbortedAttempt(run: RunServices): Attempt {
  return { ...NO_OUTPUT, stopReason: "aborted", error: createAbortedError(run) };
}

/** Returns the abort reason if it is an `AbortedError`, otherwise an `AbortedError` with it as the cause. */
export function createAbortedError({ cancellation: { reason } }: RunServices): AgentError {
  if (AgentError.is(reason) && reason.code === "aborted") return reason;
  return new AbortedError(undefined, { cause: reason });
}

function toStreamError(thrown: unknown): AgentError {
  if (AgentError.is(thrown)) return thrown;
  return new StreamError(`The model stream failed: ${getErrorMessage(thrown)}`, { cause: thrown });
}
