/**
 * A turn's model call: from the history to a finished assistant message.
 *
 * @module
 */

import type { FinishedCall } from "../core/accumulate.ts";
import type { CompactionReport } from "../core/context.ts";
import type { AgentError } from "../core/errors.ts";
import type { AssistantMessage } from "../core/message.ts";
import type { ModelSpec } from "../core/model.ts";
import type { StoppedBy } from "../core/policy.ts";
import type { LlmContext } from "../core/stream.ts";
import { addCost, addUsage, zeroCost, zeroUsage } from "../core/usage.ts";
import { type Answer, callWithFallback, createAbortedAttempt } from "./call_with_fallback.ts";
import { createAbortedError } from "./attempt.ts";
import type { TurnSettings } from "./config.ts";
import { prepareSmallerContext } from "./overflow.ts";
import { prepareContext, type PreparedContext } from "./request.ts";
import { toHookError } from "./hook_error.ts";
import type { RunContext } from "./run_context.ts";

/** What the model said. */
export interface ModelReply {
  /** The message, as it stands in the history. */
  readonly message: AssistantMessage;
  /** Its tool calls; none when it failed or was aborted. */
  readonly calls: readonly FinishedCall[];
  /** What went wrong, if anything. */
  readonly error?: AgentError;
  /** The policy that stopped the reply, if one did. */
  readonly stoppedBy?: StoppedBy;
}

/**
 * Asks the model and shows the reply as it comes. Never rejects; a failure is a reply whose `stopReason` says so.
 */
export async function callModel(run: RunContext, settings: TurnSettings): Promise<ModelReply> {
  const opening = new MessageStart(run, settings.model);
  const answer = await answerOf(run, settings, opening);
  await opening.emitOnce();
  const reply = createReply(run, answer);
  run.addUsage(reply.message.usage, reply.message.cost);
  run.append(reply.message);
  await run.emit({ type: "message_end", message: reply.message });
  return reply;
}

/** The assistant's `message_start`: once per turn, before anything of the reply, however it goes. */
class MessageStart {
  readonly #run: RunContext;
  readonly #model: ModelSpec;
  #emitted = false;

  constructor(run: RunContext, model: ModelSpec) {
    this.#run = run;
    this.#model = model;
  }

  async emitOnce(): Promise<void> {
    if (this.#emitted) return;
    this.#emitted = true;
    const message = createEmptyMessage(this.#model, this.#run.config.now());
    await this.#run.emit({ type: "message_start", message });
  }
}

async function answerOf(
  run: RunContext,
  settings: TurnSettings,
  opening: MessageStart,
): Promise<Answer> {
  const { model } = settings;
  const { memory } = run.config;
  try {
    if (run.cancellation.aborted) return unsentAnswer(model, createAbortedAttempt(run));
    const prepared = await prepareContext(run, settings, memory.overflowed);
    const answer = await ask(run, { model, prepared, opening });
    if (answer.attempt.error?.code !== "context_window_overflow") return settle(run, answer);
    return settle(
      run,
      await retryWithSmallerContext(run, settings, { refused: prepared, answer, opening }),
    );
  } catch (thrown) {
    if (run.cancellation.aborted) return unsentAnswer(model, createAbortedAttempt(run));
    const error = toHookError("A hook", thrown);
    return unsentAnswer(model, { ...createAbortedAttempt(run), stopReason: "error", error });
  }
}

interface ModelRequest {
  readonly model: ModelSpec;
  readonly prepared: PreparedContext;
  readonly opening: MessageStart;
}

async function ask(run: RunContext, { model, prepared, opening }: ModelRequest): Promise<Answer> {
  const { context, report } = prepared;
  if (report) await emitCompaction(run, report);
  await opening.emitOnce();
  await run.untilDelivered();
  return await callWithFallback(run, model, context);
}

/** Writing a summary takes tokens too; they are the run's own. */
async function emitCompaction(run: RunContext, report: CompactionReport): Promise<void> {
  run.addUsage(report.usage ?? zeroUsage(), report.cost ?? zeroCost());
  await run.emit({ type: "context_compacted", report });
}

interface Refusal {
  readonly refused: { readonly context: LlmContext };
  readonly answer: Answer;
  readonly opening: MessageStart;
}

/** The second question of a turn whose first was too long; the refusal itself when there is nothing to leave out. */
async function retryWithSmallerContext(
  run: RunContext,
  settings: TurnSettings,
  { refused, answer, opening }: Refusal,
): Promise<Answer> {
  const { error, shown } = answer.attempt;
  let prepared: PreparedContext | undefined;
  try {
    prepared = await prepareSmallerContext(run, settings, refused.context);
  } catch (thrown) {
    if (!run.cancellation.aborted) return failAnswer(toHookError("A hook", thrown), answer);
  }
  if (run.cancellation.aborted) return failAnswer(createAbortedError(run), answer);
  if (!prepared) return answer;
  if (error && shown) {
    await run.emit({ type: "retry", attempt: 1, delayMs: 0, error, discard: true });
  }
  const second = await ask(run, { model: settings.model, prepared, opening });
  const usage = addUsage(answer.usage, second.usage);
  return { ...second, usage, cost: addCost(answer.cost, second.cost) };
}

/** An answer that ends otherwise than it did; what it has shown and used is kept. */
function failAnswer(error: AgentError, answer: Answer): Answer {
  const stopReason = error.code === "aborted" ? "aborted" : "error";
  return { ...answer, attempt: { ...answer.attempt, stopReason, error } };
}

/** Remembers whether the next run must begin by leaving something out. */
function settle(run: RunContext, answer: Answer): Answer {
  const { error, stopReason } = answer.attempt;
  if (stopReason !== "aborted") {
    run.config.memory.overflowed = error?.code === "context_window_overflow";
  }
  return answer;
}

function createReply(run: RunContext, { attempt, model, usage, cost }: Answer): ModelReply {
  const { reply: { content, calls }, stopReason, error, stoppedBy } = attempt;
  const message: AssistantMessage = {
    ...createEmptyMessage(model, run.config.now()),
    content,
    usage,
    cost,
    stopReason,
    ...(error && { errorMessage: error.message, errorCode: error.code }),
  };
  return { message, calls, ...(error && { error }), ...(stoppedBy && { stoppedBy }) };
}

function unsentAnswer(model: ModelSpec, attempt: Answer["attempt"]): Answer {
  return { attempt, model, usage: zeroUsage(), cost: zeroCost() };
}

function createEmptyMessage({ provider, modelId }: ModelSpec, timestamp: number): AssistantMessage {
  return {
    role: "assistant",
    content: [],
    provider,
    modelId,
    usage: zeroUsage(),
    cost: zeroCost(),
    stopReason: "stop",
    timestamp,
  };
}
