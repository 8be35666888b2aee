/**
 * An engine on Restate.
 *
 * @module
 */

import { checkNames } from "../../core/checks/check_names.ts";
import type {
  CloseEngineOptions,
  DurableEngine,
  DurableRun,
  DurableStatus,
  DurableWorkflow,
  WorkflowFunction,
} from "../../core/durable/durable_engine.ts";
import type { RunMessage } from "../../core/durable/durable_steps.ts";
import { EngineClosedError } from "../../core/durable/engine_closed_error.ts";
import { BadRequestError } from "../../core/errors/errors.ts";
import type { JsonValue } from "../../core/json/json.ts";
import { createDeferred } from "../../core/ports/deferred.ts";
import { systemClock } from "../../core/ports/ports.ts";
import { checkCloseOptions } from "../engine/check_close_options.ts";
import { EngineRun, type RunBackend } from "../engine/engine_run.ts";
import { EngineStart } from "../engine/engine_start.ts";
import { executeRun } from "../engine/execute_run.ts";
import { type DurableOutcome, parseOutcome } from "../engine/run_outcome.ts";
import { type StartRun, WorkflowRegistry } from "../engine/workflow_registry.ts";
import { EventHub, STORE_MS } from "../events/event_hub.ts";
import { createRunEvents } from "../events/run_events.ts";
import { StepTracker } from "../steps/step_tracker.ts";
import { createEventService, ObjectEvents } from "./object_events.ts";
import { encodeRunId, RestateClient, type WorkflowEnd } from "./restate_client.ts";
import { getMessageName, RestateJournal } from "./restate_journal.ts";
import {
  loadRestate,
  type RestateContext,
  type RestateHandler,
  type RestatePackage,
} from "./restate_package.ts";

/** Default time after which a run that waits is suspended, in milliseconds. */
const SUSPEND_AFTER_MS = 10 * 60 * 1000;
/** Time for which one step may take, in milliseconds: a day. */
const ABORT_TIMEOUT_MS = 24 * 60 * 60 * 1000;

/** The registration of a worker in Restate. */
export interface RestateRegistration {
  /** URL of the admin API of Restate, such as `http://localhost:9070`. */
  readonly adminUrl: string;
  /** URL at which Restate reaches {@linkcode RestateEngine.fetch} of this or any other worker. */
  readonly endpointUrl: string;
}

/** Options for `new RestateEngine()`. */
export interface RestateEngineOptions {
  /** URL of the ingress of Restate, such as `http://localhost:8080`. */
  readonly ingressUrl: string;
  /** Beginning of the names of the services in Restate, which applications do not share. Default: `"swink"`. */
  readonly name?: string | undefined;
  /**
   * Registers the services when the engine starts. Without it, they are registered with Restate's command line. Default:
   * none.
   */
  readonly registration?: RestateRegistration | undefined;
  /** Public keys of the Restate environments whose requests are accepted. Default: all requests are accepted. */
  readonly identityKeys?: readonly string[] | undefined;
  /**
   * Whether the server of the endpoint sends responses while it reads requests, as HTTP/2 can. Otherwise agents have no
   * tools with the side effect `"once"`, and none that run one after the other. Default: `true`.
   */
  readonly bidirectional?: boolean | undefined;
  /**
   * Time after which a run that waits is suspended, in milliseconds. Messages do not reach a step that takes longer before
   * its end. Default: 10 minutes.
   */
  readonly suspendAfterMs?: number | undefined;
  /** Pause between two looks for events of runs that other workers execute, in milliseconds. Default: 500. */
  readonly pollMs?: number | undefined;
  /** Time for which the events of a run are kept after its end, in milliseconds. Default: 300,000. */
  readonly keepEventsMs?: number | undefined;
  /** Sends requests to Restate. Default: the global `fetch`. */
  readonly fetch?: typeof fetch | undefined;
}

const OPTION_NAMES: readonly (keyof RestateEngineOptions)[] = [
  "ingressUrl",
  "name",
  "registration",
  "identityKeys",
  "bidirectional",
  "suspendAfterMs",
  "pollMs",
  "keepEventsMs",
  "fetch",
];

/** The recorded input of a run. */
interface RunInput {
  readonly workflow: string;
  readonly input: JsonValue;
  readonly startedAt: number;
}

/**
 * Runs workflows on a Restate server, which calls the workers: {@linkcode RestateEngine.fetch} is the handler of their HTTP
 * server. A run that waits for a message is suspended, and takes no memory of a worker.
 *
 * @example
 * ```ts ignore
 * import { durableAgent } from "@swink/agent/durable";
 * import { RestateEngine } from "@swink/agent/durable/restate";
 *
 * const engine = new RestateEngine({
 *   ingressUrl: "http://localhost:8080",
 *   registration: { adminUrl: "http://localhost:9070", endpointUrl: "http://localhost:9080" },
 * });
 * const support = engine.register("support", async (steps, prompt: string) => {
 *   const agent = durableAgent({ model: "anthropic/claude-sonnet-5-5" }, steps);
 *   return (await agent.prompt(prompt)).text;
 * });
 * Deno.serve({ port: 9080 }, engine.fetch);
 * await engine.start();
 * const run = await support.start("My order is late", { id: "ticket-17" });
 * console.log(await run.result());
 * ```
 */
