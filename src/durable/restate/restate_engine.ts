/**
 * An engine on Restate.
 *
 * @module
 */

import { checkNames } from "../../core/check_names.ts";
import { createDeferred } from "../../core/deferred.ts";
import type {
  DurableEngine,
  DurableRun,
  DurableStatus,
  DurableWorkflow,
  WorkflowFunction,
} from "../../core/durable_engine.ts";
import type { RunMessage } from "../../core/durable_steps.ts";
import { BadRequestError } from "../../core/errors.ts";
import type { JsonValue } from "../../core/json.ts";
import { EngineRun } from "../engine_run.ts";
import { executeRun } from "../execute_run.ts";
import { type DurableOutcome, parseOutcome } from "../run_outcome.ts";
import { type StartRun, WorkflowRegistry } from "../workflow_registry.ts";
import { RestateClient } from "./restate_client.ts";
import { getMessageName, RestateJournal } from "./restate_journal.ts";
import { loadRestate, type RestateContext, type RestatePackage } from "./restate_package.ts";

/** Name of the object that knows the workflow of each run and numbers its messages. */
const RUNS = "swink-runs";
/** Time for which one step may take, in milliseconds: a day. */
const ABORT_TIMEOUT_MS = 24 * 60 * 60 * 1000;

/** Options for `new RestateEngine()`. */
export interface RestateEngineOptions {
  /** URL of the ingress of Restate, such as `http://localhost:8080`. */
  readonly ingressUrl: string;
  /**
   * Registers the workflows when the engine starts. Without it, they are registered with the command line of Restate.
   * Default: none.
   */
  readonly registration?: {
    /** URL of the admin API of Restate, such as `http://localhost:9070`. */
    readonly adminUrl: string;
    /** URL at which Restate reaches {@linkcode RestateEngine.fetch} of this or any other worker. */
    readonly endpointUrl: string;
  } | undefined;
  /** Public keys of the Restate environments whose requests are accepted. Default: all requests are accepted. */
  readonly identityKeys?: readonly string[] | undefined;
  /** Whether the server of the endpoint sends responses while it reads requests, as HTTP/2 can. Default: `true`. */
  readonly bidirectional?: boolean | undefined;
  /** Sends requests to Restate. Default: the global `fetch`. */
  readonly fetch?: typeof fetch | undefined;
}

const OPTION_NAMES: readonly (keyof RestateEngineOptions)[] = [
  "ingressUrl",
  "registration",
  "identityKeys",
  "bidirectional",
  "fetch",
];

/** The recorded input of a run. */
interface RunInput {
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
  #isStarted = false;

  /**
   * Creates an engine.
   *
   * @throws {BadRequestError} If an option is invalid.
   */
  constructor(options: RestateEngineOptions) {
    checkNames(options, OPTION_NAMES, "RestateEngine");
    const { ingressUrl, fetch = globalThis.fetch } = options ?? {};
    if (typeof ingressUrl !== "string" || !URL.canParse(ingressUrl)) {
      throw new BadRequestError("RestateEngine needs an ingressUrl such as http://localhost:8080");
    }
    this.#options = options;
    this.#client = new RestateClient({ ingressUrl, fetch, signal: this.#closing.signal });
    this.#handler.promise.catch(() => {});
  }

