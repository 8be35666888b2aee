/**
 * An agent in a random environment.
 *
 * @module
 */

import { assert, assertEquals } from "@std/assert";
import { Agent } from "../../src/agent/agent.ts";
import type { AgentResult } from "../../src/agent/agent_result.ts";
import type { AgentStream } from "../../src/agent/agent_stream.ts";
import type { AgentOptions } from "../../src/agent/options.ts";
import type { ContinueOptions } from "../../src/agent/run_options.ts";
import type { ApprovalDecision } from "../../src/core/approval/approval.ts";
import { AgentError } from "../../src/core/errors/errors.ts";
import type { AgentEvent } from "../../src/core/events/event.ts";
import { extractText } from "../../src/core/messages/content.ts";
import type { AgentTool } from "../../src/core/tools/tool.ts";
import { EventGrammar } from "../../src/testing/event_grammar.ts";
import { ManualClock } from "../../src/testing/manual_clock.ts";
import { reply } from "../../src/testing/script.ts";
import { outlineMessages } from "../conformance/outline.ts";
import { scriptedPorts } from "../conformance/ports.ts";
import {
  assertReplyUsage,
  assertSums,
  assertValidHistory,
  getRunEnd,
} from "./engine_fuzz_checks.ts";
import { createDisturbances, randomPrompt } from "./engine_fuzz_disturbances.ts";
import { FuzzEnvironment } from "./engine_fuzz_environment.ts";
import { TrackedModel } from "./engine_fuzz_model.ts";
import {
  collectObjects,
  findNonJson,
  findShared,
  scribble,
  toText,
} from "./engine_fuzz_objects.ts";
import { randomDecision, randomOptions, randomRunOptions } from "./engine_fuzz_options.ts";
import { readRandomly } from "./engine_fuzz_readers.ts";
import { Scheduler } from "./engine_fuzz_scheduler.ts";
import { CountedSignal } from "./engine_fuzz_signal.ts";
import { createForwardingTool, randomTools } from "./engine_fuzz_tools.ts";

/** Options for `new Trial()`. */
export interface TrialOptions {
  /** Decides everything that happens. */
  readonly seed: number;
  /** Whether a listener changes every event in place after the others have seen it. */
  readonly scribbles: boolean;
}

/** The log of a trial, as text. */
export interface TrialLog {
  /** The events, in order. */
  readonly events: readonly string[];
  /** The requests of the model calls, in order. */
  readonly requests: readonly string[];
  /** The history after each run. */
  readonly histories: readonly string[];
}

/** Runs an agent in a random environment and checks its invariants. */
export class Trial {
  readonly #environment: FuzzEnvironment;
  readonly #scheduler: Scheduler;
  readonly #model: TrackedModel;
  readonly #options: AgentOptions;
  readonly #caller = new CountedSignal();
  readonly #scribbles: boolean;
  readonly #log = { events: [] as string[], requests: [] as string[], histories: [] as string[] };
  #agent: Agent;
  #disturb: () => void;
  #unsubscribe: () => void = () => {};
  #grammar: EventGrammar;
  #seen: AgentEvent[] = [];
  #eventObjects = new Set<object>();
  #violation: unknown;
  #lastResult: AgentResult | undefined;