export class RestateEngine implements DurableEngine {
  readonly #options: RestateEngineOptions;
  readonly #registry = new WorkflowRegistry((start) => this.#startRun(start));
  readonly #active = new Set<RestateJournal>();
  readonly #closing = new AbortController();
  readonly #handler = createDeferred<(request: Request) => Promise<Response>>();
  readonly #client: RestateClient;
  /** Name of the service of all runs; their inputs have the names of their workflows. */
  readonly #runs: string;
  /** Name of the objects that number the messages of a run. */
  readonly #inboxes: string;
  /** Name of the objects that keep the events of a run. */
  readonly #events: string;
  readonly #backend: RunBackend;
  /** Aborted when the events are stored that were published before the engine was closed. */
  readonly #closed = new AbortController();
  /** Whether Restate may call this worker. */
  #isStarted = false;
  readonly #starting = new EngineStart(this.#closing.signal);

  /**
   * Creates an engine.
   *
   * @throws {BadRequestError} If an option is invalid.
   */
  constructor(options: RestateEngineOptions) {
    checkNames(options, OPTION_NAMES, "RestateEngine");
    const { ingressUrl, name = "swink", fetch = globalThis.fetch } = options ?? {};
    const { pollMs = 500, keepEventsMs = 300_000 } = options ?? {};
    if (!/^[a-zA-Z][a-zA-Z0-9-]*$/.test(name)) {
      throw new BadRequestError(
        "The name must begin with a letter, and have letters, digits and -",
      );
    }
    if (typeof ingressUrl !== "string" || !URL.canParse(ingressUrl)) {
      throw new BadRequestError("RestateEngine needs an ingressUrl such as http://localhost:8080");
    }
    this.#options = options;
    this.#runs = `${name}-run`;
    this.#inboxes = `${name}-inbox`;
    this.#events = `${name}-events`;
    this.#client = new RestateClient({ ingressUrl, fetch, signal: this.#closing.signal });
    const storage = new ObjectEvents({
      service: this.#events,
      client: new RestateClient({ ingressUrl, fetch, signal: this.#closed.signal }),
      keepMs: keepEventsMs,
    });
    this.#backend = {
      storage,
      clock: systemClock,
      hub: new EventHub({ storage, clock: systemClock, pollMs }),
      assertOpen: () => this.#assertOpen(),
      getStatus: (id) => this.#getStatus(id),
      awaitOutcome: (id) => this.#awaitOutcome(id),
      sendMessage: (id, message) => this.#sendMessage(id, message),
    };
    this.#handler.promise.catch(() => {});
  }

  /** Handles the requests of Restate; answers 503 when the engine was closed. */
  readonly fetch = async (request: Request): Promise<Response> => {
    const handle = await this.#handler.promise.catch(() => undefined);
    const isOpen = !this.#closing.signal.aborted ||
      !this.#closed.signal.aborted && new URL(request.url).pathname.includes(`/${this.#events}/`);
    if (handle && isOpen) return await handle(request);
    return new Response("The engine was closed", { status: 503 });
  };

  /** Registers the code of a workflow, before {@linkcode RestateEngine.start}. */
  register<Input, Output>(
    name: string,
    workflow: WorkflowFunction<Input, Output>,
  ): DurableWorkflow<Input, Output> {
    if (this.#isStarted) {
      throw new BadRequestError("Register all workflows before you call start() of the engine");
    }
    return this.#registry.register(name, workflow);
  }

  /** Connects, and begins to continue the runs of processes that have ended. */
  async start(): Promise<void> {
    await this.#starting.run(() => this.#start());
  }

  async #start(): Promise<void> {
    this.#isStarted = true;
    const restate = await loadRestate();
    const { bidirectional = true, identityKeys } = this.#options;
    this.#handler.resolve(restate.createEndpointHandler({
      services: [
        this.#createInboxes(restate),
        this.#createRuns(restate),
        createEventService(restate, this.#events),
      ],
      bidirectional,
      ...(identityKeys && { identityKeys }),
      logger: () => {},
    }));
    await this.#registerEndpoint();
  }

  /** Returns a run by its id, whether it exists or not. */
  getRun<Output = unknown>(id: string): DurableRun<Output> {
    return new EngineRun(id, this.#backend);
  }

  /** Stops. Runs that are active here stay unfinished, and another process continues them. */
  async close(options: CloseEngineOptions = {}): Promise<void> {
    checkCloseOptions(options);
    const { graceMs } = options;
    const closed = new EngineClosedError();
    this.#closing.abort(closed);
    this.#handler.reject(closed);
    await Promise.all([...this.#active].map(({ tracker }) => tracker.close({ graceMs })));
    await this.#backend.hub.close({ limitMs: STORE_MS });
    this.#closed.abort();
  }

  /** Closes the engine. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  #createInboxes({ object, serde }: RestatePackage): unknown {
    return object({
      name: this.#inboxes,
      handlers: {
        append: async (context: RestateContext, message: RunMessage) => {
          const number = (await context.get<number>("messages") ?? 0) + 1;
          context.set("messages", number);
          const call = { service: this.#runs, method: "deliver", key: context.key };
          const parameter = { number, message };
          context.genericSend({ ...call, parameter, inputSerde: serde.json });
        },
      },
    });
  }

  #createRuns(restate: RestatePackage): unknown {
    const { suspendAfterMs = SUSPEND_AFTER_MS } = this.#options;
    const deliver: RestateHandler = async (
      context,
      { number, message }: { readonly number: number; readonly message: RunMessage },
    ) => await context.promise<RunMessage>(getMessageName(number)).resolve(message);
    return restate.workflow({
      name: this.#runs,
      handlers: {
        run: (context: RestateContext, start: RunInput) => this.#execute(restate, context, start),
        deliver: restate.handlers.workflow.shared(deliver),
      },
      options: { inactivityTimeout: suspendAfterMs, abortTimeout: ABORT_TIMEOUT_MS },
    });
  }

  /** Executes an attempt of a run. Restate repeats it elsewhere if it throws. */
  async #execute(
    restate: RestatePackage,
    context: RestateContext,
    { workflow: name, input, startedAt }: RunInput,
  ): Promise<DurableOutcome> {
    const workflow = this.#registry.find(name);
    // Another worker may know it.
    if (!workflow) throw new Error(`The workflow "${name}" is not registered`);
    // The engine was closed while the request was read.
    this.#closing.signal.throwIfAborted();
    const { bidirectional = true } = this.#options;
    const tracker = new StepTracker();
    const events = createRunEvents(context.key, this.#backend, { detached: tracker.detached });
    const options = { startedAt, events, restate, bidirectional, tracker };
    const journal = new RestateJournal(context, options);
    const { attemptCompletedSignal } = context.request();
    const onEnd = () => journal.tracker.detach("Restate has ended the attempt");
    attemptCompletedSignal.addEventListener("abort", onEnd);
    this.#active.add(journal);
    try {
      return await journal.drive(executeRun(journal, { workflow, input }));
    } catch (error) {
      // The code of the workflow does not end by itself, nor do its steps.
      journal.tracker.detach("Restate has ended the attempt");
      // Restate does not repeat the attempt of a run that was cancelled.
      if (error instanceof restate.TerminalError) await events.append({ type: "end" });
      throw error;
    } finally {
      this.#active.delete(journal);
      attemptCompletedSignal.removeEventListener("abort", onEnd);
    }
  }

  readonly #startRun: StartRun = async ({ id, workflow, input }) => {
    await this.#assertOpen();
    const start: RunInput = { workflow, input, startedAt: Date.now() };
    await this.#client.send(this.#getPath(this.#runs, id, "run"), start);
    return this.getRun(id);
  };

  async #sendMessage(id: string, message: RunMessage): Promise<void> {
    await this.#assertOpen();
    await this.#client.send(this.#getPath(this.#inboxes, id, "append"), message);
  }

  async #getStatus(id: string): Promise<DurableStatus | undefined> {
    await this.#assertOpen();
    const output = await this.#client.readOutput(this.#runs, id);
    switch (output.type) {
      case "ended":
      case "failed":
        return toOutcome(output).type;
      case "running":
        return "running";
      case "unknown":
        return undefined;
    }
  }

  async #awaitOutcome(id: string): Promise<DurableOutcome> {
    return toOutcome(await this.#client.awaitOutput(this.#runs, id));
  }

  #getPath(service: string, id: string, handler: string): string {
    return `${service}/${encodeRunId(id)}/${handler}`;
  }

  async #assertOpen(): Promise<void> {
    // Restate may not know the services yet.
    await this.#starting.untilEnded();
    if (this.#closing.signal.aborted) throw new EngineClosedError();
    if (!this.#isStarted) throw new BadRequestError("Call start() of the engine first");
  }

  async #registerEndpoint(): Promise<void> {
    const { registration, fetch = globalThis.fetch } = this.#options;
    if (!registration) return;
    const response = await fetch(`${registration.adminUrl.replace(/\/$/, "")}/deployments`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      // The same endpoint is registered again when its workflows have changed.
      body: JSON.stringify({ uri: registration.endpointUrl, force: true }),
      signal: this.#closing.signal,
    });
    const text = await response.text();
    if (response.ok) return;
    throw new BadRequestError(`Restate does not accept the endpoint: ${text}`);
  }
}

function toOutcome(end: WorkflowEnd): DurableOutcome {
  if (end.type === "ended") return parseOutcome(end.value);
  const { isCancelled, message } = end;
  return isCancelled
    ? { type: "aborted", reason: message }
    : { type: "failed", error: { message } };
}
