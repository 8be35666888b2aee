/**
 * A check of a key with the provider.
 *
 * @module
 */

import { urlVariable } from "../../adapters/connect.ts";
import type { Host } from "../host/host.ts";
import { VERSION } from "../host/version.ts";

/** Whether the provider accepts a key. */
export type KeyCheck =
  | { readonly type: "accepted" }
  /** The provider does not know the key, or it has no access. */
  | { readonly type: "rejected"; readonly status: number }
  /** The provider gave no answer about the key. */
  | { readonly type: "unknown"; readonly reason: string };

/** A provider whose keys can be checked. */
export type CheckedProvider = keyof typeof PROVIDERS;

/** A list of models costs nothing; both providers refuse it without a key. */
const PROVIDERS = {
  anthropic: {
    url: "https://api.anthropic.com",
    path: "/v1/models?limit=1",
    createHeaders: (key: string) => ({ "x-api-key": key, "anthropic-version": "2023-06-01" }),
  },
  openai: {
    url: "https://api.openai.com/v1",
    path: "/models",
    createHeaders: (key: string) => ({ authorization: `Bearer ${key}` }),
  },
} as const;

const TIMEOUT_MS = 10_000;

/** Options for `checkKey()`. */
export interface KeyCheckOptions {
  /** The key. */
  readonly key: string;
  /** URL of the provider in the configuration, if there is one. */
  readonly baseUrl: string | undefined;
  /** Ends the check. */
  readonly signal: AbortSignal;
}

/** Checks a key with one request that costs nothing. Never rejects. */
export async function checkKey(
  provider: CheckedProvider,
  { key, baseUrl, signal }: KeyCheckOptions,
  { fetch, env }: Pick<Host, "fetch" | "env">,
): Promise<KeyCheck> {
  const { url, path, createHeaders } = PROVIDERS[provider];
  const base = env(urlVariable(provider) ?? "") || (baseUrl ?? url);
  const timeout = AbortSignal.timeout(TIMEOUT_MS);
  try {
    const { status, body } = await fetch(base.replace(/\/+$/, "") + path, {
      headers: { ...createHeaders(key), "user-agent": `swink/${VERSION}` },
      signal: AbortSignal.any([signal, timeout]),
      redirect: "error",
    });
    await body?.cancel();
    if (status === 401 || status === 403) return { type: "rejected", status };
    return status < 300 ? { type: "accepted" } : { type: "unknown", reason: `HTTP ${status}` };
  } catch {
    // The error of the runtime may show the headers.
    return { type: "unknown", reason: timeout.aborted ? "no answer in 10 s" : "no connection" };
  }
}
