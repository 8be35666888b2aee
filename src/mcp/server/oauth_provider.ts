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
  let discovery: unknown;
  let pending: PendingRedirect | undefined;
  const resetOnFailure = async (step: () => unknown) => {
    try {
      await step();
    } catch (thrown) {
      pending?.redirected.resolve();
      pending = undefined;
      throw thrown;
    }
  };
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
  const completed: Partial<Record<PropertyKey, unknown>> = {
    tokens: async (context?: IssuerContext) =>
      await bind(
        await provider.tokens(context),
        context,
        (tokens, context) => provider.saveTokens?.(tokens, context),
      ),
    clientInformation: async (context?: IssuerContext) =>
      await bind(
        await provider.clientInformation(context),
        context,
        (client, context) => provider.saveClientInformation?.(client, context),
      ),
    // Of requests that are refused at the same time, one sends the user to the authorization server.
    saveCodeVerifier: async (verifier: string) => {
      if (pending) return;
      pending = { verifier, page: undefined, redirected: createDeferred() };
      await resetOnFailure(() => provider.saveCodeVerifier?.(verifier));
    },
    redirectToAuthorization: async (url: URL) => {
      const current = pending;
      if (!current) return;
      if (!await hasChallenge(url, current.verifier)) return await current.redirected.promise;
      await resetOnFailure(() => {
        assertPage(url);
        return provider.redirectToAuthorization?.(url);
      });
      current.page = url;
      current.redirected.resolve();
      onRedirect();
    },
    ...(!(provider.discoveryState && provider.saveDiscoveryState) && {
      discoveryState: () => discovery,
      saveDiscoveryState: (state: unknown) => {
        discovery = state;
      },
    }),
  };
  return {
    provider: withMembers(provider, completed),
    async invalidate(credentials) {
      await provider.invalidateCredentials?.(credentials);
    },
    isPending: () => pending?.page !== undefined,
    readRedirect: (redirect) => readRedirect(redirect, pending?.page),
    endPending: () => {
      pending = undefined;
    },
  };
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