  constructor({ seed, scribbles }: TrialOptions) {
    const environment = new FuzzEnvironment(seed);
    const { random, clock, toolClock } = environment;
    this.#environment = environment;
    this.#scribbles = scribbles;
    // The agent of a tool that is no longer awaited after an abort may outlive the run.
    const assistantClock = new ManualClock();
    this.#scheduler = new Scheduler(random, [clock, toolClock, assistantClock]);
    const ports = scriptedPorts(clock);
    const { now, sleep } = assistantClock;
    const assistant = createAssistant(environment, { ...ports, now, sleep });
    const isForwarding = random.chance(0.2);
    const tools = [
      ...randomTools(environment),
      assistant.asTool({ name: "assistant", description: "Helps" }),
      runInBackground(assistant.asTool({ name: "background", description: "Helps later" })),
      ...(isForwarding ? [createForwardingTool(environment)] : []),
    ];
    const names = [...tools.map(({ name }) => name), "extra", "structured_output"];
    this.#model = new TrackedModel(environment, names);
    this.#log.requests = this.#model.requests;
    const { streamFn } = this.#model;
    this.#options = {
      model: "test/model",
      streamFn,
      tools,
      ...ports,
      ...randomOptions(environment),
    };
    this.#grammar = new EventGrammar({ checksSubAgents: !isForwarding });
    this.#agent = new Agent(this.#options);
    this.#disturb = this.#subscribe(this.#agent);
  }

  /** Performs a few random actions, and then checks that the agent works once its environment does. */
  async run(): Promise<TrialLog> {
    const restoreTimers = this.#scheduler.install();
    try {
      const { random } = this.#environment;
      for (let actions = 1 + random.integer(6); actions > 0; actions--) await this.#act();
      await this.#recover();
      return this.#log;
    } finally {
      restoreTimers();
    }
  }

  async #act(): Promise<void> {
    const { random } = this.#environment;
    const isPending = this.#agent.state.pendingApprovals.length > 0;
    if (isPending && random.chance(0.3)) this.#restore();
    await random.create<Promise<void>>([
      ...(isPending ? Array(8).fill(() => this.#decide()) : []),
      () => this.#run((options) => this.#agent.promptStream(this.#prompt(), options)),
      () => this.#run((options) => this.#agent.promptStream(this.#prompt(), options)),
      () => this.#run((options) => this.#agent.promptStream(this.#prompt(), options)),
      () => this.#run((options) => this.#agent.continueStream(options)),
      () => this.#reset(),
      () => this.#requestStructured(),
    ]);
  }

  #prompt() {
    return randomPrompt(this.#environment);
  }

  /** Continues with decisions on the pending approvals, some of them missing or unknown. */
  async #decide(): Promise<void> {
    const { random } = this.#environment;
    const pending = this.#agent.state.pendingApprovals;
    const approvals: Record<string, ApprovalDecision | boolean> = {};
    if (random.chance(0.1)) {
      const wrong = random.oneOf([{}, { unknown: true }, undefined]);
      await this.#run((options) => this.#agent.continueStream({ ...options, approvals: wrong }));
      return;
    }
    for (const request of pending) {
      approvals[request.toolCallId] = randomDecision(this.#environment, request);
    }
    if (random.chance(0.2)) this.#agent.steer("One more thing");
    await this.#run((options) => this.#agent.continueStream({ ...options, approvals }));
  }

  /** Replaces the agent by a new one with the same history and pending approvals, as after a restart. */
  #restore(): void {
    const { messages, pendingApprovals } = this.#agent.state;
    const { decidedCalls } = this.#lastResult ?? {};
    const restored = JSON.parse(JSON.stringify({ messages, pendingApprovals, decidedCalls }));
    this.#unsubscribe();
    this.#agent = new Agent({ ...this.#options, ...restored });
    assertEquals(this.#agent.state.messages, messages, "restored history");
    this.#disturb = this.#subscribe(this.#agent);
  }

  /** Starts a run, reads it in a random way and checks it. */
  async #run(start: (options: ContinueOptions) => AgentStream): Promise<void> {
    const agent = this.#agent;
    const { signal } = this.#caller;
    const options = { ...randomRunOptions(this.#environment), signal };
    this.#environment.context = options.context;
    const history = agent.state.messages.slice();
    const first = this.#seen.length;
    const stream = start(options);
    if (!agent.state.isRunning) return await this.#assertMisuse(stream);
    const reading = readRandomly(stream, this.#environment);
    const [read, result] = await this.#advance(
      Promise.all([reading, stream.result(), agent.waitForIdle()]),
    );
    this.#lastResult = result;
    this.#checkRun(this.#seen.slice(first).filter(({ seq }) => seq !== undefined), {
      read,
      result,
      history,
    });
    await this.#assertInvariants();
  }

  async #assertMisuse(stream: AgentStream): Promise<void> {
    const error = await stream.result().then(() => undefined, (error) => error);
    const codes = ["no_messages", "invalid_continue", "bad_request"];
    assert(AgentError.is(error) && codes.includes(error.code), `misuse rejects with ${error}`);
    await this.#assertInvariants();
  }

  #checkRun(events: readonly AgentEvent[], run: FinishedRun): void {
    const { messages, pendingApprovals, decidedCalls } = this.#agent.state;
    const { read, result, history } = run;
    const shared = [
      findShared(messages, this.#eventObjects),
      findShared(pendingApprovals, this.#eventObjects),
      findShared(this.#agent.state.model, this.#eventObjects),
      findShared(this.#agent.queued, this.#eventObjects),
      ...events.map(({ type, ...event }) =>
        findShared({ ...event, abortReason: null }, this.#environment.foreignObjects) && type
      ),
    ];
    assertEquals(shared.filter((path) => path !== undefined), [], "objects shared with events");
    if (this.#scribbles) return;
    assertEquals(history.concat(result.messages), messages, "messages of the run");
    const end = getRunEnd(events);
    if (read) assertEquals(read, events, "reader and subscriber get the same events");
    assertEquals(toText(result.messages), toText(end.messages), "messages of the result");
    assertEquals(result.pendingApprovals ?? [], pendingApprovals, "pending approvals");
    assertEquals(result.decidedCalls ?? [], decidedCalls, "decided calls");
    assertSums(events, result);
    assertReplyUsage(events);
    const nonJson = events.map((event) =>
      event.type === "agent_end" ? undefined : findNonJson(event, event.type)
    );
    assertEquals(nonJson.find((path) => path !== undefined), undefined, "events are JSON");
  }

  /** Resets during a run and prompts immediately. */
  async #reset(): Promise<void> {
    const { random, toolClock } = this.#environment;
    this.#environment.context = undefined;
    const first = this.#agent.prompt("Go");
    await this.#advance(toolClock.sleep(random.integer(30)));
    this.#agent.reset();
    this.#environment.ledger.clear();
    const second = this.#agent.prompt("Go again");
    const [, result] = await this.#advance(Promise.all([first, second]));
    this.#lastResult = result;
    if (!this.#scribbles) assertEquals(result.messages, this.#agent.state.messages);
    await this.#assertInvariants();
  }

  /** Requests structured output; it resolves, or rejects with an `AgentError`. */
  async #requestStructured(): Promise<void> {
    this.#environment.context = undefined;
    const schema = { type: "object", properties: { n: { type: "number" } } } as const;
    const maxRetries = this.#environment.random.integer(3);
    await this.#advance(
      this.#agent.structuredOutput("How many?", schema, { maxRetries }).then(
        (value) => assert(["number", "undefined"].includes(typeof value.n)),
        (error) => assert(AgentError.is(error), `${error}`),
      ),
    );
    this.#lastResult = undefined;
    await this.#assertInvariants();
  }

  /** Checks that the agent works again once its environment does. */
  async #recover(): Promise<void> {
    this.#environment.isWellBehaved = true;
    this.#environment.context = undefined;
    this.#agent.clearQueues();
    this.#agent.setModel("test/model");
    this.#model.setScript([reply("fine"), reply("fine")]);
    const { stopReason } = await this.#advance(this.#agent.prompt("Are you well?"));
    assertEquals(stopReason, "stop");
    assertEquals(outlineMessages(this.#agent.state.messages).at(-1), "assistant: fine");
    await this.#assertInvariants();
  }

  async #advance<Result>(work: Promise<Result>): Promise<Result> {
    return await this.#scheduler.advanceUntil(work, {
      disturb: this.#disturb,
      abort: () => this.#agent.abort("no progress"),
    });
  }

  /** Records and checks the events of an agent; returns a function that disturbs it. */
  #subscribe(agent: Agent): () => void {
    this.#unsubscribe = agent.subscribe((event) => {
      this.#seen.push(event);
      collectObjects(event, this.#eventObjects);
      this.#log.events.push(toText(event));
      this.#violation ??= this.#grammar.accept(event);
    });
    const disturb = createDisturbances(agent, this.#environment);
    // In both trials a last listener, since each one takes time that others run in, such as the agents of tools.
    agent.subscribe((event) => this.#scribbles ? scribble(event) : undefined);
    return disturb;
  }

  /** Checks the invariants of an agent that is idle. */
  async #assertInvariants(): Promise<void> {
    const { messages, pendingApprovals, isRunning, streamingMessage, pendingToolCalls } =
      this.#agent.state;
    if (!this.#scribbles) {
      assertEquals(this.#violation, undefined, "grammar of the events");
      assertEquals(this.#seen.map(toText), this.#log.events, "events do not change");
    }
    assertEquals(this.#environment.ledger.violations, []);
    assertValidHistory(messages, pendingApprovals);
    this.#log.histories.push(toText(messages));
    assertEquals([isRunning, streamingMessage, pendingToolCalls.size], [false, undefined, 0]);
    await this.#scheduler.runTasks();
    assertEquals(this.#environment.clock.sleepers, 0, "timers");
    assertEquals(this.#model.openStreams, 0, "model streams");
    assertEquals(this.#caller.listeners, 0, "listeners on the caller's signal");
  }
}

interface FinishedRun {
  /** The events that the reader got; `undefined` if it did not read all of them. */
  readonly read: readonly AgentEvent[] | undefined;
  readonly result: AgentResult;
  /** The history before the run. */
  readonly history: AgentResult["messages"];
}

/** Returns a tool whose work continues after its calls. */
function runInBackground(tool: AgentTool): AgentTool {
  return {
    ...tool,
    execute: (args, context) => {
      context.run.background(async ({ signal, onEvent }) => {
        const output = await tool.execute(args, { ...context, signal, onEvent });
        return typeof output === "string" ? output : extractText(output.content) || "nothing";
      });
      return Promise.resolve("started");
    },
  };
}

/** Creates an agent that is run by a tool of the agent under test. */
function createAssistant(
  parent: FuzzEnvironment,
  ports: Partial<AgentOptions>,
): Agent {
  const environment = new FuzzEnvironment(parent.random.integer(1e9), parent);
  const tools = randomTools(environment);
  const { streamFn } = new TrackedModel(environment, tools.map(({ name }) => name));
  const options = randomOptions(environment);
  return new Agent({ model: "test/sub", streamFn, tools, ...ports, ...options, maxTurns: 3 });
}
