/**
 * The keys of the providers of a conversation, whose model and keys can change.
 *
 * @module
 */

import { keyVariables } from "../../../adapters/connect.ts";
import type { ProviderOptions } from "../../../adapters/mod.ts";
import type {
  Agent,
  AgentError,
  AssistantMessageEvent,
  ModelSpec,
  StreamFn,
} from "../../../mod.ts";
import { AuthError, getErrorMessage } from "../../../src/core/errors/errors.ts";
import type { Host } from "../../host/host.ts";
import { getKey, hasVariable, type ProviderSelection } from "./provider_options.ts";

/** Finds the key of each provider, and keeps it until it is asked to forget it. */
export class ProviderKeys {
  readonly #selection: ProviderSelection;
  readonly #host: Pick<Host, "env">;
  readonly #keys = new Map<string, Promise<string | undefined>>();
  readonly #rejected = new Set<string>();
  #isRunning = false;

  /** @param known The options of the providers whose keys were found already. */
  constructor(
    known: Readonly<Record<string, ProviderOptions>>,
    { selection, host }: {
      readonly selection: ProviderSelection;
      readonly host: Pick<Host, "env">;
    },
  ) {
    this.#selection = selection;
    this.#host = host;
    for (const [provider, { apiKey }] of Object.entries(known)) {
      if (typeof apiKey === "string") this.#keys.set(provider, Promise.resolve(apiKey));
    }
  }

  /** Returns the key of a provider; `undefined` if it is in an environment variable, which the adapter reads, or nowhere. */
  get(provider: string): Promise<string | undefined> {
    const { replay, needsKey = replay === undefined, providers = {}, signal } = this.#selection;
    const { keyCommand } = providers[provider] ?? {};
    const key = this.#keys.get(provider) ??
      getKey(provider, { needsKey, keyCommand, signal }, this.#host);
    this.#keys.set(provider, key);
    // The user may save a missing key in another terminal, and a key command that has failed runs again in the next run.
    key.then((found) => found ?? this.#keys.delete(provider), () => this.#reject(provider));
    return key;
  }

  /**
   * Returns the key for a request.
   *
   * @throws {AuthError} If it cannot be found, such as by a key command that fails.
   */
  async getForRequest(provider: string): Promise<string | undefined> {
    try {
      return await this.get(provider);
    } catch (cause) {
      throw new AuthError(getErrorMessage(cause), { provider, cause });
    }
  }

  /** Whether a provider has a key; a key command, which may ask the user, counts as one. */
  async has(provider: string): Promise<boolean> {
    const { keyCommand } = this.#selection.providers?.[provider] ?? {};
    return keyCommand !== undefined || hasVariable(keyVariables(provider), this.#host) ||
      await this.get(provider) !== undefined;
  }

  /**
   * Forgets the keys that providers reject, when the run ends: they may have expired, and a key command prints others. Before,
   * each turn in which a fallback model continues would run the command again, which may ask the user.
   */
  attach(agent: Pick<Agent, "subscribe">): void {
    agent.subscribe((event) => {
      if (event.type === "agent_start") this.#isRunning = true;
      if (event.type === "model_call_end") this.#notice(event.error, event.model);
      if (event.type !== "agent_end") return;
      this.#isRunning = false;
      this.#forgetRejected();
    });
  }

  /**
   * Wraps a stream function whose calls are no events of the agent, such as those for summaries: it forgets keys, too. It has
   * no facts about models.
   */
  watch(streamFn: StreamFn): StreamFn {
    return (request) => this.#watch(streamFn(request), request.model);
  }

  async *#watch(
    events: AsyncIterable<AssistantMessageEvent>,
    model: ModelSpec,
  ): AsyncGenerator<AssistantMessageEvent> {
    for await (const event of events) {
      if (event.type === "error") this.#notice(event.error, model);
      yield event;
    }
  }

  #notice(error: Pick<AgentError, "code"> | undefined, { provider }: ModelSpec): void {
    if (error?.code === "auth_error") this.#reject(provider);
  }

  #reject(provider: string): void {
    this.#rejected.add(provider);
    if (!this.#isRunning) this.#forgetRejected();
  }

  #forgetRejected(): void {
    for (const provider of this.#rejected) this.forget(provider);
    this.#rejected.clear();
  }

  /** Forgets the key of a provider, because another one was saved. */
  forget(provider: string): void {
    this.#keys.delete(provider);
  }
}
