/**
 * Warnings of an adapter: whatever a provider cannot take is told.
 *
 * @module
 */

/** Tells the user something about the request; the writer of the reply does. */
export interface WarningSink {
  /** Writes a warning into the reply. */
  warning(code: string, message: string, data?: unknown): void;
}
