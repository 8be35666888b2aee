/**
 * A `fetch` that handles the failures of an authorization server, of which the client package writes to the console.
 *
 * @module
 */

import { getErrorMessage } from "../../core/errors/errors.ts";
import { isJsonObject, type JsonObject } from "../../core/json/json.ts";
import type { Clock } from "../../core/ports/ports.ts";
import type { ReportProblem } from "../protocol/repair_message.ts";
import { SharedRefreshes } from "./shared_refreshes.ts";
import { withTimeLimit } from "./time_limit.ts";

/** The credentials of a provider that an authorization server may reject. */
export type OAuthCredentials = "client" | "tokens";

/** Options for {@linkcode createTokenFetch}. */
export interface TokenFetchOptions {
  readonly fetch: typeof fetch;
  /** Discards credentials that the authorization server has rejected. */
  readonly invalidate: (credentials: OAuthCredentials) => Promise<void>;
  /** Called with the credentials that are discarded. */
  readonly report: ReportProblem;
  readonly clock: Clock;
}

/** The credentials that an error of an authorization server rejects, as the client package has them. */
const REJECTED: ReadonlyMap<string, readonly OAuthCredentials[]> = new Map([
  ["invalid_client", ["client", "tokens"]],
  ["unauthorized_client", ["client", "tokens"]],
  ["invalid_grant", ["tokens"]],
  ["invalid_dpop_proof", ["tokens"]],
]);

/** The error code in place of one that rejects credentials. */
const CREDENTIALS_REJECTED = "credentials_rejected";

/** Time limit of a request for a token in milliseconds. The client sets none, and other calls wait for the same answer. */
const TOKEN_TIMEOUT_MS = 30_000;

/** Maximum number of characters of a reason. */
const MAX_REASON = 500;

/** Whether an error of the client means that stored credentials were rejected, and are discarded. */
export function hasRejectedCredentials(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === CREDENTIALS_REJECTED;
}

/**
 * Creates a `fetch` whose responses to requests for tokens have none of the errors after which the client package writes to
 * the console. It discards rejected credentials itself; a server that is out of order fails the request, and does not
 * make the user authorize the program again.
 */
export function createTokenFetch(options: TokenFetchOptions): typeof fetch {
  const refreshes = new SharedRefreshes(options.clock);
  return async (input, init) => {
    const form = init?.body instanceof URLSearchParams ? init.body : undefined;
    const grant = form?.get("grant_type");
    if (!form || !grant) return await options.fetch(input, init);
    const request = () =>
      requestToken(options, grant, (signal) => options.fetch(input, { ...init, signal }));
    if (grant !== "refresh_token") return await request();
    const key = `${input instanceof Request ? input.url : input} ${form}`;
    return await refreshes.share({ key, token: form.get("refresh_token") }, request);
  };
}

/** Requests a token, and discards credentials that the authorization server rejects. */
async function requestToken(
  { invalidate, report, clock }: Pick<TokenFetchOptions, "invalidate" | "report" | "clock">,
  grant: string,
  send: SendRequest,
): Promise<Response> {
  const answer = await readAnswer(send, clock);
  if (answer.type === "failed") {
    if (grant !== "refresh_token") throw answer.thrown;
    return createError("temporarily_unavailable", getErrorMessage(answer.thrown));
  }
  const { response, text } = answer;
  const body = parseObject(text);
  const code = typeof body["error"] === "string" ? body["error"] : undefined;
  const rejected = code === undefined ? undefined : REJECTED.get(code);
  if (rejected) {
    const reason = `${code}: ${String(body["error_description"] ?? "no description")}`;
    report(`rejected the stored credentials, which are discarded: ${reason.slice(0, MAX_REASON)}`);
    for (const credentials of rejected) await invalidate(credentials);
    return createError(CREDENTIALS_REJECTED, reason);
  }
  const isComplete = response.ok && typeof body["access_token"] === "string";
  const isKnownError = code !== undefined && code !== "server_error";
  if (isComplete || isKnownError || grant !== "refresh_token") return copyResponse(response, text);
  const reason = `The authorization server answered with the status ${response.status}`;
  return createError("temporarily_unavailable", `${reason}, and no token`);
}

type Answer =
  | { readonly type: "answered"; readonly response: Response; readonly text: string }
  | { readonly type: "failed"; readonly thrown: unknown };

type SendRequest = (signal: AbortSignal) => Promise<Response>;

async function readAnswer(send: SendRequest, clock: Clock): Promise<Answer> {
  const read = async (signal: AbortSignal): Promise<Answer> => {
    const response = await send(signal);
    return { type: "answered", response, text: await response.text() };
  };
  try {
    return await withTimeLimit(read, {
      clock,
      milliseconds: TOKEN_TIMEOUT_MS,
      message: `The authorization server did not answer within ${TOKEN_TIMEOUT_MS / 1000} seconds`,
    });
  } catch (thrown) {
    return { type: "failed", thrown };
  }
}

function parseObject(text: string): JsonObject {
  try {
    const value: unknown = JSON.parse(text);
    return isJsonObject(value) ? value : {};
  } catch {
    return {};
  }
}

function copyResponse({ status, statusText, headers, url }: Response, text: string): Response {
  const isEmpty = status === 204 || status === 205 || status === 304;
  const copy = new Response(isEmpty ? null : text, { status, statusText, headers });
  return Object.defineProperty(copy, "url", { value: url });
}

function createError(error: string, description: string): Response {
  const body = { error, error_description: description.slice(0, MAX_REASON) };
  return Response.json(body, { status: 400 });
}
