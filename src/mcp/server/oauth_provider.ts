/**
 * The provider of the program for OAuth, completed so that the client package has nothing to write to the console.
 *
 * @module
 */

import { AuthError } from "../../core/errors/errors.ts";
import { isJsonObject, type JsonObject } from "../../core/json/json.ts";
import { createDeferred, type Deferred } from "../../core/ports/deferred.ts";
import type { ReportProblem } from "../protocol/repair_message.ts";
import type { OAuthCredentials } from "../transport/token_fetch.ts";

/** The authorization server that credentials are for. */
interface IssuerContext {
  readonly issuer?: string;
}

/** The methods of an `OAuthClientProvider` that are completed. */
interface OAuthProvider {
  tokens(context?: IssuerContext): unknown;
  saveTokens?(tokens: JsonObject, context?: IssuerContext): unknown;
  clientInformation(context?: IssuerContext): unknown;
  saveClientInformation?(client: JsonObject, context?: IssuerContext): unknown;
  discoveryState?(): unknown;
  saveDiscoveryState?(state: unknown): unknown;
  saveCodeVerifier?(verifier: string): unknown;
  redirectToAuthorization?(url: URL): unknown;
  invalidateCredentials?(credentials: string): unknown;
}

/** A provider that the client package can use. */
export interface CompleteProvider {
  /** The provider for the client package. */
  readonly provider: object;
  /** Discards credentials that the authorization server has rejected. */
  readonly invalidate: (credentials: OAuthCredentials) => Promise<void>;
  /** Whether the user was sent to the authorization server, and has not come back. */
  readonly isPending: () => boolean;
  /**
   * Returns the parameters of the URL with which the user has come back.
   *
   * @throws {AuthError} If they belong to another authorization, such as one that a page in the browser has begun.
   */
  readonly readRedirect: (redirect: URL | string) => URLSearchParams;
  /** Called when the user has come back, or does not: the next refusal sends the user there again. */
  readonly endPending: () => void;
}

/** Events of a provider. */
export interface ProviderEvents {
  readonly report: ReportProblem;
  /** Called when the user was sent to the authorization server. */
  readonly onRedirect: () => void;
}

/**
 * Completes a provider for one connection: credentials that it keeps without their authorization server are bound to the
 * one that is used, and saved so; what it does not keep about the authorization server is kept here.
 */
export function completeProvider(
  provider: object,
  { report, onRedirect }: ProviderEvents,
): CompleteProvider {
  if (!isOAuthProvider(provider)) return createUserlessProvider(provider);
  const redirect = new UserRedirect(provider, onRedirect);
  const completed: Partial<Record<PropertyKey, unknown>> = {
    ...createBoundMembers(provider, report),
    saveCodeVerifier: (verifier: string) => redirect.begin(verifier),
    redirectToAuthorization: (url: URL) => redirect.send(url),
    ...(!(provider.discoveryState && provider.saveDiscoveryState) && createDiscoveryMembers()),
  };
  return {
    provider: withMembers(provider, completed),
    async invalidate(credentials) {
      await provider.invalidateCredentials?.(credentials);
    },
    isPending: () => redirect.isPending,
    readRedirect: (url) => redirect.read(url),
    endPending: () => redirect.end(),
  };
}

/** Creates the members that return credentials, bound to their authorization server. */
function createBoundMembers(provider: OAuthProvider, report: ReportProblem) {
  const bind = async (stored: unknown, context: IssuerContext | undefined, save: Save) => {
    const issuer = context?.issuer;
    if (!isJsonObject(stored) || typeof stored["issuer"] === "string" || issuer === undefined) {
      return stored;
    }
    report("has OAuth credentials that were stored without their authorization server");
    const bound = { ...stored, issuer };
    await save(bound, context);
    return bound;
  };
  const saveTokens: Save = (tokens, context) => provider.saveTokens?.(tokens, context);
  const saveClient: Save = (client, context) => provider.saveClientInformation?.(client, context);
  return {
    tokens: async (context?: IssuerContext) =>
      await bind(await provider.tokens(context), context, saveTokens),
    clientInformation: async (context?: IssuerContext) =>
      await bind(await provider.clientInformation(context), context, saveClient),
  };
}

/** Creates the members that keep what is known about the authorization server. */
function createDiscoveryMembers() {
  let discovery: unknown;
  return {
    discoveryState: () => discovery,
    saveDiscoveryState: (state: unknown) => {
      discovery = state;
    },
  };
}

