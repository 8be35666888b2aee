/**
 * The policy that stopped a run.
 *
 * @module
 */

/** The policy that stopped a run. */
export interface StoppedBy {
  /** Name of the policy. */
  readonly policy: string;
  /** The reason of its `stop` verdict. */
  readonly reason: string;
}
