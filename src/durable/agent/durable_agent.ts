/**
 * An agent whose effects are steps of a durable run.
 *
 * @module
 */

import { Agent } from "../../agent/agent.ts";
import { createDefaultStream } from "../../agent/default_stream.ts";
import type { AgentOptions } from "../../agent/options.ts";
import type { PendingApproval } from "../../core/approval/approval.ts";
import { addDurableRun, removeDurableRun } from "../../core/durable/durable_runs.ts";
import type { DurableSteps, RunMessage, StepContext } from "../../core/durable/durable_steps.ts";
import { AbortedError, BadRequestError } from "../../core/errors/errors.ts";
import type { AgentEvent } from "../../core/events/event.ts";
import type { ApprovalAnswer, ApprovalRequest, Approve } from "../../core/hooks/approve.ts";
import { isJsonObject } from "../../core/json/json.ts";
import type { Prices } from "../../core/models/usage.ts";
import { abortable } from "../../core/ports/abortable.ts";
import { type IdKind, realSleep, resolvePorts, type Sleep } from "../../core/ports/ports.ts";
import type { StreamFn } from "../../core/streams/stream.ts";
import { setStreamOrigin } from "../../core/streams/stream_origin.ts";
import { wrapStreamFn } from "../../core/streams/wrap_stream_fn.ts";
import { decodeBase64, encodeBase64 } from "../../core/text/byte_encoding.ts";
import type { AgentTool } from "../../core/tools/tool.ts";
import { GRACE_MS } from "../../loop/callbacks/cancellation.ts";
import { type GetApiKey, toModelFallback } from "../../loop/run/config.ts";
import { CHECK_INTERVAL_MS } from "../../loop/run/turn_monitor.ts";
import { getApprovalSignal } from "../engine/engine_run.ts";
import type { ApprovalNotice } from "../engine/pending_approvals.ts";
import { hashJson } from "../steps/hash_json.ts";
import { RunSteps } from "../steps/run_steps.ts";
import { DurableCalls } from "./durable_calls.ts";
import { streamStep, streamWithKey } from "./durable_stream.ts";
import { PolicyChecks } from "./policy_checks.ts";
import { RecordedRates } from "./recorded_rates.ts";
import { wrapRunTools } from "./wrap_run_tools.ts";

/** Why a call is denied whose approval steering has ended. */
const INTERRUPTED = "the approval was interrupted";

/** Time in which the step of a cancelled call must be recorded before the loop continues, in milliseconds. */
const RECORD_MS = 30_000;

/**
 * Creates an agent in a workflow. Its model calls, tool calls, approvals, retries, files, time, ids and random numbers are
 * steps of the run, so that it can be continued by another process; messages to the run steer and abort it.
 *
 * A tool with `sideEffect: "once"`, the default for tools that are not read-only, is never executed twice: a step before
 * the call records that it begins. Other tools are executed again after a crash, with the same `idempotencyKey`. An
 * `approve` that answers `{ type: "pending" }` makes the run wait for `DurableRun.decide()`.
 *
 * Hooks, policies and listeners are called again in a replay: they must be deterministic, or use steps of their own.
 * The system prompt, the tools and the options may change between two processes.
 *
 * @throws {BadRequestError} If an option is invalid, or the steps are not those of an engine.
 *
 * @example
 * ```ts
 * import { InProcessEngine, durableAgent } from "@swink/agent/durable";
 * import { InMemorySessionStore } from "@swink/agent/memory";
 * import { reply, scriptedStream } from "@swink/agent/testing";
 *
 * const streamFn = scriptedStream([reply("Hello!")]);
 * await using engine = new InProcessEngine({ store: new InMemorySessionStore() });
 * const chat = engine.register("chat", async (steps, prompt: string) => {
 *   const agent = durableAgent({ model: "any/model", streamFn }, steps);
 *   return (await agent.prompt(prompt)).text;
 * });
 * await engine.start();
 * const run = await chat.start("Greet me", { id: "greeting-1" });
 * await run.result(); // "Hello!"
 * ```
 */
export function durableAgent<Tool extends AgentTool<never> = AgentTool>(
  options: AgentOptions<Tool>,
  steps: DurableSteps,
): Agent<Tool> {
  if (!(steps instanceof RunSteps)) {
    throw new BadRequestError("Pass the steps that the engine passes to the workflow");
  }
  const bridge = new AgentBridge(options as unknown as AgentOptions, steps);
  return bridge.agent as unknown as Agent<Tool>;
}

/** Connects an agent with the steps of a run. */
class AgentBridge {
  readonly agent: Agent;
  readonly #steps: RunSteps;
  readonly #calls: DurableCalls;
  readonly #sleep: Sleep;
  readonly #interrupt: NonNullable<AgentOptions["interrupt"]>;
  readonly #prices: Prices | undefined;
  readonly #rates = new RecordedRates();
  readonly #checks: PolicyChecks;
  readonly #counts: Record<string, number> = {};
  /** Id of the run of the engine, with the number of the agent if it is not the first one of the run. */
  readonly #id: string;
  #runId: string | undefined;
  #runName = "";
  #turn = 1;
  #modelCalls = 0;
  #approvals = 0;
  /** Number of decisions for which the agent waits. */
  #awaited = 0;
  #isRetrying = false;

