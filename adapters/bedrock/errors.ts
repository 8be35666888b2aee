/**
 * Classifies Bedrock's exceptions.
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

/** Error classes by exception name. A `ValidationException` is classified by its message. */
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

/** Converts an exception of the stream, where names start in lower case, to an error body. */
export function toErrorBody(name: string, message: string): object {
  const code = name.charAt(0).toUpperCase() + name.slice(1);
  return code === "ValidationException" ? { code, message, status: 400 } : { code, message };
}
