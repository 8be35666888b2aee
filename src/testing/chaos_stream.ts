/**
 * Faults of model calls.
 *
 * @module
 */

import { createAgentError } from "../core/errors/errors.ts";
import type {
  AssistantMessageEvent,
  StreamFn,
  StreamRequest,
  ToolCallStartEvent,
} from "../core/streams/stream.ts";
import { wrapStreamFn } from "../core/streams/wrap_stream_fn.ts";
import { type FaultPlan, MODEL_FAULTS } from "./chaos_plan.ts";

/** Time after which a call that was refused by a rate limit may be repeated. */
const RETRY_AFTER_MS = 1;

/** Length of the text that makes arguments oversized. */
const OVERSIZED_LENGTH = 200_000;

type Reply = readonly AssistantMessageEvent[];

/** Wraps a stream function, and injects the faults that a plan selects. */
export function wrapWithFaults(inner: StreamFn, plan: FaultPlan): StreamFn {
  const kept = new Map<string, Reply>();
  return wrapStreamFn(inner, (request, next) => {
    const player = new FaultyReply(request, { plan, kept, next });
    return player.play();
  });
}

interface ReplySources {
  readonly plan: FaultPlan;
  /** Complete replies that were cut, by their request. */
  readonly kept: Map<string, Reply>;
  readonly next: StreamFn;
}

/** The reply to one request, with at most one fault. */
class FaultyReply {
  readonly #request: StreamRequest;
  readonly #sources: ReplySources;

  constructor(request: StreamRequest, sources: ReplySources) {
    this.#request = request;
    this.#sources = sources;
  }

  async *play(): AsyncGenerator<AssistantMessageEvent, void> {
    const { plan } = this.#sources;
    const target = plan.nextTarget("model call");
    const planned = plan.select(target, MODEL_FAULTS);
    if (!planned) return yield* this.#callModel();
    const { fault, random } = planned;
    if (fault === "throttle") {
      plan.record(fault, target);
      return yield* refuse();
    }
    const reply = await this.#collect();
    const changed = fault === "cut_stream"
      ? this.#cut(reply, random)
      : changeCalls(reply, { fault, random, request: this.#request });
    if (changed) plan.record(fault, target);
    yield* changed ?? reply;
  }

  /** Answers with the reply that was cut before, so that a repeated request gets the same one. */
  async *#callModel(): AsyncGenerator<AssistantMessageEvent, void> {
    const { kept, next } = this.#sources;
    const reply = kept.get(this.#key);
    kept.delete(this.#key);
    yield* reply ?? next(this.#request);
  }

  async #collect(): Promise<Reply> {
    const events: AssistantMessageEvent[] = [];
    for await (const event of this.#callModel()) events.push(event);
    return events;
  }

  #cut(reply: Reply, random: () => number): Reply | undefined {
    if (reply.at(-1)?.type !== "done") return undefined;
    this.#sources.kept.set(this.#key, reply);
    return reply.slice(0, 1 + Math.floor(random() * (reply.length - 1)));
  }

  get #key(): string {
    const { model, context: { systemPrompt, messages } } = this.#request;
    return JSON.stringify([model.provider, model.modelId, systemPrompt, messages]);
  }
}

function* refuse(): Generator<AssistantMessageEvent, void> {
  const error = createAgentError("model_throttled", "Chaos: too many requests", {
    retryable: true,
    retryAfterMs: RETRY_AFTER_MS,
  });
  yield { type: "start" };
  yield { type: "error", stopReason: "error", error };
}

interface CallChange {
  readonly fault: "malformed_arguments" | "oversized_arguments" | "duplicate_ids";
  readonly random: () => number;
  readonly request: StreamRequest;
}

/** Changes one tool call of a reply; `undefined` if that is not possible. */
function changeCalls(reply: Reply, { fault, random, request }: CallChange): Reply | undefined {
  const starts = reply.filter((event) => event.type === "tool_call_start");
  const start = starts[Math.floor(random() * starts.length)];
  if (!start) return undefined;
  switch (fault) {
    case "malformed_arguments":
      return changeArguments(reply, start, (json) => damageJson(json, random));
    case "oversized_arguments":
      return changeArguments(reply, start, addLongProperty);
    case "duplicate_ids": {
      const id = findUsedId(request) ?? starts.find((other) => other !== start)?.id;
      return id === undefined
        ? undefined
        : reply.map((event) => event === start ? { ...start, id } : event);
    }
  }
}

function changeArguments(
  reply: Reply,
  { contentIndex }: ToolCallStartEvent,
  change: (json: string) => string,
): Reply {
  const isDelta = (event: AssistantMessageEvent) =>
    event.type === "tool_call_delta" && event.contentIndex === contentIndex;
  const json = reply.map((event) =>
    event.type === "tool_call_delta" && isDelta(event) ? event.delta : ""
  ).join("");
  const delta: AssistantMessageEvent = {
    type: "tool_call_delta",
    contentIndex,
    delta: change(json),
  };
  return reply.filter((event) => !isDelta(event)).flatMap((event) =>
    event.type === "tool_call_start" && event.contentIndex === contentIndex
      ? [event, delta]
      : [event]
  );
}

/** Returns other arguments; none are a call without arguments. */
function damageJson(json: string, random: () => number): string {
  const hasArguments = !/^\s*(?:\{\s*\})?\s*$/.test(json);
  const position = Math.floor(random() * json.length);
  const damages = [
    `${json.slice(0, position)}`,
    `${json}}`,
    `${json.slice(0, position)}\u0000${json.slice(position)}`,
    json.replaceAll('"', "'"),
    "[]",
    "null",
  ].filter((damaged) => damaged !== json && (hasArguments || damaged !== ""));
  return damages[Math.floor(random() * damages.length)] ?? "";
}

function addLongProperty(json: string): string {
  const property = `"chaos":"${"x".repeat(OVERSIZED_LENGTH)}"`;
  const end = json.lastIndexOf("}");
  if (end < 0) return `{${property}}`;
  const isEmpty = /^\s*\{\s*\}\s*$/.test(json);
  return `${json.slice(0, end)}${isEmpty ? "" : ","}${property}}`;
}

function findUsedId({ context: { messages } }: StreamRequest): string | undefined {
  for (const message of messages) {
    if (message.role === "tool_result") return message.toolCallId;
  }
  return undefined;
}
