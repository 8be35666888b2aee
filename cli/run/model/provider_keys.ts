/**
 * The keys of the providers of a conversation, whose model and keys can change.
 *
 * @module
 */

import { keyVariables } from "../../../adapters/connect.ts";
import type { ProviderOptions } from "../../../adapters/mod.ts";
import type { Agent } from "../../../mod.ts";
import type { Host } from "../../host/host.ts";
import { getKey, hasVariable, type ProviderSelection } from "./provider_options.ts";

/** Finds the key of each provider, and keeps it until it is asked to forget it. */
export class ProviderKeys {
  readonly #selection: ProviderSelection;
  readonly #host: Pick<Host, "env">;
  readonly #keys = new Map<string, Promise<string | undefined>>();

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
    // The user may save a missing key in another terminal, and a key command that has failed runs again.
    key.then((found) => found ?? this.#keys.delete(provider), () => this.#keys.delete(provider));
    return key;
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
    const rejected = new Set<string>();
    agent.subscribe((event) => {
      if (event.type === "model_call_end" && event.error?.code === "auth_error") {
        rejected.add(event.model.provider);
      }
      if (event.type !== "agent_end") return;
      for (const provider of rejected) this.forget(provider);
      rejected.clear();
    });
  }

  /** Forgets the key of a provider, because another one was saved. */
  forget(provider: string): void {
    this.#keys.delete(provider);
  }
}
