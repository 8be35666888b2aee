/**
 * Authentication by a list of tokens.
 *
 * @module
 */

import { checkNames } from "../../core/checks/check_names.ts";
import { checkObject } from "../../core/checks/check_object.ts";
import { BadRequestError } from "../../core/errors/errors.ts";
import type { Authenticate, Caller } from "./caller.ts";

/** A token and the caller that has it. */
export interface BearerToken extends Caller {
  /** The token: 16 or more letters, digits and `-._~+/=`. */
  readonly token: string;
}

const MIN_LENGTH = 16;

const TOKEN = /^[A-Za-z0-9._~+/-]+=*$/;

/**
 * Returns a function for the option `authenticate` that accepts the tokens of a list.
 *
 * A token is compared with all others in constant time: the HMAC of each under a random key, so that durations reveal
 * nothing about a token.
 *
 * @throws {BadRequestError} If the list is empty, or a token is invalid, too short or there twice.
 *
 * @example
 * ```ts
 * import { bearerTokens } from "@swink/agent/server";
 *
 * const authenticate = bearerTokens([{ token: "example-token-of-acme", tenant: "acme" }]);
 * await authenticate("example-token-of-acme", new Request("http://localhost/")); // { tenant: "acme" }
 * await authenticate("another", new Request("http://localhost/")); // undefined
 * ```
 */
export function bearerTokens(tokens: readonly BearerToken[]): Authenticate {
  checkTokens(tokens);
  const callers = tokens.map(({ token, ...caller }) => ({ token, caller }));
  // Begins with the first request: work that a module begins when it is loaded ends within an unrelated test.
  let hashing: Promise<HashedTokens> | undefined;
  return async (token) => {
    const { hash, known } = await (hashing ??= hashTokens(callers));
    const digest = await hash(token);
    let found: Caller | undefined;
    // Every token is compared completely, also after a match.
    for (const { digest: other, caller } of known) {
      if (areEqual(digest, other)) found = caller;
    }
    return found;
  };
}

/** The digests of the tokens, and the function that computes that of another one. */
interface HashedTokens {
  readonly hash: (text: string) => Promise<Uint8Array>;
  readonly known: readonly { readonly digest: Uint8Array; readonly caller: Caller }[];
}

async function hashTokens(
  tokens: readonly { readonly token: string; readonly caller: Caller }[],
): Promise<HashedTokens> {
  const hash = await createHasher();
  const known = await Promise.all(
    tokens.map(async ({ token, caller }) => ({ digest: await hash(token), caller })),
  );
  return { hash, known };
}

function checkTokens(tokens: readonly BearerToken[]): void {
  if (!Array.isArray(tokens) || tokens.length === 0) {
    throw new BadRequestError('Pass a list of tokens, as [{ token: "…", tenant: "acme" }]');
  }
  const seen = new Set<string>();
  for (const [index, entry] of tokens.entries()) {
    checkObject(entry, `Token ${index + 1} must be an object, such as { token: "…" }`);
    checkNames(entry, ["token", "tenant", "user", "mayReadMetrics"], "a token");
    const { token } = entry;
    if (typeof token !== "string" || token.length < MIN_LENGTH || !TOKEN.test(token)) {
      throw new BadRequestError(
        `Token ${index + 1} must have ${MIN_LENGTH} or more letters, digits and -._~+/= only`,
      );
    }
    if (seen.has(token)) throw new BadRequestError(`Token ${index + 1} is in the list twice`);
    seen.add(token);
  }
}

async function createHasher(): Promise<(text: string) => Promise<Uint8Array>> {
  const algorithm = { name: "HMAC", hash: "SHA-256" };
  const secret = crypto.getRandomValues(new Uint8Array(32));
  const key = await crypto.subtle.importKey("raw", secret, algorithm, false, ["sign"]);
  const encoder = new TextEncoder();
  return async (text) =>
    new Uint8Array(await crypto.subtle.sign("HMAC", key, encoder.encode(text)));
}

function areEqual(left: Uint8Array, right: Uint8Array): boolean {
  let difference = left.length ^ right.length;
  for (let index = 0; index < left.length; index++) {
    difference |= (left[index] ?? 0) ^ (right[index] ?? 0);
  }
  return difference === 0;
}
