import { assert, assertEquals, assertRejects } from "@std/assert";
import { setImmediate } from "node:timers";
import { Agent } from "../../src/agent/agent.ts";
import { AgentError, InvalidContinueError, NoMessagesError } from "../../src/core/errors.ts";
import type { AgentEvent } from "../../src/core/event.ts";
import { repairHistory } from "../../src/core/history.ts";
import { findViolation } from "../../src/testing/event_grammar.ts";
import { reply } from "../../src/testing/script.ts";
import { outlineMessages } from "../conformance/outline.ts";
import { scriptedPorts } from "../conformance/ports.ts";
import { ManualClock } from "../../src/testing/manual_clock.ts";
import { RandomSource } from "./engine_fuzz_random.ts";
import { randomScript, TrackedModel } from "./engine_fuzz_model.ts";
import {
  createDisturbances,
  type FuzzEnvironment,
  randomOptions,
  randomTools,
  readRandomly,
} from "./engine_fuzz_environment.ts";

const RUNS = Deno.env.get("SWINK_PROVE") === "1" ? 5_000 : 300;
/** Runs a single seed, to reproduce a failure. */
const ONLY_SEED = Deno.env.get("SWINK_SEED");

/**
 * Idle tasks before `#advanceUntil()` waits for real timers, idle real timers before it aborts the run, and those before
 * it fails.
 */
const IDLE_LIMITS = { tasks: 10, timers: 4, timersAfterAbort: 1_000 };

/** Creates a signal that counts its listeners. */
function createCountedSignal(): { signal: AbortSignal; listeners: () => number } {
  const { signal } = new AbortController();
  let listeners = 0;
  const counting = (change: number, original: typeof signal.addEventListener) =>
    function (this: AbortSignal, ...args: Parameters<typeof signal.addEventListener>): void {
      listeners += change;
      original.apply(this, args);
    };
  signal.addEventListener = counting(1, signal.addEventListener);
  signal.removeEventListener = counting(-1, signal.removeEventListener);
  return { signal, listeners: () => listeners };
}

/** An agent in a random environment. */
class Trial {
  readonly #random: RandomSource;
  readonly #clock = new ManualClock();
  readonly #environment: FuzzEnvironment;
  readonly #model: TrackedModel;
  readonly #agent: Agent;
  readonly #seen: AgentEvent[] = [];
  readonly #caller = createCountedSignal();
  readonly #disturb: () => void;

