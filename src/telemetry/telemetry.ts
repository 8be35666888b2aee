/**
 * OpenTelemetry for agents.
 *
 * @module
 */

import type { Agent } from "../agent/agent.ts";
import { BadRequestError } from "../core/errors/errors.ts";
import {
  type Instrumentation,
  instrumentations,
  type InstrumentedRun,
  type RunObserver,
} from "../core/hooks/instrumentation.ts";
import { importApi } from "./api_package.ts";
import { Metrics } from "./metrics.ts";
import { checkTelemetryOptions, type TelemetryOptions } from "./options.ts";
import { type DescribedAgent, RunSpans, type SpanServices } from "./run_spans.ts";

/** Name of the instrumentation. */
const SCOPE = "@swink/agent";

/** Observes agents. */
export interface Telemetry {
  /**
   * Observes the runs of an agent that start from now on, and those of agents that its tools run. Returns a function that
   * ends this.
   *
   * @throws {BadRequestError} If something observes the agent already.
   */
  observe(agent: Pick<Agent, "state" | "subscribe">): () => void;
}

/**
 * Creates spans and metrics of the runs of agents by the GenAI conventions of OpenTelemetry, with the providers that the
 * program has registered. Without a provider it has no effect.
 *
 * A run is a span `invoke_agent`, a model call with its retries a span `chat`, a tool call a span `execute_tool`. They
 * are active while the model is called and the tool runs, so that spans of other instrumentations, such as those of
 * `fetch`, become their children. MCP servers get the headers of the trace. Content is recorded only if
 * {@linkcode TelemetryOptions.content} is set.
 *
 * @example
 * ```ts ignore
 * import { Agent } from "@swink/agent";
 * import { telemetry } from "@swink/agent/telemetry";
 *
 * const agent = new Agent({ model: "anthropic/claude-sonnet-5-5" });
 * const { observe } = await telemetry();
 * observe(agent);
 * await agent.prompt("Hello"); // one span `invoke_agent`, with a child `chat claude-sonnet-5-5`
 * ```
 *
 * @throws {BadRequestError} If `@opentelemetry/api` is not installed, or an option is invalid.
 */
export async function telemetry(options: TelemetryOptions = {}): Promise<Telemetry> {
  checkTelemetryOptions(options);
  const { api = await importApi(), content, agentName: name } = options;
  const { agentDescription: description, agentVersion: version } = options;
  const services = {
    api,
    tracer: options.tracer ?? api.trace.getTracer(SCOPE),
    metrics: new Metrics(options.meter ?? api.metrics.getMeter(SCOPE)),
    filterContent: content === true ? (text: string) => text : content || undefined,
  };
  const instrumentation = new SpanInstrumentation(services, { name, description, version });
  return { observe: (agent) => observeAgent(agent, instrumentation) };
}

const observedAgents = new WeakSet<object>();

function observeAgent(
  agent: Pick<Agent, "state" | "subscribe">,
  instrumentation: Instrumentation,
): () => void {
  if (observedAgents.has(agent)) {
    throw new BadRequestError("The agent is already observed: end that first");
  }
  observedAgents.add(agent);
  instrumentations.set(agent.state, instrumentation);
  const unsubscribe = agent.subscribe(({ type }) => {
    // After `reset()`, the agent has another state.
    if (type === "agent_start") instrumentations.set(agent.state, instrumentation);
  });
  let isEnded = false;
  return () => {
    if (isEnded) return;
    isEnded = true;
    unsubscribe();
    observedAgents.delete(agent);
    instrumentations.delete(agent.state);
  };
}

/** Difference of the times of two clocks that only sleep explains, in milliseconds. */
const SLEEP_MS = 1_000;

/**
 * Returns a clock in milliseconds since the epoch for a run and those of its sub-agents, which never goes back. It follows
 * the time of the system: `performance.now()` stands still while a computer sleeps.
 */
function startClock(): () => number {
  let origin = Date.now() - performance.now();
  return () => {
    const time = origin + performance.now();
    const slept = Date.now() - time;
    if (slept < SLEEP_MS) return time;
    origin += slept;
    return time + slept;
  };
}

class SpanInstrumentation implements Instrumentation {
  readonly #services: Omit<SpanServices, "now">;
  readonly #agent: DescribedAgent;
  readonly #runs = new Map<string, RunSpans>();

  constructor(services: Omit<SpanServices, "now">, agent: DescribedAgent) {
    this.#services = services;
    this.#agent = agent;
  }

  /** Starts the spans of a run. An agent that a tool runs is named after the tool. */
  readonly observeRun = (run: InstrumentedRun): RunObserver => {
    const { runId, parent } = run;
    const caller = parent && this.#runs.get(parent.runId);
    const spans = new RunSpans({
      ...this.#services,
      now: caller?.now ?? startClock(),
      run,
      agent: parent ? { name: caller?.getToolName(parent.toolCallId) } : this.#agent,
      // The call of an agent that works in the background has ended.
      parent: (parent && caller?.getToolContext(parent.toolCallId)) ??
        this.#services.api.context.active(),
      onEnd: () => this.#runs.delete(runId),
    });
    this.#runs.set(runId, spans);
    return spans;
  };
}