/** Sends the user to the authorization server: once for all requests that are refused at the same time. */
class UserRedirect {
  readonly #provider: OAuthProvider;
  readonly #onRedirect: () => void;
  #pending: PendingRedirect | undefined;

  constructor(provider: OAuthProvider, onRedirect: () => void) {
    this.#provider = provider;
    this.#onRedirect = onRedirect;
  }

  /** Whether the user was sent there, and has not come back. */
  get isPending(): boolean {
    return this.#pending?.page !== undefined;
  }

  /** Begins a redirect, unless one has begun; the provider saves its secret. */
  async begin(verifier: string): Promise<void> {
    if (this.#pending) return;
    this.#pending = { verifier, page: undefined, redirected: createDeferred() };
    await this.#endOnFailure(() => this.#provider.saveCodeVerifier?.(verifier));
  }

  /** Sends the user to a page; for that of another request, waits for the one that has begun. */
  async send(page: URL): Promise<void> {
    const current = this.#pending;
    if (!current) return;
    if (!await hasChallenge(page, current.verifier)) return await current.redirected.promise;
    await this.#endOnFailure(() => {
      assertPage(page);
      return this.#provider.redirectToAuthorization?.(page);
    });
    current.page = page;
    current.redirected.resolve();
    this.#onRedirect();
  }

  /** Returns the parameters of the URL with which the user has come back. */
  read(redirect: URL | string): URLSearchParams {
    return readRedirect(redirect, this.#pending?.page);
  }

  /** Ends the redirect: the next refusal begins another one. */
  end(): void {
    this.#pending = undefined;
  }

  async #endOnFailure(step: () => unknown): Promise<void> {
    try {
      await step();
    } catch (thrown) {
      this.#pending?.redirected.resolve();
      this.end();
      throw thrown;
    }
  }
}

/** Completes a provider that only has a token. */
function createUserlessProvider(provider: object): CompleteProvider {
  return {
    provider,
    invalidate: () => Promise.resolve(),
    isPending: () => false,
    readRedirect: (redirect) => new URL(redirect).searchParams,
    endPending: () => {},
  };
}

/** The page of the authorization server that the user is sent to. */
interface PendingRedirect {
  /** The secret to which its code is bound. */
  readonly verifier: string;
  /** The page, once the user was sent there. */
  page: URL | undefined;
  /** Resolves when the user was sent there, or that has failed. */
  readonly redirected: Deferred<void>;
}

/**
 * A server names the page, and providers open it with a program of the system, for which other addresses may be files or
 * programs.
 */
function assertPage({ protocol }: URL): void {
  if (protocol === "https:" || protocol === "http:") return;
  throw new AuthError(`The page of the authorization server must not begin with ${protocol}`);
}

/** Compares the state, to which a provider binds the authorization (RFC 6749, section 10.12). */
function readRedirect(redirect: URL | string, page: URL | undefined): URLSearchParams {
  const { searchParams } = new URL(redirect);
  const state = page?.searchParams.get("state") ?? undefined;
  const isBound = state !== undefined && searchParams.has("code");
  if (!isBound || searchParams.get("state") === state) return searchParams;
  throw new AuthError("The answer of the authorization server has another state than its request");
}

/** Whether the code of an authorization is bound to a secret (RFC 7636). */
async function hasChallenge(url: URL, verifier: string): Promise<boolean> {
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(verifier));
  const base64 = btoa(String.fromCharCode(...new Uint8Array(digest)));
  const challenge = base64.replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
  return url.searchParams.get("code_challenge") === challenge;
}

type Save = (credentials: JsonObject, context: IssuerContext | undefined) => unknown;

/** Whether a provider is an `OAuthClientProvider`, as the client package recognizes it; others only have a token. */
function isOAuthProvider(provider: object): provider is OAuthProvider {
  const { tokens, clientInformation } = provider as Partial<OAuthProvider>;
  return typeof tokens === "function" && typeof clientInformation === "function";
}

/** Returns an object with other members; all others are those of the object, which may have private ones. */
function withMembers(object: object, members: Readonly<Partial<Record<PropertyKey, unknown>>>) {
  return new Proxy(object, {
    get(target, name) {
      if (Object.hasOwn(members, name)) return members[name];
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === "function" ? value.bind(target) : value;
    },
    has: (target, name) => Object.hasOwn(members, name) || Reflect.has(target, name),
    set: (target, name, value) => Reflect.set(target, name, value, target),
  });
}
