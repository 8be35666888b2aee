/**
 * The result of a check of the installation.
 *
 * @module
 */

/** The result of a check. */
export interface CheckResult {
  /** Whether everything works, something is missing that some need, or runs will fail. */
  readonly type: "ok" | "warning" | "error";
  /** The subject of the check, such as `sandbox`. */
  readonly subject: string;
  /** The finding, as a phrase. */
  readonly finding: string;
  /** How to correct it. */
  readonly advice?: string;
}
