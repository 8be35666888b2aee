/**
 * Failures of statements: whether to repeat them, and messages without secrets.
 *
 * @module
 */

import { getErrorMessage } from "../../core/errors/errors.ts";
import { decodePercentEncoded } from "../../core/text/percent_encoding.ts";
import { isMissingPermission } from "../../platform/system_error.ts";

/** Why a statement failed. */
export type PostgresFailure =
  /** The server could not be reached or ended the connection; the statement may have been executed. */
  | { readonly type: "disconnected"; readonly message: string }
  /** The time limit has passed; the statement may still be executed. */
  | { readonly type: "timed_out" }
  /** The server refused the statement, with the SQLSTATE code. */
  | { readonly type: "refused"; readonly code: string; readonly message: string }
  /** The runtime or the client refused the statement. */
  | { readonly type: "failed"; readonly message: string };

/** Message of `pg` when `query_timeout` has passed; such errors have no code. */
const TIMEOUT_MESSAGE = "Query read timeout";

const SQLSTATE = /^[0-9A-Z]{5}$/;

/** SQLSTATE codes of a server that starts, stops, fails over or is out of connections, and of deadlocks. */
const TRANSIENT_STATE = /^(08|57P0[123]|53300|40001|40P01)/;

/** Codes of errors about the certificate of the server. */
const CERTIFICATE_CODE = /CERT|^ERR_TLS_/;

/** Advice by the beginning of the SQLSTATE code. */
const ADVICE: readonly (readonly [code: string, advice: string])[] = [
  ["28", "check the user and the password of the connection"],
  ["3D000", "create the database, or correct its name in the connection"],
  ["42501", "grant the role of the connection the rights that docs/sessions.md lists"],
  ["42P07", "the schema has tables of another program: pass the name of another schema"],
  ["42703", "the schema has tables of another program: pass the name of another schema"],
  ["53100", "free space on the disk of the server"],
  ["53300", "lower maxConnections, or use a connection pooler"],
  ["25006", "connect to the primary server, not to a standby"],
  ["57014", "raise the server's statement_timeout, or search with more words"],
];

/** Classifies an error of a client; `redact` removes secrets from its message. */
export function classifyFailure(
  error: unknown,
  redact: (text: string) => string = (text) => text,
): PostgresFailure {
  const code = getCode(error);
  // An error that collects those of several addresses has no message.
  const text = error instanceof Error ? error.message || code : getErrorMessage(error);
  const message = redact(text);
  if (SQLSTATE.test(code) && isServerError(error)) {
    return TRANSIENT_STATE.test(code)
      ? { type: "disconnected", message }
      : { type: "refused", code, message };
  }
  if (text === TIMEOUT_MESSAGE) return { type: "timed_out" };
  if (CERTIFICATE_CODE.test(code)) {
    return {
      type: "failed",
      message: `${message}: pass the authority of the server as ssl: { ca }`,
    };
  }
  if (isMissingPermission(error) || error instanceof TypeError) return { type: "failed", message };
  return { type: "disconnected", message };
}

/** Describes a failure, with advice. */
export function describeFailure(
  failure: PostgresFailure,
  { timeoutMs, retryMs }: { readonly timeoutMs: number; readonly retryMs: number },
): string {
  switch (failure.type) {
    case "disconnected":
      return `the Postgres server could not be reached for ${retryMs} ms: ${failure.message}: check that it runs ` +
        "and that the connection is right";
    case "timed_out":
      return `the Postgres server did not answer within ${timeoutMs} ms: check its load, or raise timeoutMs`;
    case "refused": {
      const advice = ADVICE.find(([code]) => failure.code.startsWith(code))?.[1];
      return `${failure.message} (${failure.code})${advice === undefined ? "" : `: ${advice}`}`;
    }
    case "failed":
      return failure.message;
  }
}

/** Creates a function that removes a connection URL and its password from texts. */
export function createRedactor(connection: string): (text: string) => string {
  const [, userPassword] = /^[^/]+:\/\/[^:@/?#]*:([^/?#]*)@/.exec(connection) ?? [];
  const [, password] = /[?&]password=([^&#]*)/.exec(connection) ?? [];
  const secrets = [connection, userPassword, password]
    .flatMap((secret) => secret ? [secret, encodeURI(secret), decodePercentEncoded(secret)] : [])
    .filter((secret) => secret !== "")
    .toSorted((left, right) => right.length - left.length);
  return (text) => secrets.reduce((result, secret) => result.replaceAll(secret, "***"), text);
}

/** The errors of a server have a severity; a code of five letters may also be one of the system. */
function isServerError(error: unknown): boolean {
  return error instanceof Error && "severity" in error;
}

function getCode(error: unknown): string {
  return error instanceof Error && "code" in error ? String(error.code) : "";
}
