/**
 * Lets a model score an answer.
 *
 * @module
 */

import { describeValue } from "../../core/errors/describe_value.ts";
import { BadRequestError, getErrorMessage } from "../../core/errors/errors.ts";
import { isJsonObject, type JsonObject } from "../../core/json/json.ts";
import { toCanonicalText } from "../../core/json_schema/canonical_text.ts";
import { abortable } from "../../core/ports/abortable.ts";
import { MAX_TIMER_MS } from "../../core/ports/ports.ts";
import type { EvalContext, Evaluator } from "./evaluator.ts";
import { createJudgePrompt, JUDGE_PROMPT_VERSION, type JudgeTopic } from "./judge_prompt.ts";
import { readThreshold } from "./read_number.ts";
import { createBinaryScore, type Score } from "./score.ts";

/** A score from this value on passes. */
const DEFAULT_THRESHOLD = 0.7;

/** The model that scores answers. */
export interface JudgeModel {
  /** Name of the model, part of the key of the cache. */
  readonly name: string;
  /** Returns the answer to a prompt with its cost; that of a text alone is unknown. */
  ask(prompt: string, options: JudgeRequestOptions): Promise<string | JudgeAnswer>;
}

/** Options of a request to a judge. */
export interface JudgeRequestOptions {
  /** Sends requests; for the adapter of the model, so that they are recorded and replayed. */
  readonly fetch: typeof globalThis.fetch;
  /** Aborted when the evaluation is cancelled, and when the time of the request is over. */
  readonly signal: AbortSignal;
}

/** The answer of a judge with its cost. */
export interface JudgeAnswer {
  /** The text. */
  readonly text: string;
  /** Cost in US dollars; `null` if it is unknown. */
  readonly cost: number | null;
}

/** Port: keeps the answers of a judge by their key. A `Map` is one; `LruJudgeCache` limits their number. */
export interface JudgeCache {
  /** Returns an answer, if there is one. */
  get(key: string): string | undefined;
  /** Keeps an answer. */
  set(key: string, answer: string): unknown;
}

/** Options for `createJudgeEvaluator()`. */
export interface JudgeOptions {
  /** The model. */
  readonly model: JudgeModel;
  /** Number of further attempts after an error or an answer that is no score. Default: 2. */
  readonly maxRetries?: number | undefined;
  /** Time of each attempt in milliseconds. Default: 120,000. */
  readonly timeoutMs?: number | undefined;
  /** Keeps answers by model and prompt; not used for runs that are recorded or replayed. Default: none are kept. */
  readonly cache?: JudgeCache | undefined;
}

/**
 * Creates an evaluator named after its topic, such as `correctness`, for cases that name it. Options of a case: `rubric`, a
 * text with the expectations, and `threshold`, the lowest score that passes; default: 0.7.
 *
 * A score out of range is replaced by the nearest one, and kept as `rawValue`; such a score does not pass. The metric
 * fails if the last attempt has no score.
 *
 * @throws {BadRequestError} If `maxRetries` is not a whole number of at least 0, or `timeoutMs` is not above 0.
 *
 * @example
 * ```ts
 * import { Agent } from "@swink/agent";
 * import { connect } from "@swink/agent/adapters";
 * import {
 *   createJudgeEvaluator,
 *   EvaluatorRegistry,
 *   type JudgeModel,
 *   LruJudgeCache,
 * } from "@swink/agent/eval";
 *
 * const model: JudgeModel = {
 *   name: "anthropic/claude-sonnet-5-5",
 *   ask: async (prompt, { fetch, signal }) => {
 *     const judge = new Agent({ model: model.name, streamFn: connect({ fetch }) });
 *     const { text, cost, error } = await judge.prompt(prompt, { signal });
 *     if (error) throw error;
 *     return { text, cost: cost.total };
 *   },
 * };
 * const registry = EvaluatorRegistry.createDefault();
 * registry.register(createJudgeEvaluator("correctness", { model, cache: new LruJudgeCache() }));
 * ```
 */
