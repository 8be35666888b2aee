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
  advice: [
    // The catalog has the models without the region and the version that their ids need.
    [
      /on-demand throughput|model identifier is invalid/i,
      "pass the id of an inference profile, such as bedrock/us.anthropic.claude-sonnet-4-5-20250929-v1:0 or bedrock/global.…; " +
      "`aws bedrock list-inference-profiles` prints them",
    ],
    [
      /too many tokens/i,
      "until a request ends, its maxTokens count against the quota: streamOptions: { maxTokens } sets a lower limit",
    ],
  ],
};

/** Converts an exception of the stream, where names start in lower case, to an error body. */
export function toErrorBody(name: string, message: string): object {
  const code = name.charAt(0).toUpperCase() + name.slice(1);
  return code === "ValidationException" ? { code, message, status: 400 } : { code, message };
}
