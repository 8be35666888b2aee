/**
 * The workflows that a process has registered.
 *
 * @module
 */

import { checkNames } from "../../core/checks/check_names.ts";
import type {
  DurableRun,
  DurableWorkflow,
  WorkflowFunction,
} from "../../core/durable/durable_engine.ts";
import { BadRequestError } from "../../core/errors/errors.ts";
import { type JsonValue, toJsonValue } from "../../core/json/json.ts";

/** Longest id of a run: stores and engines add to it. */
export const MAX_ID_LENGTH = 150;

/** Records the input of a new run and starts it. */
export type StartRun = (start: {
  readonly id: string;
  readonly workflow: string;
  readonly input: JsonValue;
}) => Promise<DurableRun>;

/** Finds workflows by their names. */
export class WorkflowRegistry {
  readonly #workflows = new Map<string, WorkflowFunction<never, unknown>>();
  readonly #startRun: StartRun;

  constructor(startRun: StartRun) {
    this.#startRun = startRun;
  }

  /** The names of the workflows. */
  get names(): readonly string[] {
    return [...this.#workflows.keys()];
  }

  /**
   * Registers a workflow.
   *
   * @throws {BadRequestError} If the name is empty or in use.
   */
  register<Input, Output>(
    name: string,
    run: WorkflowFunction<Input, Output>,
  ): DurableWorkflow<Input, Output> {
    if (typeof name !== "string" || name === "" || typeof run !== "function") {
      throw new BadRequestError("Register a workflow with a name and a function");
    }
    if (this.#workflows.has(name)) {
      throw new BadRequestError(`The workflow "${name}" is registered already`);
    }
    this.#workflows.set(name, run);
    return {
      name,
      start: async (input, options = {}) => {
        checkNames(options, ["id"], "start()");
        const { id = crypto.randomUUID() } = options;
        checkRunId(id);
        const copy = toJsonValue(input ?? null);
        if ("problem" in copy) {
          throw new BadRequestError(`The input of a workflow must be JSON: ${copy.problem}`);
        }
        const run = await this.#startRun({ id, workflow: name, input: copy.value });
        return run as DurableRun<Output>;
      },
    };
  }

  /** Returns the code of a workflow; `undefined` if this process has not registered it. */
  find(name: string): WorkflowFunction<never, unknown> | undefined {
    return this.#workflows.get(name);
  }
}

function checkRunId(id: unknown): void {
  const isText = typeof id === "string" && id !== "" && id.length <= MAX_ID_LENGTH;
  if (isText && id.isWellFormed() && !/\p{Cc}/u.test(id)) return;
  throw new BadRequestError(
    `The id of a run must be a text of 1 to ${MAX_ID_LENGTH} characters without control characters`,
  );
}
