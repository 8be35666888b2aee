/**
 * Warnings about options that a provider does not support.
 *
 * @module
 */

/** Receives warnings about a request, as `BlockWriter` does. */
export interface WarningSink {
  /** Adds a warning to the reply. */
  warning(code: string, message: string, data?: unknown): void;
}
