/**
 * One attempt to get a reply: a stream is read, shown as it comes, and accumulated.
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
import type { StopReason } from "../core/model.ts";
import type { StoppedBy } from "../core/policy.ts";
import type { AssistantMessageEvent, StreamFn, StreamRequest } from "../core/stream.ts";
import type { Cost, Usage } from "../core/usage.ts";
import { zeroUsage } from "../core/usage.ts";
import { readEvents } from "./read_events.ts";
import { ReplyMonitor } from "./reply_monitor.ts";
import type { RunContext } from "./run_context.ts";

/** What came of an attempt. */
export interface Attempt {
  /** Why it ended. */
  readonly stopReason: StopReason;
  /** What arrived. */
  readonly reply: AccumulatedReply;
  /** Whether observers were shown anything. */
  readonly shown: boolean;
  /** Tokens it used. */
  readonly usage: Usage;
  /** What the provider says it cost. */
  readonly cost?: Cost;
  /** What went wrong, when it did. */
  readonly error?: AgentError;
  /** The policy that stopped it, if one did. */
  readonly stoppedBy?: StoppedBy;
}

/** Asks once. Never rejects: whatever happens is an {@linkcode Attempt}. */
export async function attempt(
  run: RunContext,
  streamFn: StreamFn,
  request: Omit<StreamRequest, "signal">,
): Promise<Attempt> {
  const reading = new ReplyReader(run);
  const cancellation = run.cancellation.child();
  const watch = ReplyMonitor.start(run, { reader: reading, cancellation, model: request.model });
  try {
    const source = streamFn({ ...request, signal: cancellation.signal });
    const { accept: take, acceptTerminal: takeLast } = reading;
    const end = await readEvents(source, { cancellation, accept: take, acceptTerminal: takeLast });
    return reading.finish(end, watch?.stoppedBy);
  } catch (thrown) {
    return reading.fail(toStreamError(thrown));
  } finally {
    watch?.stop();
    cancellation.dispose();
  }
}

/** A reply while it arrives. */
class ReplyReader {
  readonly #run: RunContext;
  readonly #reply = new ReplyAccumulator();
  readonly #callIds: string[] = [];
  #shown = false;
  #end: Extract<AssistantMessageEvent, { type: "done" | "error" }> | undefined;

  constructor(run: RunContext) {
    this.#run = run;
  }

  get characters(): number {
    return this.#reply.characters;
  }

  /** Takes an event: accumulates it and shows what observers see of it. */
  readonly accept = (event: AssistantMessageEvent): Promise<void> | undefined => {
    switch (event.type) {
      case "text_delta":
      case "thinking_delta":
      case "tool_call_delta":
        this.#reply.append(event);
        this.#shown = true;
        return this.#run.emitDelta(event);
      case "tool_call_start": {
        const id = this.#run.claimCallId(event.id);
        this.#callIds.push(id);
        const delta = id === event.id ? event : { ...event, id };
        this.#reply.apply(delta);
        this.#shown = true;
        return this.#run.emitDelta(delta);
      }
      case "warning":
        return this.#run.warn(event.code, event.message, event.data);
      case "done":
      case "error":
        this.#end = event;
        this.#reply.apply(event);
        return undefined;
      default:
        this.#reply.apply(event);
        return undefined;
    }
  };

  /** Takes the terminal event of a reply that was cut short: what is open in it does not matter any more. */
  readonly acceptTerminal = (event: AssistantMessageEvent): void => {
    if (event.type === "done" || event.type === "error") this.#end = event;
  };

  finish(how: "terminal" | "closed" | "aborted", stoppedBy: StoppedBy | undefined): Attempt {
    if (stoppedBy) return this.#stop(stoppedBy);
    const end = this.#end;
    if (how === "aborted") return this.#abort(end?.usage);
    if (!end) return this.fail(new NetworkError("The stream ended before the reply did"));
    if (end.type === "error") return this.fail(end.error, end.usage, end.stopReason);
    if (end.stopReason === "aborted") return this.#abort(end.usage);
    if (end.stopReason === "error") {
      return this.fail(new StreamError("The model failed"), end.usage);
    }
    const { stopReason, usage, cost } = end;
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
    const usage = this.#end?.usage ?? zeroUsage();
    return { ...this.#withoutToolCalls(), stopReason: "aborted", usage, error, stoppedBy };
  }

  /** Calls of a reply that did not end well are never answered, so they must not stand in the history. */
  #withoutToolCalls(): { readonly reply: AccumulatedReply; readonly shown: boolean } {
    this.#run.releaseCallIds(this.#callIds);
    const { reply: { content }, shown } = this.#snapshot();
    return {
      reply: { content: content.filter(({ type }) => type !== "tool_call"), calls: [] },
      shown,
    };
  }

  #snapshot(): { readonly reply: AccumulatedReply; readonly shown: boolean } {
    return { reply: this.#reply.finish(), shown: this.#shown };
  }
}

/** Why the run was aborted, as an error of the tree. */
export function createAbortedError({ cancellation: { reason } }: RunContext): AgentError {
  if (AgentError.is(reason) && reason.code === "aborted") return reason;
  return new AbortedError(undefined, { cause: reason });
}

function toStreamError(thrown: unknown): AgentError {
  if (AgentError.is(thrown)) return thrown;
  return new StreamError(`The model's stream failed: ${getErrorMessage(thrown)}`, {
    cause: thrown,
  });
}
