/**
 * Loads the validator of a run while its model takes long to reply.
 *
 * @module
 */

import type { SchemaValidator } from "../../core/schemas/schema.ts";
import type { AgentTool } from "../../core/tools/tool.ts";
import { preloadValidator } from "../../core/tools/validate_arguments.ts";

/** Milliseconds without any content before a validator is loaded: ajv blocks the thread for 40 ms. */
const PRELOAD_AFTER_MS = 20;

/** Microtasks without any content before the timer for that is set: a stream from memory has begun by then. */
const MICROTASKS_BEFORE_TIMER = 32;

/** Loads the validator of tools after a time in which a reply has no content, so that loading it delays nothing. */
export class ValidatorPreload {
  readonly #tools: readonly AgentTool[];
  readonly #validator: SchemaValidator;
  #isStopped = false;

  /** Creates a preload that waits for {@linkcode ValidatorPreload.start}. */
  constructor(tools: readonly AgentTool[], validator: SchemaValidator) {
    this.#tools = tools;
    this.#validator = validator;
  }

  /** Starts to wait, unless it was stopped. */
  start(): void {
    void this.#loadLater();
  }

  /** Does not load the validator any more. */
  stop(): void {
    this.#isStopped = true;
  }

  async #loadLater(): Promise<void> {
    for (let count = 0; count < MICROTASKS_BEFORE_TIMER; count++) {
      await undefined;
      if (this.#isStopped) return;
    }
    // Not with setTimeout(), whose first call takes 5 ms on Deno, which would delay the request.
    AbortSignal.timeout(PRELOAD_AFTER_MS).addEventListener("abort", () => {
      if (!this.#isStopped) preloadValidator(this.#tools, this.#validator);
    });
  }
}