  constructor(seed: number) {
    this.#random = new RandomSource(seed);
    const environment = {
      random: this.#random,
      toolClock: new ManualClock(),
      isWellBehaved: false,
    };
    this.#environment = environment;
    const tools = randomTools(environment);
    const names = [...tools.map(({ name }) => name), "structured_output"];
    this.#model = new TrackedModel(randomScript(this.#random, names));
    const { streamFn } = this.#model;
    const ports = scriptedPorts(this.#clock);
    const model = "test/model";
    this.#agent = new Agent({ model, streamFn, tools, ...ports, ...randomOptions(environment) });
    this.#agent.subscribe((event) => void this.#seen.push(event));
    this.#disturb = createDisturbances(this.#agent, environment);
  }

  /** Prompts or continues, reads in a random way and checks the events. */
  async run(): Promise<void> {
    const agent = this.#agent;
    const { signal } = this.#caller;
    const before = this.#seen.length;
    const history = agent.state.messages.slice();
    const stream = this.#random.chance(0.2)
      ? agent.continueStream({ signal })
      : agent.promptStream("Go", { signal });
    if (!agent.state.isRunning) {
      const error = await assertRejects(() => stream.getReader().read());
      assert(error instanceof NoMessagesError || error instanceof InvalidContinueError);
      return;
    }
    const reading = readRandomly(stream, this.#environment);
    await this.#advanceUntil(reading);
    await this.#advanceUntil(agent.waitForIdle());
    const read = await reading;
    const events = this.#seen.slice(before).filter(({ seq }) => seq !== undefined);
    if (read) assertEquals(read, events, "reader and subscriber get the same events");
    const end = events.at(-1);
    assert(end?.type === "agent_end", "the last event is agent_end");
    assertEquals(history.concat(end.messages), agent.state.messages);
    await this.#assertInvariants();
  }

  /** Resets during a run and prompts immediately. */
  async reset(): Promise<void> {
    const first = this.#agent.prompt("Go");
    for (let tasks = this.#random.integer(30); tasks > 0; tasks--) {
      await new Promise((resolve) => setImmediate(resolve));
    }
    this.#agent.reset();
    const second = this.#agent.prompt("Go again");
    await this.#advanceUntil(Promise.all([first, second]));
    assertEquals((await second).messages, this.#agent.state.messages);
    await this.#assertInvariants();
  }

  /** Requests structured output; it resolves, or rejects with an `AgentError`. */
  async requestStructured(): Promise<void> {
    const schema = { type: "object", properties: { n: { type: "number" } } } as const;
    const maxRetries = this.#random.integer(3);
    const request = this.#agent.structuredOutput("How many?", schema, { maxRetries }).then(
      (value) => assert(["number", "undefined"].includes(typeof value.n)),
      (error) => assert(AgentError.is(error), `${error}`),
    );
    await this.#advanceUntil(request);
    await this.#assertInvariants();
  }

  /** Checks that the agent works again once its environment does. */
  async recover(): Promise<void> {
    this.#environment.isWellBehaved = true;
    this.#agent.clearQueues();
    this.#agent.setModel("test/model");
    this.#model.setScript([reply("fine"), reply("fine")]);
    const next = this.#agent.prompt("Are you well?");
    await this.#advanceUntil(next);
    assertEquals((await next).stopReason, "stop");
    assertEquals(outlineMessages(this.#agent.state.messages).at(-1), "assistant: fine");
    await this.#assertInvariants();
  }

  /** Advances the clocks until the work settles. Aborts the run when there are no timers left. */
  async #advanceUntil(work: Promise<unknown>): Promise<void> {
    let isDone = false;
    let idle = 0;
    const done = work.finally(() => isDone = true);
    while (!isDone) {
      await new Promise((resolve) =>
        idle < IDLE_LIMITS.tasks ? setImmediate(resolve) : setTimeout(resolve, 0)
      );
      this.#disturb();
      const sleeping = [this.#clock, this.#environment.toolClock].filter(({ sleepers }) =>
        sleepers > 0
      );
      for (const clock of sleeping) clock.advanceToNext();
      idle = sleeping.length > 0 ? 0 : idle + 1;
      const idleTimers = idle - IDLE_LIMITS.tasks;
      if (idleTimers > IDLE_LIMITS.timers) this.#agent.abort("no progress");
      assert(idleTimers < IDLE_LIMITS.timersAfterAbort, "the run did not end after an abort");
    }
    await done;
  }

  /** Checks the invariants after a run. */
  async #assertInvariants(): Promise<void> {
    const { messages, isRunning, streamingMessage, pendingToolCalls } = this.#agent.state;
    assertEquals(findViolation(this.#seen), undefined);
    assertEquals(repairHistory(messages).repairs, []);
    assertEquals([isRunning, streamingMessage, pendingToolCalls.size], [false, undefined, 0]);
    await new Promise((resolve) => setTimeout(resolve, 0));
    assertEquals(this.#clock.sleepers, 0, "timers");
    assertEquals(this.#model.openStreams, 0, "model streams");
    assertEquals(this.#caller.listeners(), 0, "listeners on the caller's signal");
  }
}

async function fuzzOnce(seed: number): Promise<void> {
  const trial = new Trial(seed);
  const random = new RandomSource(-seed);
  for (let runs = random.integer(3); runs >= 0; runs--) await trial.run();
  if (random.chance(0.2)) await trial.reset();
  if (random.chance(0.2)) await trial.requestStructured();
  await trial.recover();
}

Deno.test(`engine: ${RUNS} random runs keep its invariants`, async () => {
  const seeds = ONLY_SEED
    ? [Number(ONLY_SEED)]
    : Array.from({ length: RUNS }, (_, index) => index + 1);
  for (const seed of seeds) {
    try {
      await fuzzOnce(seed);
    } catch (cause) {
      throw new Error(`Seed ${seed} failed; reproduce it with SWINK_SEED=${seed}`, { cause });
    }
  }
});