  /** Handles the requests of Restate; answers 503 when the engine was closed. */
  readonly fetch = async (request: Request): Promise<Response> => {
    const handle = await this.#handler.promise.catch(() => undefined);
    if (handle && !this.#closing.signal.aborted) return await handle(request);
    return new Response("The engine was closed", { status: 503 });
  };

  register<Input, Output>(
    name: string,
    workflow: WorkflowFunction<Input, Output>,
  ): DurableWorkflow<Input, Output> {
    if (this.#isStarted) {
      throw new BadRequestError("Register all workflows before you call start() of the engine");
    }
    if (!/^[a-zA-Z][a-zA-Z0-9._-]*$/.test(name)) {
      throw new BadRequestError(
        `The name "${name}" is no name of a service of Restate: begin with a letter, and use letters, digits, ., _ and -`,
      );
    }
    return this.#registry.register(name, workflow);
  }

  async start(): Promise<void> {
    if (this.#isStarted) return;
    this.#isStarted = true;
    const restate = await loadRestate();
    const { bidirectional = true, identityKeys } = this.#options;
    this.#handler.resolve(restate.createEndpointHandler({
      services: [
        this.#createRuns(restate),
        ...this.#registry.names.map((name) => this.#createService(restate, name)),
      ],
      bidirectional,
      ...(identityKeys && { identityKeys }),
      logger: () => {},
    }));
    await this.#registerEndpoint();
  }

  getRun<Output = unknown>(id: string): DurableRun<Output> {
    return new EngineRun(id, {
      getStatus: (id) => this.#getStatus(id),
      awaitOutcome: (id) => this.#awaitOutcome(id),
      sendMessage: (id, message) => this.#sendMessage(id, message),
    });
  }

  close(): Promise<void> {
    this.#closing.abort();
    this.#handler.reject(new BadRequestError("The engine was closed"));
    for (const journal of this.#active) journal.detach("The engine was closed");
    return Promise.resolve();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  /** Creates the object of a run: it starts the run once, and numbers its messages. */
  #createRuns({ object, handlers, serde }: RestatePackage): unknown {
    return object({
      name: RUNS,
      handlers: {
        start: async (
          context: RestateContext,
          { workflow, ...start }: RunInput & { readonly workflow: string },
        ) => {
          if (await context.get("workflow") !== null) return;
          context.set("workflow", workflow);
          const call = { service: workflow, method: "run", key: context.key, parameter: start };
          context.genericSend({ ...call, inputSerde: serde.json });
        },
        send: async (context: RestateContext, message: RunMessage) => {
          const service = await context.get<string>("workflow");
          if (service === null) return;
          const number = (await context.get<number>("messages") ?? 0) + 1;
          context.set("messages", number);
          const call = { service, method: "deliver", key: context.key };
          const parameter = { number, message };
          context.genericSend({ ...call, parameter, inputSerde: serde.json });
        },
        find: handlers.object.shared((context) => context.get("workflow")),
      },
    });
  }

  #createService(restate: RestatePackage, name: string): unknown {
    return restate.workflow({
      name,
      handlers: {
        run: (context: RestateContext, start: RunInput) =>
          this.#execute(restate, name, { context, start }),
        deliver: restate.handlers.workflow.shared(
          async (
            context,
            { number, message }: { readonly number: number; readonly message: RunMessage },
          ) => {
            await context.promise<RunMessage>(getMessageName(number)).resolve(message);
          },
        ),
      },
      options: { abortTimeout: ABORT_TIMEOUT_MS },
    });
  }

  /** Executes an attempt of a run. Restate repeats it elsewhere if it throws. */
  async #execute(
    restate: RestatePackage,
    name: string,
    { context, start: { input, startedAt } }: {
      readonly context: RestateContext;
      readonly start: RunInput;
    },
  ): Promise<DurableOutcome> {
    const workflow = this.#registry.find(name);
    if (!workflow) throw new Error(`The workflow "${name}" is not registered`);
    const journal = new RestateJournal(context, { startedAt, restate });
    const { attemptCompletedSignal } = context.request();
    const onEnd = () => journal.detach("Restate has ended the attempt");
    attemptCompletedSignal.addEventListener("abort", onEnd);
    this.#active.add(journal);
    try {
      return await journal.drive(executeRun(journal, { workflow, input }));
    } finally {
      this.#active.delete(journal);
      attemptCompletedSignal.removeEventListener("abort", onEnd);
    }
  }

  readonly #startRun: StartRun = async ({ id, workflow, input }) => {
    this.#assertOpen();
    await this.#client.call(`${RUNS}/${encodeURIComponent(id)}/start`, {
      workflow,
      input,
      startedAt: Date.now(),
    });
    return this.getRun(id);
  };

  async #sendMessage(id: string, message: RunMessage): Promise<void> {
    const path = `${RUNS}/${encodeURIComponent(id)}/send`;
    await this.#client.call(path, message as unknown as JsonValue);
  }

  async #getStatus(id: string): Promise<DurableStatus | undefined> {
    const service = await this.#findService(id);
    if (service === undefined) return undefined;
    const output = await this.#client.readOutput(service, id);
    return output.type === "ended" ? parseOutcome(output.value).type : "running";
  }

  async #awaitOutcome(id: string): Promise<DurableOutcome> {
    const service = await this.#findService(id);
    if (service === undefined) throw new BadRequestError(`There is no run with the id "${id}"`);
    return parseOutcome(await this.#client.awaitOutput(service, id));
  }

  async #findService(id: string): Promise<string | undefined> {
    this.#assertOpen();
    const found = await this.#client.call(`${RUNS}/${encodeURIComponent(id)}/find`, null);
    return typeof found === "string" ? found : undefined;
  }

  #assertOpen(): void {
    if (this.#isStarted && !this.#closing.signal.aborted) return;
    throw new BadRequestError(
      this.#isStarted ? "The engine was closed" : "Call start() of the engine first",
    );
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
