/**
 * Servers in one process that share runs and sessions, as workers on several machines do.
 *
 * @module
 */

import type { AgentOptions } from "../../mod.ts";
import { durableAgent, InProcessEngine } from "../../src/durable/mod.ts";
import { InMemorySessionStore } from "../../src/memory/mod.ts";
import type { AgentServerOptions } from "../../src/server/mod.ts";
import { durableRunner, type DurableRunnerOptions } from "../../src/server/durable/mod.ts";
import { TestServer } from "./server_fixture.ts";

/** Options for {@linkcode DurableWorkers.start}. */
export interface WorkerOptions {
  /** Options of the agents. */
  readonly agent: Partial<AgentOptions>;
  /** Options of the server. */
  readonly server?: Partial<AgentServerOptions>;
  /** Options of the runner. */
  readonly runner?: Partial<DurableRunnerOptions>;
}

/** A worker. */
export interface Worker {
  readonly test: TestServer;
  readonly engine: InProcessEngine;
}

/** The workers of a test. */
export class DurableWorkers implements AsyncDisposable {
  /** The sessions. */
  readonly store = new InMemorySessionStore();
  readonly #runs = new InMemorySessionStore();
  readonly #workers = new Set<Worker>();

  /** Starts a worker. */
  async start({ agent, server, runner }: WorkerOptions): Promise<Worker> {
    const { store } = this;
    const engine = new InProcessEngine({ store: this.#runs, pollMs: 5 });
    const durable = durableRunner({
      engine,
      store,
      pollMs: 5,
      createAgent: (_session, steps) => durableAgent({ model: "test/model", ...agent }, steps),
      ...runner,
    });
    await engine.start();
    const worker = { engine, test: new TestServer({ store, runner: durable, ...server }) };
    this.#workers.add(worker);
    return worker;
  }

  /** Ends a worker, as a process does that is killed. */
  async kill(worker: Worker): Promise<void> {
    this.#workers.delete(worker);
    await worker.engine.close({ graceMs: 0 });
    await worker.test.server.close({ timeoutMs: 0 });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const worker of [...this.#workers]) await this.kill(worker);
  }
}
