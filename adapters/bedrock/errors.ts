/**
 * What Bedrock's exceptions mean.
 *
 * @module
 */

import {
  AUTH,
  type ErrorTable,
  QUOTA,
  THROTTLED,
  UNAVAILABLE,
  UNKNOWN_MODEL,
} from "../kit/errors/error_table.ts";

/** By name; a `ValidationException` says in words what it is. */
export const BEDROCK_ERRORS: ErrorTable = {
  codes: {
    ThrottlingException: THROTTLED,
    TooManyRequestsException: THROTTLED,
    ModelNotReadyException: THROTTLED,
    ServiceQuotaExceededException: QUOTA,

    InternalServerException: UNAVAILABLE,
    InternalFailure: UNAVAILABLE,
    ServiceUnavailableException: UNAVAILABLE,
    ModelErrorException: UNAVAILABLE,
    ModelStreamErrorException: UNAVAILABLE,
    ModelTimeoutException: UNAVAILABLE,

    AccessDeniedException: AUTH,
    ExpiredTokenException: AUTH,
    IncompleteSignatureException: AUTH,
    InvalidSignatureException: AUTH,
    MissingAuthenticationTokenException: AUTH,
    UnrecognizedClientException: AUTH,

    ResourceNotFoundException: UNKNOWN_MODEL,
  },
};

/** Bad requests have a status, and everything else a name that decides. */
const BAD_REQUEST_STATUS = 400;

/** An exception of the stream, in the form in which errors are read; in a stream its name begins in lower case. */
export function toErrorBody(name: string, message: string): object {
  const code = name.charAt(0).toUpperCase() + name.slice(1);
  return code === "ValidationException"
    ? { code, message, status: BAD_REQUEST_STATUS }
    : { code, message };
}