export function createJudgeEvaluator(topic: JudgeTopic, options: JudgeOptions): Evaluator {
  const { maxRetries = 2, timeoutMs = 120_000 } = options;
  if (!Number.isInteger(maxRetries) || maxRetries < 0) {
    throw new BadRequestError(`maxRetries must be a whole number of at least 0, not ${maxRetries}`);
  }
  if (!(timeoutMs > 0)) {
    throw new BadRequestError(`timeoutMs must be a number above 0, not ${timeoutMs}`);
  }
  return {
    name: topic,
    optionNames: ["rubric", "threshold"],
    checkOptions: readOptions,
    timeoutMs: Infinity,
    evaluate: async (context) => {
      const { rubric, threshold } = readOptions(context.options);
      const prompt = createJudgePrompt(topic, { ...context, rubric });
      const judged = await askWithRetries(prompt, { ...options, maxRetries, timeoutMs, context });
      if (judged.type === "verdict") return toScore(topic, judged, threshold);
      const failure = createBinaryScore(topic, false, `The evaluator failed: ${judged.reason}`);
      return addCost(failure, judged.cost);
    },
  };
}

/** A judgement. */
interface Verdict {
  readonly score: number;
  readonly reason: string;
}

/** The end of all attempts, with their cost. */
type Judged =
  & { readonly cost: number | null }
  & (
    | { readonly type: "verdict" } & Verdict
    | { readonly type: "failed"; readonly reason: string }
  );

interface AskOptions extends JudgeOptions {
  readonly maxRetries: number;
  readonly timeoutMs: number;
  readonly context: EvalContext;
}

async function askWithRetries(prompt: string, options: AskOptions): Promise<Judged> {
  const { model, maxRetries, context: { signal, isRecorded } } = options;
  const cache = isRecorded ? undefined : options.cache;
  const key = toCanonicalText([JUDGE_PROMPT_VERSION, model.name, prompt]);
  const cached = readCached(cache?.get(key));
  if (cached) return { type: "verdict", ...cached, cost: 0 };
  let cost: number | null = 0;
  for (let attempt = 0;; attempt++) {
    try {
      const answer = await askOnce(prompt, options);
      cost = cost === null || answer.cost === null ? null : cost + answer.cost;
      const verdict = parseVerdict(answer.text);
      cache?.set(key, answer.text);
      return { type: "verdict", ...verdict, cost };
    } catch (error) {
      signal.throwIfAborted();
      if (attempt < maxRetries) continue;
      const reason = `No score after ${attempt + 1} attempts: ${getErrorMessage(error)}`;
      return { type: "failed", reason, cost };
    }
  }
}

/** Returns the judgement of an answer in the cache; a cache on disk can be damaged, and the judge is then asked. */
function readCached(answer: string | undefined): Verdict | undefined {
  try {
    return answer === undefined ? undefined : parseVerdict(answer);
  } catch {
    return undefined;
  }
}

async function askOnce(
  prompt: string,
  { model, timeoutMs, context }: AskOptions,
): Promise<JudgeAnswer> {
  const timeout = new AbortController();
  const timer = setTimeout(
    () => timeout.abort(new Error(`no answer within ${timeoutMs} ms`)),
    Math.min(timeoutMs, MAX_TIMER_MS),
  );
  const signal = AbortSignal.any([context.signal, timeout.signal]);
  try {
    const { fetch = globalThis.fetch } = context;
    const asking = Promise.resolve(model.ask(prompt, { fetch, signal }));
    const answer: unknown = await abortable(asking, signal);
    if (typeof answer === "string") return { text: answer, cost: null };
    if (isJsonObject(answer) && typeof answer["text"] === "string") {
      const { text, cost } = answer;
      return { text, cost: typeof cost === "number" && cost >= 0 ? cost : null };
    }
    throw new TypeError(`The judge must return a text, not ${describeValue(answer)}`);
  } finally {
    clearTimeout(timer);
  }
}