  constructor(options: AgentOptions, steps: RunSteps) {
    this.#steps = steps;
    const number = steps.addAgent();
    // The ids of calls may be equal in two agents, whose idempotency keys must differ.
    this.#id = number === 1 ? steps.runId : `${steps.runId}/agent-${number}`;
    this.#sleep = options.sleep ?? realSleep;
    this.#interrupt = options.interrupt ?? "cancel";
    this.#prices = options.prices;
    const isWaiting = () => this.#awaited > 0;
    this.#checks = new PolicyChecks({ steps, sleep: this.#sleep, isWaiting });
    this.#calls = new DurableCalls(steps, {
      checks: this.#checks,
      interrupt: this.#interrupt,
      ports: resolvePorts({ sleep: options.sleep }),
      findTool: (name) => this.agent.state.tools.find((tool) => tool.name === name),
      getTurnName: () => this.#turnName,
    });
    const { streamFn = createDefaultStream(), getApiKey, fallback, approve, readFile, tools } =
      options;
    this.agent = new Agent({
      ...options,
      getApiKey: undefined,
      prices: isPrices(options.prices) ? this.#rates.wrap(options.prices) : options.prices,
      streamFn: this.#wrapStream(streamFn, getApiKey),
      fallback: fallback?.map(toModelFallback).map((model) => ({
        ...model,
        getApiKey: undefined,
        streamFn: this.#wrapStream(model.streamFn ?? streamFn, model.getApiKey ?? getApiKey),
      })),
      tools: tools?.map((tool) => this.#calls.wrap(tool)),
      approve: approve && this.#wrapApprove(approve),
      readFile: readFile && ((path) => this.#readFile(path, readFile)),
      now: () => steps.now(),
      newId: (kind) => this.#createId(kind),
      random: () => this.#createRandom(),
      sleep: (milliseconds, signal) => this.#wait(milliseconds, signal),
    });
    wrapRunTools(this.agent, (tool) => this.#calls.wrap(tool));
    this.agent.subscribe((event) => this.#onEvent(event));
    steps.onMessage((message) => this.#onMessage(message));
  }

  /** Returns a text that a run has in each execution; an engine may use its id again for another one. */
  #getRunKey(runId: string): string {
    return `${this.#steps.startedAt} ${runId}`;
  }

  get #turnName(): string {
    return `${this.#runName}turn ${this.#turn}`;
  }

  #onEvent(event: AgentEvent): void {
    switch (event.type) {
      case "agent_start":
        this.#steps.runningAgents.add(this);
        this.#runId = event.runId;
        addDurableRun(event.runId, this.#getRunKey(event.runId));
        this.#runName = this.#counts["run"] === 1 ? "" : `run ${this.#counts["run"]}, `;
        this.#turn = 1;
        // The abort came when the agent did not run.
        if (this.#steps.signal.aborted) this.agent.abort(this.#steps.signal.reason);
        break;
      case "agent_end":
        this.#steps.runningAgents.delete(this);
        if (this.#runId !== undefined) removeDurableRun(this.#runId, this.#getRunKey(this.#runId));
        break;
      case "turn_start":
        this.#turn = event.turn;
        this.#modelCalls = this.#approvals = 0;
        break;
      case "retry":
        this.#isRetrying = event.delayMs > 0;
        break;
    }
    this.#calls.onEvent(event);
  }

  #onMessage(message: RunMessage): void {
    const { runningAgents } = this.#steps;
    // Another agent of the run must not act on it, too.
    const isForOther = runningAgents.size > 0 && !runningAgents.has(this);
    switch (message.type) {
      case "steer":
        if (!isForOther) this.agent.steer(message.message);
        return;
      case "follow_up":
        if (!isForOther) this.agent.followUp(message.message);
        return;
      case "abort":
        this.agent.abort(this.#steps.signal.reason);
        return;
      case "signal":
        return;
    }
  }

  /** Makes the calls of the agent steps; those of agents that a tool runs are part of the step of the tool. */
  #wrapStream(streamFn: StreamFn, getApiKey: GetApiKey | undefined): StreamFn {
    const wrapped = wrapStreamFn(streamFn, (request, next) => {
      if (request.runId === undefined || request.runId !== this.#runId) {
        return getApiKey ? streamWithKey({ request, streamFn: next, getApiKey }) : next(request);
      }
      const name = `${this.#turnName}, model call ${++this.#modelCalls}`;
      const prices = () => this.#prices ?? next.prices;
      const source = { request, streamFn: next, getApiKey };
      const services = { prices, rates: this.#rates, checks: this.#checks };
      return streamStep(this.#steps, { name, ...source, ...services });
    });
    const prices = this.#rates.wrap(streamFn.prices);
    Object.defineProperty(wrapped, "prices", {
      // Without any prices, a cost is not reported as unknown.
      get: () => streamFn.prices || this.#rates.isUsed ? prices : undefined,
      enumerable: true,
    });
    return setStreamOrigin(wrapped, streamFn);
  }

  /** Makes the calls of `approve` steps. A proxy keeps the other members of an approval gate, which sessions restore. */
  #wrapApprove(approve: Approve): Approve {
    const call = async (request: Parameters<Approve>[0]) => {
      const { toolCallId, name, arguments: args } = request;
      const step = `${this.#turnName}, approval ${++this.#approvals} of ${name}`;
      const execute = ({ signal }: StepContext) => this.#callApprove(approve, request, signal);
      const answer = await this.#steps.run(step, execute, { input: [toolCallId, name, args] });
      if (!isJsonObject(answer) || answer["type"] !== "pending") return answer;
      const approval: PendingApproval = { toolCallId, name, arguments: args };
      return await this.#awaitDecision(approval, `${step}: decision`);
    };
    return new Proxy(approve, { apply: (_target, _self, [request]) => call(request) });
  }

  /** Calls `approve` until it answers, or a message ends the approval, which is delivered when the step has ended. */
  async #callApprove(
    approve: Approve,
    request: ApprovalRequest,
    aborted: AbortSignal,
  ): Promise<ApprovalAnswer> {
    const steered = new AbortController();
    const onArrival = () => {
      const isSteered = this.#steps.arrived.some(({ message }) => message.type === "steer");
      if (isSteered && this.#interrupt === "cancel") steered.abort(new AbortedError(INTERRUPTED));
    };
    const unsubscribe = this.#steps.onArrival(onArrival);
    onArrival();
    const signal = AbortSignal.any([request.signal, aborted, steered.signal]);
    try {
      signal.throwIfAborted();
      return await abortable(Promise.resolve(approve({ ...request, signal })), signal);
    } finally {
      unsubscribe();
    }
  }

  async #awaitDecision(approval: PendingApproval, step: string): Promise<ApprovalAnswer> {
    const { toolCallId } = approval;
    const signal = getApprovalSignal(toolCallId);
    // A second or late decision on a call must not decide about that of another agent, which may have the same id.
    this.#steps.beginApproval(signal);
    this.#publish({ type: "approval_awaited", approval });
    this.#awaited++;
    await this.#steps.waitUntil(step, {
      isAwaited: ({ message }) =>
        message.type === "signal"
          ? message.name === signal
          : message.type === "steer" && this.#interrupt === "cancel",
    }).finally(() => this.#awaited--);
    this.#publish({ type: "approval_settled", toolCallId });
    const decision = this.#steps.takeSignal(signal);
    // Steering has ended the wait, and with it the approval.
    if (decision === undefined) return { type: "denied", reason: INTERRUPTED };
    return decision as ApprovalAnswer;
  }

  /** Publishes a notice; it is not awaited, so that the step after it begins at once, as in every replay. */
  #publish(notice: ApprovalNotice): void {
    this.#steps.publish(notice).catch(() => {});
  }

  async #readFile(
    path: string,
    readFile: NonNullable<AgentOptions["readFile"]>,
  ): Promise<Uint8Array> {
    const execute = async ({ signal }: StepContext) =>
      encodeBase64(await abortable(Promise.resolve(readFile(path)), signal));
    const options = { input: path };
    return decodeBase64(await this.#steps.run(`${this.#turnName}, file ${path}`, execute, options));
  }

  #createId(kind: IdKind): string {
    const count = this.#counts[kind] = (this.#counts[kind] ?? 0) + 1;
    if (kind === "run") return count === 1 ? this.#id : `${this.#id}/${count}`;
    return `${this.#id}/${kind}-${count}`;
  }

  #createRandom(): number {
    const count = this.#counts["random"] = (this.#counts["random"] ?? 0) + 1;
    return parseInt(hashJson([this.#id, count]), 36) / 2 ** 53;
  }

  /** Waits for a retry as a step. Timeouts of tools are part of their steps. */
  async #wait(milliseconds: number, signal?: AbortSignal): Promise<void> {
    if (this.#isRetrying) {
      this.#isRetrying = false;
      return await this.#steps.pause(`${this.#turnName}, retry ${this.#modelCalls}`, milliseconds);
    }
    if (milliseconds === CHECK_INTERVAL_MS) return await this.#checks.wait(signal);
    const isGrace = milliseconds === GRACE_MS && this.#calls.takeCancellation();
    await this.#sleep(isGrace ? RECORD_MS : milliseconds, signal);
  }
}

/** Whether a value is a price list; the agent refuses any other. */
function isPrices(prices: unknown): prices is Prices {
  return typeof prices === "function" || isJsonObject(prices);
}
