/**
 * Lets the next fallback model continue after a provider has rejected the key of a model, or where there is none.
 *
 * The loop passes only failures that may pass to another model, since a program should correct an invalid key. A user who
 * has configured fallback models wants an answer, and is warned.
 *
 * @module
 */

import {
  type AgentError,
  type AgentOptions,
  type AssistantMessageEvent,
  AuthError,
  type ModelFallback,
  type ModelSpec,
  type StreamFn,
  wrapStreamFn,
} from "../../../mod.ts";
import type { Host } from "../../host/host.ts";
import { formatError } from "../../render/error_text.ts";
import { getKeyAdvice } from "./key_advice.ts";

/** Passes requests whose key was rejected, or is missing, to the next model, and warns once about each model and reason. */
export class RejectedKeys {
  readonly #env: Host["env"];
  readonly #reported = new Set<string>();
  #warnings: string[] = [];

  constructor({ env }: Pick<Host, "env">) {
    this.#env = env;
  }

  /** Returns the options of an agent whose models, except for the last one, pass such requests to the next one. */
  createOptions(
    streamFn: StreamFn,
    fallback: readonly ModelFallback[],
  ): Pick<AgentOptions, "streamFn" | "fallback"> {
    return {
      streamFn: wrapStreamFn(
        streamFn,
        (request, next) => this.#pass(next(request), request.model),
      ),
      fallback: fallback.map((model, index) =>
        index < fallback.length - 1 ? model : { ...model, streamFn }
      ),
    };
  }

  /** Returns the warnings since the last call, as sentences. */
  takeWarnings(): readonly string[] {
    const warnings = this.#warnings;
    this.#warnings = [];
    return warnings;
  }

  async *#pass(
    events: AsyncIterable<AssistantMessageEvent>,
    model: ModelSpec,
  ): AsyncGenerator<AssistantMessageEvent> {
    for await (const event of events) {
      if (event.type === "error" && isRejection(event.error)) {
        this.#warn(event.error, model);
        yield { ...event, error: allowFallback(event.error) };
      } else yield event;
    }
  }

  #warn(error: AgentError, { provider, modelId }: ModelSpec): void {
    const reason = formatError(error).replace(/\.$/, "");
    const warning =
      `${provider}/${modelId} cannot be used, so the next fallback model continues: ${reason}`;
    if (this.#reported.has(warning)) return;
    this.#reported.add(warning);
    const advice = getKeyAdvice({ ...error, provider }, this.#env);
    this.#warnings.push(advice === undefined ? warning : `${warning}. ${advice}`);
  }
}

/** Whether a provider has rejected the key, or there is none. */
function isRejection({ code, status }: AgentError): boolean {
  return code === "auth_error" && (status === undefined || status === 401 || status === 403);
}

/** Marks an error as one after which the loop calls the next model. */
function allowFallback(error: AgentError): AgentError {
  const { message, status, provider, model, requestId, cause } = error;
  return new AuthError(message, { status, provider, model, requestId, cause, retryable: true });
}