/** Parses the JSON object in an answer, which may be in a code block, or have other texts around it. */
function parseVerdict(answer: string): Verdict {
  const verdict = parseObject(answer) ?? findScore(answer);
  if (verdict) return verdict;
  throw new Error("The answer of the judge has no score, or several ones");
}

function parseObject(answer: string): Verdict | undefined {
  const start = answer.indexOf("{");
  const end = answer.lastIndexOf("}") + 1;
  if (isInSentence(answer, { start, end })) return undefined;
  try {
    const json = answer.slice(start, end);
    const value: unknown = JSON.parse(json);
    const { score, reason } = isJsonObject(value) ? value : {};
    if (typeof score !== "number") return undefined;
    // JSON keeps the last of two scores, which can be from a quotation that is not escaped.
    if (countScores(json) !== countScores(JSON.stringify(value))) return undefined;
    return { score, reason: typeof reason === "string" ? reason : "" };
  } catch {
    return undefined;
  }
}

const SCORE = /["']score["']\s*:\s*(-?\d*\.?\d+(?:e[+-]?\d+)?)\s*(?:[,}\n]|$)/gi;

function countScores(json: string): number {
  return [...json.matchAll(SCORE)].length;
}

/** Matches a score in any form, such as `"score": "0.2"`, `Score: 2/10` or `**Score:** 0.2`. */
const ANY_SCORE = /\bscore\b["'`*\\]*\s*[:=]["'`*\\]*\s*([^\s,}]*)/gi;

/**
 * Finds the only score of an answer that is not JSON as a whole: judges also quote code with braces, or do not escape
 * quotation marks. With another score, such as one that the judged answer has, it is unknown which is that of the judge.
 */
function findScore(answer: string): Verdict | undefined {
  const [match, ...others] = answer.matchAll(SCORE);
  if (!match) return undefined;
  const score = Number(match[1]);
  const isOnly = [...others, ...answer.matchAll(ANY_SCORE)].every(([, other]) =>
    Number(other) === score
  );
  const end = answer.indexOf("}", match.index) + 1 || answer.length;
  if (!isOnly || isInSentence(answer, { start: match.index, end })) return undefined;
  return { score, reason: answer.trim() };
}

/** Whether a line has words before an object and continues after it: a judge quotes what it was asked to answer. */
function isInSentence(answer: string, { start, end }: { start: number; end: number }): boolean {
  const before = answer.slice(answer.lastIndexOf("\n", start) + 1, Math.max(start, 0));
  const [after = ""] = answer.slice(end).split("\n", 1);
  return /\w/.test(before) && /[^\s`*}\]]/.test(after);
}

function toScore(
  metric: string,
  { score, reason, cost }: Verdict & Pick<Judged, "cost">,
  threshold: number,
): Score {
  const value = Math.min(1, Math.max(0, score));
  const isInRange = value === score;
  return addCost({
    metric,
    value,
    passed: isInRange && value >= threshold,
    reason: !isInRange
      ? `The judge returned ${score}, which is out of range. ${reason}`
      : value < threshold
      ? `The score of ${score} is below ${threshold}. ${reason}`
      : reason,
    ...(!isInRange && { rawValue: score }),
  }, cost);
}

function addCost(score: Score, cost: number | null): Score {
  return cost === 0 ? score : { ...score, cost };
}

interface JudgeCaseOptions {
  readonly rubric: string | undefined;
  readonly threshold: number;
}

function readOptions(options: JsonObject): JudgeCaseOptions {
  const rubric = options["rubric"];
  if (rubric !== undefined && typeof rubric !== "string") {
    throw new BadRequestError('The option "rubric" must be a text');
  }
  return { rubric, threshold: readThreshold(options) ?? DEFAULT_THRESHOLD };
}
