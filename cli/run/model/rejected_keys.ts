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

type GetKey = (provider: string) => Promise<string | undefined>;

/** Calls the models, with the keys of their providers. */
interface CalledModel {
  readonly streamFn: StreamFn;
  /** Finds a key. Default: the stream function has the keys. */
  readonly getApiKey: GetKey | undefined;
}

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
    { streamFn, getApiKey }: CalledModel,
    fallback: readonly ModelFallback[],
  ): Pick<AgentOptions, "streamFn" | "fallback" | "getApiKey"> {
    const last = { streamFn, ...(getApiKey && { getApiKey }) };
    return {
      streamFn: wrapStreamFn(
        streamFn,
        (request, next) => this.#pass(next(request), request.model),
      ),
      ...(getApiKey && { getApiKey: (provider) => this.#passKey(getApiKey, provider) }),
      fallback: fallback.map((model, index) =>
        index < fallback.length - 1 ? model : { ...model, ...last }
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
        const { provider, modelId } = model;
        this.#warn(event.error, `${provider}/${modelId}`);
        yield { ...event, error: allowFallback(event.error) };
      } else yield event;
    }
  }

  /** Returns a key. An error, such as that of a key command, passes the request. */
  async #passKey(getApiKey: GetKey, provider: string): Promise<string | undefined> {
    try {
      return await getApiKey(provider);
    } catch (error) {
      if (!(error instanceof AuthError)) throw error;
      this.#warn(error, provider);
      throw allowFallback(error);
    }
  }

  #warn(error: AgentError, subject: string): void {
    const reason = formatError(error).replace(/\.$/, "");
    const warning = `${subject} cannot be used, so the next fallback model continues: ${reason}`;
    if (this.#reported.has(warning)) return;
    this.#reported.add(warning);
    const advice = getKeyAdvice(error, this.#env);
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
