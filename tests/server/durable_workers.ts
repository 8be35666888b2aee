/**
 * Servers in one process that share runs and sessions, as workers on several machines do.
 *
 * @module
 */

import { type AgentOptions, type AgentTool, defineTool, type StreamFn } from "../../mod.ts";
import { createDeferred } from "../../src/core/ports/deferred.ts";
import { durableAgent, InProcessEngine } from "../../src/durable/mod.ts";
import { InMemorySessionStore } from "../../src/memory/mod.ts";
import { durableRunner, type DurableRunnerOptions } from "../../src/server/durable/mod.ts";
import type { AgentServerOptions } from "../../src/server/mod.ts";
import { type ScriptedStep, scriptedStream } from "../../src/testing/mod.ts";
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

/** Answers by the number of replies in the conversation, as a model does whatever process calls it. */
export function createModel(...script: readonly ScriptedStep[]): StreamFn {
  return (request) => {
    const replies = request.context.messages.filter(({ role }) => role === "assistant").length;
    return scriptedStream(script.slice(replies))(request);
  };
}

/** A tool that ends when the test lets it. */
export interface Gate {
  readonly tool: AgentTool;
  /** Resolves when the tool is executed. */
  readonly begun: Promise<void>;
  /** Ends the tool. */
  readonly open: () => void;
}

/** Creates a tool that ends when the test lets it. */
export function createGate(): Gate {
  const begun = createDeferred<void>();
  const gate = createDeferred<string>();
  const tool: AgentTool = defineTool({
    name: "work",
    description: "Works.",
    parameters: { type: "object" },
    sideEffect: "idempotent",
    interruptible: false,
    execute: () => {
      begun.resolve();
      return gate.promise;
    },
  });
  return { tool, begun: begun.promise, open: () => gate.resolve("worked") };
}

/** Lists the entries of the log of a session: the roles of messages, and the names or types of others. */
export async function listEntries(test: TestServer, id: string): Promise<string[]> {
  const entries = await test.entries(id);
  return entries.map(({ message, name, type }) => message?.role ?? name ?? type);
}
